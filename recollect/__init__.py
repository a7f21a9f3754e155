"""recollect: how well, and how reliably, does a sequence model learn to recall?

`from recollect import RunSpec, run, load` is lazy: importing the package loads neither torch nor anything slow.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect.api import compare_mixers, find_window, load, probe, run, run_many
    from recollect.spec import RunSpec, make_spec
    from recollect.store.table import curves, results

_WHERE = {"RunSpec": "spec", "make_spec": "spec", "run": "api", "run_many": "api", "load": "api", "find_window": "api"}
_WHERE |= {"probe": "api", "compare_mixers": "api", "results": "store.table", "curves": "store.table"}

__all__ = [
    "RunSpec",
    "compare_mixers",
    "curves",
    "find_window",
    "load",
    "make_spec",
    "probe",
    "results",
    "run",
    "run_many",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'recollect' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f"recollect.{_WHERE[name]}"), name)
