"""Compilation never happens inside a measured step, and Numba leaves torch's threads alone."""

import subprocess
import sys
from pathlib import Path

import pytest

import recollect.ops
from recollect.spec import MIXERS
from recollect.spec.compose import make_spec

COMPILES = """
import importlib, pkgutil, sys
import torch
from numba.core.dispatcher import Dispatcher
import recollect.ops
from recollect.spec.compose import make_spec
from recollect.training.execute import initial_model, prepare, warm_up
from recollect.tasks import make_task
from recollect.training.trainer import Trainer

threads = int(sys.argv[1])
modules = [importlib.import_module(m.name) for m in pkgutil.iter_modules(recollect.ops.__path__, "recollect.ops.")]
kernels = {id(f): f for m in modules for f in vars(m).values() if isinstance(f, Dispatcher)}

def compiled():
    stats = [f.stats for f in kernels.values()]
    return [sum(s.cache_hits.values()) + sum(s.cache_misses.values()) for s in stats]

for mixer in sys.argv[2:]:
    fields = {"compute.threads": threads, "model.d_model": 16, "train.batch_size": 4, "task.validation_rows": 4}
    spec = make_spec("mqar", mixer, fields)
    prepare(spec)
    trainer = Trainer(spec, make_task(spec.task), initial_model(spec))
    warm_up(trainer)
    before = compiled()
    trainer.step()
    trainer.point()
    assert compiled() == before, mixer
    assert torch.get_num_threads() == threads, mixer
"""


def shared() -> list[str]:
    """Mixers whose runs have among them every op with kernels that share out their rows; to these come the same arrays
    as to those for one thread."""
    used = {mixer: set(make_spec("mqar", mixer).ops) for mixer in MIXERS}
    files = {op: Path(recollect.ops.__path__[0]) / f"{op}.py" for op in set().union(*used.values())}
    left = {op for op, file in files.items() if "in_parallel(" in file.read_text()}
    chosen = []
    while left:
        chosen.append(max(MIXERS, key=lambda mixer: len(left & used[mixer])))
        left -= used[chosen[-1]]
    return chosen


@pytest.mark.parametrize(("threads", "mixers"), [("1", [*MIXERS]), ("2", shared())], ids=["one", "two"])
def test_after_the_warm_up_no_step_compiles_anything(threads: str, mixers: list[str]) -> None:
    subprocess.run([sys.executable, "-c", COMPILES, threads, *mixers], check=True)
