"""The training step of the paper's cells for every mixer, against the ordinary way to write it and against a bound.

One thread, fp32, processor time; each side runs in a process of its own, because the heap setting is per process, and
they take turns. Saved as JSON with the processor's description.

    python -m benchmarks.step --only mamba,attention --cells 64 --widths 64 --no-sweep
"""

import json
import platform
import statistics
from pathlib import Path
from typing import Any

import torch

from benchmarks.cells import Cell, chosen, parser
from benchmarks.sweep import runs_per_hour
from benchmarks.turns import Side, close
from recollect.training.execute import commit


def measure(cell: Cell, rounds: int) -> dict[str, Any]:
    """Milliseconds, ratios and memory of one cell."""
    sides = [Side(kind, cell.mixer, cell.fields()) for kind in ("ours", "plain")]
    try:
        for side in sides:
            side.wait()
        turns = [[sides[0].time(), sides[0].ask("bound"), *plain_at(i, sides[1])] for i in range(rounds)]
    finally:
        close(sides)
    ours, least = ([turn[side]["seconds"] for turn in turns] for side in range(2))
    pairs = [(turn[0]["seconds"], turn[2]["seconds"]) for turn in turns if len(turn) > 2]
    return {
        "cell": vars(cell),
        "milliseconds": 1e3 * statistics.median(ours),
        "plain": statistics.median(a / b for a, b in pairs),
        "bound": statistics.median(b / a for a, b in zip(ours, least, strict=True)),
        "gigabytes": turns[-1][0]["bytes"] / 1e9,
    }


def plain_at(turn: int, side: Side) -> list[dict[str, Any]]:
    """The baseline's turn, in the first two rounds only: it takes seconds a step, and a ratio of tens needs no more."""
    return [side.time()] if turn < 2 else []


def processor() -> dict[str, Any]:
    """What ran it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    name = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.processor())
    capability = torch.backends.cpu.get_cpu_capability()
    return {"processor": name, "vectors": capability, "torch": torch.__version__, "commit": commit()}


def main() -> None:
    """Print a line a cell, then the sweep; keep all of it."""
    words = parser("the training step of the paper's cells")
    words.add_argument("--out", type=Path, default=Path("bench.json"), help="where all of it is kept")
    words.add_argument("--no-sweep", action="store_true", help="leave out the runs an hour")
    options = words.parse_args()
    found: dict[str, Any] = {**processor(), "cells": []}
    print(f"{found['processor']}, {found['vectors']}, one thread, fp32; time over that of benchmarks/plain.py, an")
    print("attention model of the same shape; share of the time that matrix products and Mamba's scan would take alone")
    for cell in chosen(options):
        one = measure(cell, options.rounds)
        found["cells"].append(one)
        ratios = f"{one['plain']:6.2f} of plain {one['bound']:6.0%} of the bound"
        print(f"{cell} {one['milliseconds']:8.1f} ms {ratios} {one['gigabytes']:6.2f} GB", flush=True)
    if not options.no_sweep:
        found["runs_per_hour"] = runs_per_hour()
        for count, runs in found["runs_per_hour"].items():
            print(f"a small sweep: {runs:,.0f} runs an hour with {count} worker{'s' * (count > 1)}")
    options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
