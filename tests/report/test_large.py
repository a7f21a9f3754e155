"""The report of 3,000 runs of 50 points is small and opens whole; `benchmarks/report.py` times it."""

from pathlib import Path

import pytest

from recollect.report.write import write_report
from recollect.store import Contents, Store
from tests.support.browser import chromium, find_chromium
from tests.support.invented import fill, thousands


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    records = thousands()
    assert len(records) == 3000
    return Store(fill(tmp_path_factory.mktemp("large") / "s.db", records, "fig1"))


@pytest.fixture(scope="module")
def page(store: Store) -> Path:
    (file,) = write_report(Contents(store), store.path.parent / "out", ["html"])
    return file


def test_thousands_runs_make_a_small_page(page: Path) -> None:
    assert page.stat().st_size < 15e6


@pytest.mark.skipif(find_chromium() is None, reason="no Chromium here; `make browser` installs Debian's")
def test_the_page_of_thousands_runs_opens_whole(page: Path, tmp_path: Path) -> None:
    program = find_chromium()
    assert program is not None
    with chromium(program, tmp_path) as browser:
        browser.view(1280, 900)
        browser.open(page)
        browser.wait("document.querySelectorAll('#run-table tbody tr').length === 200")
        browser.wait("document.querySelector('#studies figure svg')")
        assert browser.complaints == []
