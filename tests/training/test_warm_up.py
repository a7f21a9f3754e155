"""Compilation never happens inside a measured step, and Numba leaves torch's threads alone."""

import subprocess
import sys

import pytest

from recollect.spec import MIXERS

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


@pytest.mark.parametrize("threads", ["1", "2"])
def test_after_the_warm_up_no_step_compiles_anything(threads: str) -> None:
    subprocess.run([sys.executable, "-c", COMPILES, threads, *MIXERS], check=True)
