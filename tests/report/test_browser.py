"""The page in a real browser: it complains about nothing, asks for nothing, and does what it says."""

import json
import shlex
import time
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

from recollect.report.page import ClaimRow
from recollect.report.style import OUTCOMES, mixer_colour
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
    for word in (ALONE.id, f"{ALONE.train.lr:.3g}", "55", "partial", "60.0%"):
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


def column(page: Browser, table: str, place: int) -> list[str]:
    """The texts of one column of a table."""
    rows = f"[...document.querySelector('#{table}').tBodies[0].rows].filter(row => !row.hidden)"
    return list(page.evaluate(f"{rows}.map(row => row.cells[{place}].textContent)"))


def typed(page: Browser, field: str, text: str) -> None:
    """Text typed into a field."""
    code = "(field => {{ field.value = {}; field.dispatchEvent(new Event('input', {{bubbles: true}})) }})"
    page.evaluate(code.format(json.dumps(text)) + f"(document.getElementById('{field}'))")


def test_a_small_chart_a_task_and_model(page: Browser) -> None:
    drawn(page)
    wanted = ["attention, MQAR V=20 L=8 K=2", "mamba, MQAR V=20 L=16 K=2"]
    seen = page.evaluate("document.querySelector('#cells figure svg').textContent")
    assert all(title in seen for title in wanted)


def test_windows_are_drawn_over_the_points_and_as_a_strip(page: Browser) -> None:
    page.wait("document.querySelectorAll('#overview figure svg').length === 2")
    strip = "document.querySelector('#overview figure')"
    assert page.evaluate(f"{strip}.querySelectorAll('g.mark-rect.role-mark path').length") == 2
    assert "attention" in page.evaluate(f"{strip}.textContent")
    page.evaluate("document.querySelector('#studies').scrollIntoView()")
    page.wait("document.querySelectorAll('#studies figure svg').length === 2")
    lines = "[...document.querySelectorAll('#studies figure g.mark-rule.role-mark line')]"
    assert page.evaluate(f"{lines}.filter(one => one.getAttribute('stroke-width') === '5').length") == 2


def test_of_curves_those_at_the_best_rate_stand_out(tab: Browser, tmp_path: Path) -> None:
    for name, lrs, strong in (("some", LRS[3:6], {0.1, 1}), ("one", LRS[3:4], {1})):
        store = Store(fill(tmp_path / f"{name}.db", records_of(lrs=lrs), "fig6"))
        (file,) = write_report(Contents(store), tmp_path / name, ["html"])
        store.close()
        tab.view(1280, 900)
        tab.open(file)
        tab.evaluate("document.querySelector('#studies').scrollIntoView()")
        tab.wait("document.querySelectorAll('#studies figure svg').length > 0")
        found = "[...document.querySelectorAll('#studies figure g.mark-symbol.role-mark path')]"
        shown = tab.evaluate(f"{found}.map(one => Number(one.getAttribute('opacity') ?? 1))")
        assert set(shown) == strong
        assert ("not a cell's best" in tab.evaluate("document.querySelector('#studies').textContent")) == (
            strong != {1}
        )


def test_colours_that_a_dark_page_would_swallow_are_lighter_there(tab: Browser, tmp_path: Path) -> None:
    runs = [*records_of("attention", LRS[3:6]), *records_of("kda", LRS[3:6])]
    store = Store(fill(tmp_path / "s.db", runs))
    (file,) = write_report(Contents(store), tmp_path, ["html"])
    store.close()
    for scheme, is_dark in (("light", False), ("dark", True)):
        tab.view(1280, 900, scheme)
        tab.open(file)
        tab.wait("document.querySelectorAll('#overview figure svg').length === 2")
        windows, outcomes = tab.evaluate("[...document.querySelectorAll('#overview figure')].map(one => one.outerHTML)")
        assert (mixer_colour("kda") in windows) != is_dark
        assert mixer_colour("attention") in windows
        assert OUTCOMES["solved"][0] in outcomes


def test_a_name_says_a_size_once(tab: Browser, tmp_path: Path) -> None:
    runs = [*records_of(lrs=LRS[3:6]), *records_of(lrs=LRS[3:6], model__n_layers=2)]
    path = fill(tmp_path / "s.db", runs)
    store = Store(path, create=True)
    labels = {run.id: "attention, 2 layers" if run.spec.model.n_layers == 2 else "attention" for run in runs}
    store.link("fig1", "laptop", labels)
    (file,) = write_report(Contents(store), tmp_path, ["html"])
    store.close()
    tab.view(1280, 900)
    tab.open(file)
    tab.wait("document.querySelector('#overview figure svg')")
    seen = tab.evaluate("document.querySelector('#overview figure svg').textContent")
    assert "attention, 2 layers" in seen
    assert "2 layers, 2 layers" not in seen


def test_a_table_is_sorted_by_a_click_on_its_head_and_back(page: Browser) -> None:
    page.click("#run-table th:nth-child(6) button")
    lrs = [float(text) for text in column(page, "run-table", 5)]
    assert lrs == sorted(lrs, reverse=True)
    assert (
        page.evaluate("document.querySelector('#run-table th:nth-child(6)').getAttribute('aria-sort')") == "descending"
    )
    page.click("#run-table th:nth-child(6) button")
    lrs = [float(text) for text in column(page, "run-table", 5)]
    assert lrs == sorted(lrs)
    page.click("#run-table th:nth-child(10) button")
    tests = column(page, "run-table", 9)
    assert tests[-1] == ""
    assert tests[0] == "99.5 %"
    page.click("#cell-table th:nth-child(2) button")
    names = column(page, "cell-table", 1)
    assert names == sorted(names)


def test_the_search_finds_runs_and_the_address_keeps_it(page: Browser, file: Path) -> None:
    typed(page, "search", "MAMBA guessing")
    page.wait("document.getElementById('matches').textContent === '3 of 45 runs'")
    assert set(column(page, "run-table", 8)) == {"guessing"}
    assert page.evaluate("location.hash") == "#search=MAMBA+guessing"
    page.call("Page.navigate", url=f"{file.resolve().as_uri()}#mixer=mamba&search=solved")
    page.wait("document.getElementById('search').value === 'solved'")
    page.wait("document.getElementById('matches').textContent === '9 of 45 runs'")
    assert page.evaluate("document.getElementById('filter-mixer').value") == "mamba"
    page.click(".filters button[type=reset]")
    page.wait("document.getElementById('matches').textContent === '45 of 45 runs'")
    assert page.evaluate("location.hash") in ("", "#")


def test_two_runs_stand_side_by_side(page: Browser, file: Path) -> None:
    typed(page, "search", "solved")
    page.wait("document.getElementById('matches').textContent !== '45 of 45 runs'")
    chosen = [
        str(page.evaluate(f"document.querySelectorAll('[data-pick]')[{place}].dataset.pick")) for place in (0, 20)
    ]
    for run in chosen:
        page.click(f"[data-pick='{run}']")
    page.click("#compare-open")
    page.wait("document.getElementById('comparison').open")
    about = page.evaluate("document.getElementById('compare-about').textContent")
    assert "model.d_model" in about
    assert "model.mixer.name" in about
    fields = column(page, "compare-table", 0)
    place = fields.index("model.d_model")
    assert [column(page, "compare-table", side)[place] for side in (1, 2)] == ["8", "16"]
    assert "test accuracy" in fields
    assert "task.vocab_size" not in fields
    page.wait("document.querySelectorAll('#compare-accuracy svg g.mark-symbol.role-mark path').length === 2")
    page.wait("document.querySelector('#compare-loss svg')")
    lines = "[...document.querySelectorAll('#compare-loss svg g.mark-line.role-mark path')]"
    assert len(set(page.evaluate(f"{lines}.map(one => one.getAttribute('stroke'))"))) == 2
    assert f"compare={chosen[0]}%2C{chosen[1]}" in page.evaluate("location.hash")
    page.press("Escape")
    page.wait("!document.getElementById('comparison').open")
    page.open(file.with_name(file.name))
    page.call("Page.navigate", url=f"{file.resolve().as_uri()}#compare={chosen[1]},{chosen[0]}")
    page.wait("document.getElementById('comparison').open")
    page.press("Escape")


def test_a_figure_is_saved_as_svg_and_csv(page: Browser, tmp_path: Path) -> None:
    page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    drawn(page)
    buttons = "document.querySelectorAll('#cells figcaption button')"
    for place in (0, 1):
        page.evaluate(f"{buttons}[{place}].click()")
    page.evaluate("document.getElementById('save-runs').click()")
    for ending, count in (("*.svg", 1), ("*.csv", 2)):
        wait_for(tmp_path, ending, count)
    (picture,) = tmp_path.glob("*.svg")
    root = ElementTree.fromstring(picture.read_text())
    assert root.tag.endswith("svg")
    assert "attention, MQAR V=20 L=8 K=2" in picture.read_text()
    frame = pd.read_csv(next(file for file in tmp_path.glob("*.csv") if file.stem != "runs"))
    assert len(frame) == 44
    assert {"run", "lr", "seed", "test", "validation", "outcome"} <= set(frame)
    assert frame[frame["run"] == ALONE.id]["test"].item() == 0.6
    runs = pd.read_csv(tmp_path / "runs.csv")
    assert len(runs) == 45
    assert EVIL in runs["model"].str.cat()


def wait_for(folder: Path, pattern: str, count: int) -> None:
    """Until a download is whole."""
    end = time.monotonic() + 15
    while len([file for file in folder.glob(pattern) if file.stat().st_size]) < count or list(
        folder.glob("*.crdownload")
    ):
        assert time.monotonic() < end, f"{pattern}: not saved"
        time.sleep(0.05)


@pytest.mark.parametrize("width", [1280, 390])
def test_claims_are_sorted_and_searched_on_a_desk_and_a_phone(width: int, tab: Browser, tmp_path: Path) -> None:
    claims = [
        ClaimRow(n, f"statement {n}", "its number", word, "window 1.00 decades (0.68 to 1.32); " * 9, "laptop " * 9)
        for n, word in ((2, "open"), (10, "supported"))
    ]
    store = Store(fill(tmp_path / "s.db", records_of(lrs=LRS[4:5]), "demo"))
    (file,) = write_report(Contents(store), tmp_path, ["html"], claims=claims)
    store.close()
    tab.view(width, 900)
    tab.open(file)
    tab.evaluate("document.querySelector('#claims table').id = 'them'")
    inner, outer = tab.evaluate(
        "(box => [box.scrollWidth, box.clientWidth])(document.querySelector('#claims .scroll'))"
    )
    assert inner <= outer
    tab.click("#them th:nth-child(4) button")
    tab.click("#them th:nth-child(4) button")
    assert column(tab, "them", 0) == ["10", "2"]
    tab.click("#them th:nth-child(1) button")
    assert column(tab, "them", 0) == ["2", "10"]
    typed(tab, "search-claims", "supported")
    assert column(tab, "them", 0) == ["10"]
    assert [
        text.strip()
        for text in tab.evaluate(
            "[...document.querySelectorAll('#overview .tiles:nth-of-type(2) li')].map(one => one.textContent)"
        )
    ] == ["1 claim open", "1 claim supported"]
    assert tab.complaints == []


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
