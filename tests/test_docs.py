"""The API pages are made without a warning, and have what is public."""

import html
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import recollect
from tests.support.places import ROOT
from tests.test_layers import ALLOWED


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All pages, made in a process of its own, where a warning is an error; pdoc shows no value of its environment."""
    folder = tmp_path_factory.mktemp("api")
    kept = {key: os.environ[key] for key in ("PATH", "PYTHONPATH") if key in os.environ}
    subprocess.run([sys.executable, "-W", "error", "-m", "docs.build", folder], cwd=ROOT, env=kept, check=True)
    return folder


def words(page: Path) -> str:
    """What a page says."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", page.read_text())).split())


def sentence(thing: object) -> str:
    """The first one of a docstring, as a page says it."""
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].replace("`", "").split())


def test_every_public_name_is_there_with_its_docstring(pages: Path) -> None:
    page = pages / "recollect.html"
    for name in recollect.__all__:
        assert f'id="{name}"' in page.read_text()
        assert sentence(getattr(recollect, name)) in words(page)


def test_every_room_but_the_command_line_has_a_page_and_is_listed(pages: Path) -> None:
    first = (pages / "recollect.html").read_text()
    for room in ALLOWED.keys() - {"cli"}:
        assert f'href="recollect/{room}.html"' in first
        assert (pages / "recollect" / f"{room}.html").exists()


def test_a_mixer_has_its_equations_and_its_options(pages: Path) -> None:
    assert "S_t = S_{t-1} + β_t k_t" in words(pages / "recollect" / "mixers" / "deltanet.html")
    assert "d_model: int = 64 D, width of the residual stream" in words(pages / "recollect" / "spec" / "model.html")


def test_the_pages_need_no_network_and_name_no_place_of_this_machine(pages: Path) -> None:
    for page in pages.rglob("*.html"):
        text = page.read_text()
        assert not re.search(r"(src|<link[^>]*href)=\"?https?:", text), page
        assert str(ROOT) not in text, page
        assert "object at 0x" not in text, page
