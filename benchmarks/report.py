"""What the report of 3,000 and of 21,000 runs of 50 points takes: processor time, memory, and the page in a browser."""

import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.browser import chromium, find_chromium
from tests.support.invented import fill, thousands

KINDS = {
    "3,000 runs of no study": ("", 1, 10),
    "3,000 training curves in one study": ("demo", 1, 10),
    "20 learning-rate panels of 3,000 runs": ("fig1", 1, 10),
    "21,000 runs of no study": ("", 7, 30),
    "140 learning-rate panels of 21,000 runs": ("fig1", 7, 30),
}
"""What is drawn -> its study, how many times 3,000 runs, and the seconds that it may take."""


def main() -> None:
    """Print all of it."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for what, (study, times, most) in KINDS.items():
            store = fill(folder / f"{what}.db", thousands(range(1, times + 1)), study)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            words = ["-m", "recollect", "report", "--store", str(store), "--out", str(folder / what)]
            subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            size, memory = (folder / what / "report.html").stat().st_size / 1e6, after.ru_maxrss / 1e3
            print(f"{what}: {seconds:.1f} s of processor time (at most {most}), page {size:.1f} MB (at most 15)")
            print(f"  memory so far at most {memory:.0f} MB (at most 500)")
        opened(folder / what / "report.html", folder)


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
