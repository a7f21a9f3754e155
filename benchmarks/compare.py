"""Another commit's training step beside this one's, in one run: `make bench-compare REF=<commit>`.

Each side is a process of its own with the files of its own commit, one thread, fp32, and they take turns; a ratio is
the median over the rounds of this one's time over the other's.

    python -m benchmarks.compare REF --only mamba,attention --cells 64 --widths 64
"""

import io
import statistics
import subprocess
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.cells import Cell, chosen, parser
from benchmarks.turns import HERE, Side, close, take_turns


def unpack(ref: str, folder: Path) -> None:
    """The files of a commit."""
    words = ["git", "-C", str(HERE), "archive", ref, "recollect", "benchmarks"]
    packed = subprocess.run(words, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")


def compare(cell: Cell, other: Path, rounds: int) -> str:
    """One line of the table."""
    sides = [Side("ours", cell.mixer, cell.fields(), tree) for tree in (HERE, other)]
    try:
        turns = take_turns(sides, rounds)
    except RuntimeError as error:
        return f"{cell}   {error}"
    finally:
        close(sides)
    ours, theirs = (statistics.median(turn[side] for turn in turns) * 1e3 for side in (0, 1))
    ratios = sorted(turn[0] / turn[1] for turn in turns)
    return (
        f"{cell}   {ours:8.1f} {theirs:8.1f} ms   {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
    )


def main() -> None:
    """All cells, or those that are named."""
    words = parser("another commit's training step beside this one's")
    words.add_argument("ref", help="the commit to compare with")
    options = words.parse_args()
    rounds = options.rounds
    print(
        f"milliseconds of the processor a step, here and at {options.ref}; their ratio: median of {rounds} (its range)"
    )
    with TemporaryDirectory() as folder:
        unpack(options.ref, Path(folder))
        for cell in chosen(options):
            print(compare(cell, Path(folder), rounds), flush=True)


if __name__ == "__main__":
    main()
