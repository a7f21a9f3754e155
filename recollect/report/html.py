"""One HTML page, self-contained: no network, every string escaped."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import vl_convert
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from recollect.report.page import Page
from recollect.report.style import OUTCOMES, outcome_colour

TEMPLATES = Path(__file__).parent / "templates"


def html(page: Page) -> str:
    """The page as text."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    template = environment.get_template("report.html.j2")
    parts = {name: Markup((TEMPLATES / f"report.{name}").read_text()) for name in ("css", "js")}
    parts["js"] = parts["js"].replace("OUTCOMES", Markup(json.dumps(list(OUTCOMES))))  # their order is said once
    studies = [{name: value for name, value in vars(study).items() if name != "runs"} for study in page.studies]
    plain = {"cells": page.cells, "runs": page.runs, "studies": studies, "colours": page.colours, "charts": page.charts}
    return template.render(
        page=page, data=embedded(plain), vega=Markup(vega()), tally=tally, outcome_colour=outcome_colour, **parts
    )


def embedded(value: Any) -> Markup:
    """JSON inside a script element: nothing in it can end the element or open another."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def tally(counts: Mapping[str, int]) -> str:
    """`3 solved, 1 diverged`."""
    return ", ".join(f"{count} {name}" for name, count in counts.items())


@cache
def vega() -> str:
    """Vega, Vega-Lite and vega-embed as one script, from the package that carries them."""
    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return bundle.replace("</script", "<\\/script")
