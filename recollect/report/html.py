"""One HTML page, self-contained: no network, every string escaped."""

import json
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from recollect.report.page import Page
from recollect.report.style import OUTCOMES, outcome_colour

TEMPLATES = Path(__file__).parent / "templates"
SCRIPTS = (
    *("data", "windows", "rows", "charts", "save", "walk", "filters"),
    *("tables", "columns", "claims", "compare", "detail", "start"),
)
"""What the page does, one thing a file; they become one script and share its names."""


def html(page: Page) -> str:
    """The page as text."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    template = environment.get_template("report.html.j2")
    parts = {
        "css": Markup((TEMPLATES / "report.css").read_text()),
        "js": Markup("\n".join((TEMPLATES / f"{name}.js").read_text() for name in SCRIPTS)),
        "vega": Markup(vega()),
        "data": embedded(data(page)),
    }
    return template.render(page=page, tally=tally, outcome_colour=outcome_colour, **parts)


def data(page: Page) -> dict[str, Any]:
    """What the scripts of a page draw from."""
    studies = [{name: value for name, value in vars(study).items() if name != "runs"} for study in page.studies]
    plain = {"cells": page.cells, "runs": page.runs, "studies": studies, "colours": page.colours, "charts": page.charts}
    return plain | {"outcomes": list(OUTCOMES)}


def embedded(value: Any) -> Markup:
    """JSON inside a script element: nothing in it can end the element or open another."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def tally(counts: Mapping[str, int]) -> str:
    """`3 solved, 1 diverged`."""
    return ", ".join(f"{count} {name}" for name, count in counts.items())


BUNDLE = "import vl_convert; print(vl_convert.javascript_bundle('window.vegaEmbed = vegaEmbed;'))"


@cache
def vega() -> str:
    """Vega, Vega-Lite and vega-embed as one script, from the package that carries them.

    That package brings a JavaScript engine of 100 MB, which goes with the process that used it.
    """
    bundle = subprocess.run([sys.executable, "-c", BUNDLE], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
    return bundle.replace("</script", "<\\/script")
