"""flash-linear-attention's plain files, each on its own: importing fla.ops would need triton."""

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType


@cache
def load_naive(rule: str) -> ModuleType:
    """fla/ops/<rule>/naive.py."""
    package = importlib.util.find_spec("fla")
    assert package is not None
    assert package.submodule_search_locations is not None
    file = Path(package.submodule_search_locations[0]) / "ops" / rule / "naive.py"
    spec = importlib.util.spec_from_file_location(f"oracle_{rule.replace('/', '_')}_naive", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
