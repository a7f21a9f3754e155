"""The page in a real browser: it complains about nothing, asks for nothing, and does what it says."""

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.report.write import write_report
from recollect.spec import RunSpec
from recollect.store import Contents, Store
from tests.report.test_command import parsed
from tests.support.browser import Browser, chromium, find_chromium
from tests.support.invented import LRS, fill, record_of, records_of
from tests.support.small import tiny

pytestmark = pytest.mark.skipif(find_chromium() is None, reason="no Chromium here; `make browser` installs Debian's")
EVIL = "<img src=x onerror=alert(1)><script>alert(2)</script>"
ALONE = tiny(train__lr=LRS[5], seed=55)
"""A run whose point no other one covers."""

SYMBOLS = "#cells figure g.mark-symbol.role-mark path"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a small store, with a failed run and a mixer whose name is HTML."""
    folder = tmp_path_factory.mktemp("page")
    records = [*records_of("attention"), *records_of("mamba", LRS[2:6], model__d_model=16, task__length=16)]
    plain = tiny(seed=77).model_dump(mode="json")
    plain["model"]["mixer"] = {"name": f"{EVIL}.py:Mixer", "source": "sha256 0"}
    records += [record_of(RunSpec.model_validate(plain), 0.5, "partial"), record_of(ALONE, 0.6, "partial")]
    path = fill(folder / "s.db", records, "fig1")
    store, failed = Store(path, create=True), tiny("hyena", seed=99)
    store.add([failed])
    store.fail(failed.id, f"ValueError: {EVIL}")
    (found,) = write_report(Contents(store), folder, ["html"])
    store.close()
    return found


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests, cut off from the network."""
    program = find_chromium()
    assert program is not None
    with chromium(program, tmp_path_factory.mktemp("profile")) as browser:
        browser.call(
            "Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0
        )
        yield browser


@pytest.fixture
def page(tab: Browser, file: Path) -> Iterator[Browser]:
    """The page, freshly opened; nothing may have been complained of or asked for in the end."""
    tab.view(1280, 900)
    tab.open(file)
    yield tab
    assert tab.complaints == []
    assert [address for address in tab.requests if not address.startswith(("data:", file.resolve().as_uri()))] == []


def drawn(page: Browser) -> None:
    """Wait for the chart of all cells."""
    page.evaluate("document.querySelector('#cells').scrollIntoView()")
    page.wait(f"document.querySelectorAll('{SYMBOLS}').length > 0")


def test_charts_and_tables_are_there(page: Browser) -> None:
    drawn(page)
    headings = page.evaluate("[...document.querySelectorAll('h2')].map(one => one.textContent)")
    assert headings == ["Overview", "Studies", "Cells", "Runs"]
    assert page.evaluate(f"document.querySelectorAll('{SYMBOLS}').length") == 44
    assert page.evaluate("document.querySelector('#run-table').tBodies[0].rows.length") == 45
    page.evaluate("document.querySelector('#studies').scrollIntoView()")
    page.wait("document.querySelectorAll('#studies figure svg').length === 2")


def test_a_click_on_a_point_shows_its_run_and_the_cell_behind_it(page: Browser) -> None:
    drawn(page)
    page.evaluate(f"[...document.querySelectorAll('{SYMBOLS}')].find(one => one.__data__.datum.test === 0.6).id = 'it'")
    page.click("#it")
    page.wait("document.getElementById('detail').open")
    assert page.evaluate("document.querySelector('#detail-runs tr[aria-current]').dataset.id") == ALONE.id
    assert page.evaluate("document.getElementById('run-title').textContent").startswith(f"Run {ALONE.id}: partial, ")
    assert f"Cell {ALONE.cell}." in page.evaluate("document.getElementById('detail-about').textContent")
    assert page.evaluate("document.querySelector('#detail-runs').tBodies[0].rows.length") == 31
    page.wait("document.querySelectorAll('#curves-accuracy svg g.mark-symbol.role-mark path').length === 31")
    page.press("Escape")
    page.wait("!document.getElementById('detail').open")


def test_pointing_at_a_run_tells_its_id_rate_seed_and_outcome(page: Browser) -> None:
    drawn(page)
    page.evaluate(f"[...document.querySelectorAll('{SYMBOLS}')].find(one => one.__data__.datum.test === 0.6).id = 'it'")
    page.point("#it")
    page.wait("document.querySelector('#vg-tooltip-element.visible')")
    shown = page.evaluate("document.getElementById('vg-tooltip-element').textContent")
    for word in (ALONE.id, f"{ALONE.train.lr:.3g}", "55", "partial"):
        assert word in shown


def test_the_command_on_the_page_gives_the_run_and_can_be_copied(page: Browser) -> None:
    for button in (2, 40):
        page.click(f"#run-table tbody tr:nth-child({button}) button")
        page.wait("document.getElementById('detail').open")
        run = page.evaluate("document.querySelector('#detail-runs tr[aria-current]').dataset.id")
        command = page.evaluate("document.getElementById('command').textContent")
        assert parsed(shlex.split(command)).id == run
        page.click("#copy")
        page.wait("document.getElementById('copy').textContent === 'Copied'")
        page.click("#close")
        page.wait("!document.getElementById('detail').open")


def test_the_whole_spec_of_a_run_is_shown(page: Browser) -> None:
    page.click("#run-table tbody tr:nth-child(1) button")
    names = page.evaluate("[...document.querySelectorAll('#spec dt')].map(one => one.textContent)")
    assert {"train.lr", "seed", "task.length", "model.mixer.name", "compute.threads", "numerics"} <= set(names)
    page.press("Escape")


def test_filters_choose_cells_runs_and_points(page: Browser) -> None:
    drawn(page)
    choose = "(select => {{ select.value = '{value}'; select.dispatchEvent(new Event('change', {{bubbles: true}})) }})"
    page.evaluate(choose.format(value="mamba") + "(document.getElementById('filter-mixer'))")
    page.wait(f"document.querySelectorAll('{SYMBOLS}').length === 12")
    assert page.evaluate("document.querySelector('#run-table').tBodies[0].rows.length") == 12
    assert page.evaluate("document.querySelector('#cell-table').tBodies[0].rows.length") == 1
    assert page.evaluate("document.getElementById('matches').textContent") == "12 of 45 runs"
    page.evaluate(choose.format(value="8") + "(document.getElementById('filter-length'))")
    page.wait("document.getElementById('matches').textContent === 'No run matches the filters.'")
    page.click(".filters button[type=reset]")
    page.wait("document.getElementById('matches').textContent === '45 of 45 runs'")
    page.wait(f"document.querySelectorAll('{SYMBOLS}').length === 44")


def test_a_point_is_reached_by_keyboard(page: Browser) -> None:
    drawn(page)
    page.evaluate("document.querySelector('#cells figure').focus()")
    page.press("ArrowRight")
    assert "seed 77, partial" in page.evaluate("document.getElementById('matches').textContent")
    page.press("Enter")
    page.wait("document.getElementById('detail').open")
    assert page.evaluate("document.getElementById('run-title').textContent").startswith("Run ")
    page.press("Escape")
    page.wait("!document.getElementById('detail').open")


def test_html_in_names_and_errors_is_shown_as_text(page: Browser) -> None:
    shown = page.evaluate("document.querySelector('#run-table').textContent")
    assert EVIL in shown
    failed = "[...document.querySelectorAll('#run-table tbody tr')].find(row => row.textContent.includes('failed'))"
    page.evaluate(f"{failed}.querySelector('button').click()")
    page.wait("document.getElementById('detail').open")
    assert page.evaluate("document.getElementById('run-error').textContent") == f"ValueError: {EVIL}"
    assert page.evaluate("document.querySelectorAll('img, main script, dialog script').length") == 0
    page.press("Escape")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_a_desk_and_a_phone_in_light_and_dark(width: int, scheme: str, page: Browser, tmp_path: Path) -> None:
    page.view(width, 844, scheme)
    drawn(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.click("#run-table tbody tr:nth-child(1) button")
    page.wait("document.getElementById('detail').open")
    assert page.evaluate("document.getElementById('detail').getBoundingClientRect().right") <= width
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")
    page.screenshot(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 5000
    page.press("Escape")
