"""The training step of the paper's smallest cell against the ordinary way to write it.

Each side runs in a process of its own, one thread, because the heap setting is per process; they take turns.
"""

import json
import subprocess
import sys
from collections.abc import Callable

import torch

from benchmarks.plain import PlainModel, plain_step
from benchmarks.timing import take_turns
from recollect.spec.compose import make_spec
from recollect.tasks import Supply, make_task
from recollect.training.execute import initial_model, prepare
from recollect.training.feed import place
from recollect.training.trainer import Trainer

CELL = {"task.rows": "fresh", "train.steps": 1000, "train.eval_every": 1000}
STEPS = 3


def ours() -> Callable[[], object]:
    """A step of our trainer."""
    spec = make_spec("mqar", "attention", CELL, protocol="paper")
    prepare(spec)
    return Trainer(spec, make_task(spec.task), initial_model(spec)).step


def plain() -> Callable[[], object]:
    """A step of the baseline, on the same rows."""
    spec = make_spec("mqar", "attention", CELL, protocol="paper")
    torch.set_num_threads(1)
    task, size = make_task(spec.task), spec.model
    model = PlainModel(task.vocab_size, task.length, size.d_model, size.n_layers)
    optimiser = torch.optim.AdamW(model.parameters(), lr=spec.train.lr, weight_decay=spec.train.weight_decay)
    supply, number = Supply(task, spec.seed, spec.train.batch_size), iter(range(10**9))

    def step() -> float:
        tokens, at, target, *_ = place(supply.batch(next(number)), torch.device("cpu"))
        labels = torch.full_like(tokens, -100).scatter_(1, at, target)
        return plain_step(model, optimiser, tokens, labels)

    return step


def serve(make: Callable[[], Callable[[], object]]) -> None:
    """Time a few steps each time a line comes in."""
    step = make()
    for _ in sys.stdin:
        print(json.dumps(take_turns({"step": step}, rounds=STEPS, warm_up=1)["step"]), flush=True)


def main() -> None:
    """Print milliseconds and the ratio."""
    command = [sys.executable, "-m", "benchmarks.step"]
    sides = {
        name: subprocess.Popen([*command, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for name in ("ours", "plain")
    }

    def ask(side: subprocess.Popen[str]) -> float:
        assert side.stdin is not None
        assert side.stdout is not None
        side.stdin.write("\n")
        side.stdin.flush()
        return float(side.stdout.readline())

    rounds = [{name: ask(side) for name, side in sides.items()} for _ in range(6)][1:]
    best = {name: sorted(turn[name] for turn in rounds)[len(rounds) // 2] for name in sides}
    for side in sides.values():
        side.communicate()
    print("V=8192 L=64 K=4 B=512 d=64, 2 x (attention + MLP), one thread, fp32")
    print(f"plain {best['plain'] * 1e3:.0f} ms, ours {best['ours'] * 1e3:.0f} ms: {best['plain'] / best['ours']:.1f}x")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        serve({"ours": ours, "plain": plain}[sys.argv[1]])
    else:
        main()
