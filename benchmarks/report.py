"""What the report of 3,000 runs of 50 points takes: processor time, memory, and the page in a browser."""

import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from browser import chromium, find_chromium
from invented import LRS, behaviour, fill, record_of, result_of
from small import tiny

from recollect.spec import RunSpec
from recollect.store import Record

MIXERS, WIDTHS, LENGTHS = ("attention", "mamba", "hyena", "mamba2", "deltanet"), (8, 16, 32, 64), (8, 16, 32, 64, 128)
KINDS = {"": "no study", "demo": "3,000 training curves in one study", "fig1": "20 learning-rate panels in one study"}


def specs() -> list[RunSpec]:
    """3,000 runs in 100 cells."""
    fields: dict[str, Any] = {"task__vocab_size": 200, "train__steps": 2000}
    cells = [(mixer, width, length) for mixer in MIXERS for width in WIDTHS for length in LENGTHS]
    made = [tiny(mixer, model__d_model=width, task__length=length, **fields) for mixer, width, length in cells]
    return [spec.at(lr, seed) for spec in made for lr in LRS for seed in (1, 2, 3)]


def record(spec: RunSpec) -> Record:
    """A finished run of 50 points."""
    accuracy, outcome = behaviour(spec.train.lr, spec.seed)
    found: Record = record_of(spec, accuracy, outcome)
    assert found.result is not None
    found.result.update(result_of(spec, accuracy, outcome, 50))
    return found


def main() -> None:
    """Print all of it."""
    records = [record(spec) for spec in specs()]
    with TemporaryDirectory() as name:
        folder = Path(name)
        for study, what in KINDS.items():
            store = fill(folder / f"{study or 'none'}.db", records, study)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            words = ["-m", "recollect", "report", "--store", str(store), "--out", str(folder / what)]
            subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            size = (folder / what / "report.html").stat().st_size / 1e6
            print(f"{what}: {seconds:.1f} s of processor time (at most 10), page {size:.1f} MB (at most 15)")
        print(f"memory at most {after.ru_maxrss / 1e6:.2f} GB (at most 1)")
        opened(folder / KINDS["fig1"] / "report.html", folder)


def opened(page: Path, folder: Path) -> None:
    """How long the browser's thread works until the page stands."""
    program = find_chromium()
    if program is None:
        print("no Chromium: opening the page is not measured")
        return
    with chromium(program, folder) as browser:
        browser.view(1280, 900)
        before = browser.seconds()
        browser.open(page)
        browser.wait("document.querySelectorAll('#run-table tbody tr').length === 200")
        browser.wait("(document.querySelector('#studies').scrollIntoView(), document.querySelector('#studies svg'))")
        print(f"opening it: {browser.seconds() - before:.2f} s of the browser's thread (at most 2)")


if __name__ == "__main__":
    main()
