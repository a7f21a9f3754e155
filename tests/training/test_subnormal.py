"""While a run trains, every thread makes zero of subnormal numbers; afterwards all is as before."""

import subprocess
import sys

import torch

from recollect.spec.events import Started
from recollect.training.execute import execute
from recollect.training.subnormal import flushed, flushes
from tests.support.small import tiny

THREADS = """
import torch
from recollect.ops.sigmoid_gate import sigmoid_gate_numba
from recollect.training.subnormal import BITS, SHARE, flushed, flushes

def left(threads):
    torch.set_num_threads(threads)
    x = torch.full((8, SHARE), BITS, dtype=torch.int32).view(torch.float32)
    return [int(y.view(torch.int32).count_nonzero()) for y in (x * 0.5, sigmoid_gate_numba(torch.zeros_like(x), x))]

assert left(2) == [8 * SHARE] * 2  # starts the threads, of torch and of Numba, before the switch
with flushed(1):
    assert flushes() and not flushes(2)
with flushed(2):
    assert flushes(2) and left(2) == left(1) == [0, 0]
assert left(2) == left(1) == [8 * SHARE] * 2
"""


def test_threads_that_were_there_before_flush_too_and_are_put_back() -> None:
    subprocess.run([sys.executable, "-c", THREADS], check=True)


def test_a_run_flushes_and_says_so_and_leaves_no_trace() -> None:
    run = execute(tiny())
    started = next(run)
    assert isinstance(started, Started)
    assert started.provenance["subnormals"] == "flushed"
    assert all(flushes() for _ in run)
    assert not flushes()


def test_a_run_that_is_left_early_leaves_no_trace() -> None:
    run = execute(tiny())
    next(run)
    run.close()
    assert not flushes()


def test_who_flushes_anyway_goes_on_doing_so() -> None:
    torch.set_flush_denormal(True)
    with flushed(1):
        pass
    found = flushes()
    torch.set_flush_denormal(False)
    assert found
