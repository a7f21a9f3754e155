"""The report of 3,000 runs of 50 points is small and opens whole; `benchmarks/report.py` times it."""

from dataclasses import replace
from pathlib import Path

import pytest
from browser import chromium, find_chromium
from invented import fill, records_of, result_of

from recollect.report.write import write_report
from recollect.store import Record, Store

MIXERS, WIDTHS, LENGTHS = ("attention", "mamba", "hyena", "mamba2", "deltanet"), (8, 16, 32, 64), (8, 16, 32, 64, 128)


def longer(record: Record) -> Record:
    """The same with 50 points."""
    assert record.result is not None
    return replace(record, result=result_of(record.spec, record.result["test_accuracy"], record.outcome or "", 50))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """3,000 runs in 100 cells."""
    records = [
        longer(record)
        for mixer in MIXERS
        for width in WIDTHS
        for length in LENGTHS
        for record in records_of(
            mixer, model__d_model=width, task__length=length, task__vocab_size=200, train__steps=2000
        )
    ]
    assert len(records) == 3000
    return Store(fill(tmp_path_factory.mktemp("large") / "s.db", records, "fig1"))


@pytest.fixture(scope="module")
def page(store: Store) -> Path:
    (file,) = write_report(store, store.path.parent / "out", ["html"])
    return file


def test_three_thousand_runs_make_a_small_page(page: Path) -> None:
    assert page.stat().st_size < 15e6


@pytest.mark.skipif(find_chromium() is None, reason="no Chromium here; `make browser` installs Debian's")
def test_the_page_of_three_thousand_runs_opens_whole(page: Path, tmp_path: Path) -> None:
    program = find_chromium()
    assert program is not None
    with chromium(program, tmp_path) as browser:
        browser.view(1280, 900)
        browser.open(page)
        browser.wait("document.querySelectorAll('#run-table tbody tr').length === 200")
        browser.wait("document.querySelector('#studies figure svg')")
        assert browser.complaints == []
