"""Sides in processes of their own that take turns, so that a noisy machine disturbs all alike."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parents[1]
TURN = 0.5
"""Seconds of a side's turn, at least one step."""


class Side:
    """A process that builds one step from a checkout and times it on demand."""

    def __init__(self, kind: str, mixer: str, fields: Mapping[str, object], tree: Path = HERE) -> None:
        words = [sys.executable, str(HERE / "benchmarks" / "side.py"), kind, mixer, json.dumps(fields)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.child = subprocess.Popen(words, env=os.environ | {"PYTHONPATH": str(tree)}, cwd=tree, text=True, **pipes)  # type: ignore[call-overload]
        self.steps = 1

    def wait(self) -> None:
        """Until it is built; raises with its last words where it cannot be."""
        self._answer()
        self.steps = max(1, round(TURN / self.time()["seconds"]))

    def time(self) -> dict[str, Any]:
        """Seconds a step, and the most memory so far."""
        return self.ask(str(self.steps))

    def ask(self, line: str) -> dict[str, Any]:
        """Its answer to a line."""
        self.child.stdin.write(f"{line}\n")
        self.child.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        line = self.child.stdout.readline()
        if not line:
            words = self.child.stderr.read().strip().splitlines()
            raise RuntimeError(words[-1] if words else "a side ended without a word")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End it."""
        self.child.kill()
        self.child.communicate()


def take_turns(sides: Sequence[Side], rounds: int) -> list[list[float]]:
    """Rounds of seconds a step, one number a side."""
    for side in sides:
        side.wait()
    return [[side.time()["seconds"] for side in sides] for _ in range(rounds)]


def close(sides: Sequence[Side]) -> None:
    """End all of them."""
    for side in sides:
        side.close()
