"""The page's interactive charts, as Vega-Lite specifications; the page puts in their data, `rows` and `floors`.

A row of runs has run, cell, label, mixer, lr, seed, outcome, test; a row of cells has the cell's sizes, best lr, mean,
low, high, decades; a row of points also has step, measure, rows (train or validation), value, opacity, last. A floor
has name and level.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from recollect.report.style import OUTCOMES, looks
from recollect.spec.protocols import ZOOLOGY
from recollect.store import ACCURACY as ADDED

Chart = dict[str, Any]
HEIGHT = 240
ROWS = alt.Chart(alt.NamedData("rows"))
ACCURACY = alt.Scale(domain=[0, 1])
RUN = ["run:N", alt.Tooltip("label:N", title="model"), alt.Tooltip("lr:Q", format=".3g"), "seed:N", "outcome:N"]
CELL = [alt.Tooltip("label:N", title="model"), "task:N", "d:Q", "layers:Q", alt.Tooltip("mean:Q", format=".1%")]
CELL += [alt.Tooltip("lr:Q", title="best lr", format=".3g"), alt.Tooltip("n:Q", title="seeds"), "window:N"]


@dataclass(frozen=True)
class Charts:
    """What a kind of figure can show on the page; `colour` and `dash` tell apart what it shows."""

    colour: alt.Color
    dash: Any = alt.Undefined

    @classmethod
    def of(cls, series: Sequence[tuple[str, str]]) -> "Charts":
        """Charts of these (label, mixer) pairs, in the looks that they have in print."""
        found = looks(series)
        dashes = alt.Scale(domain=list(found), range=[look.dash for look in found.values()])
        colour = _colour("label:N", {label: look.colour for label, look in found.items()})
        return cls(colour, alt.StrokeDash("label:N", title=None, scale=dashes))

    def lr(self) -> Chart:
        """Mean line and min-max band of every cell, a dot a run; dashed lines where Zoology's grid is.

        The seeds that were added at the best rate of a search are dots only: the line is the search's.
        """
        log = alt.Scale(type="log", nice=False, padding=12)
        x = alt.X("lr:Q", title="learning rate (dashed: Zoology's grid)", scale=log)
        base = ROWS.encode(x=x, color=self.colour, detail=["cell:N", "label:N"])
        low, high = alt.Y("min(test):Q", title="test accuracy", scale=ACCURACY), alt.Y2("max(test):Q")
        lined = base.transform_filter(alt.datum.tells != ADDED)
        band = lined.mark_area(opacity=0.15).encode(low, high)
        line = lined.mark_line(strokeWidth=1.5).encode(alt.Y("mean(test):Q"), strokeDash=self.dash)
        dots = base.mark_point(filled=True, size=36, opacity=0.8, cursor="pointer").encode(alt.Y("test:Q"), tooltip=RUN)
        grid = alt.Chart(alt.InlineData(values=[{"lr": lr} for lr in ZOOLOGY.lrs]))
        rules = grid.mark_rule(strokeDash=[2, 4], opacity=0.5, color="gray", clip=True).encode(x="lr:Q")
        layers = [rules, *_floors(), band, line, dots]
        return _plain(layers, "runs", "Test accuracy against learning rate, a dot a run")

    def bands(self) -> Chart:
        """The share of outcomes at every learning rate; plateaus stand last in the legend."""
        named = [*(kind for kind in OUTCOMES if kind != "stuck"), "stuck"]
        scale = alt.Scale(domain=named, range=[OUTCOMES[kind][0] for kind in named])
        legend = alt.Legend(orient="bottom", columns=3)
        axis = alt.Axis(format=".1e", labelOverlap="greedy", labelAngle=0)
        chart = ROWS.mark_bar().encode(
            x=alt.X("lr:O", title="learning rate", axis=axis),
            y=alt.Y("count():Q", stack="normalize", title="share of runs"),
            color=alt.Color("kind:N", title=None, sort=list(OUTCOMES), scale=scale, legend=legend),
            order=alt.Order("rank:Q"),
            tooltip=[alt.Tooltip("lr:Q", format=".3g"), "outcome:N", alt.Tooltip("count():Q", title="runs")],
        )
        return _spec(chart.properties(width="container", height=110), "runs", "How the runs end at each learning rate")

    def models(self, x: str, title: str) -> Chart:
        """A cell a mark, at its best learning rate; marker = depth."""
        place = alt.X(x, title=title, axis=alt.Axis(labelAngle=0))
        if x.endswith(":Q"):
            log = alt.Scale(type="log", nice=False, padding=14)
            place = alt.X(x, title=title, scale=log, axis=alt.Axis(format="~s"))
        base = ROWS.encode(x=place, color=self.colour)
        y = alt.Y("mean:Q", title="test accuracy", scale=ACCURACY)
        line = base.mark_line(strokeWidth=1.2)
        lines = line.encode(y, detail=["task:N", "layers:N", "label:N"], strokeDash=self.dash)
        bars = base.mark_rule().encode(alt.Y("low:Q"), alt.Y2("high:Q"))
        shape = alt.Shape("layers:N", title="layers", legend=alt.Legend(orient="bottom"))
        marks = base.mark_point(filled=True, size=60, cursor="pointer").encode(y, shape=shape, tooltip=CELL)
        return _plain([*_floors(), lines, bars, marks], "cells", f"Test accuracy against {title}, a mark a cell")

    def ablation(self) -> Chart:
        """A line a model: its mean at the best learning rate, and min to max over seeds."""
        y = alt.Y("label:N", title=None, sort=None, axis=alt.Axis(labelLimit=220))
        base = ROWS.encode(y=y, color=self.colour.copy())
        base.encoding.color.legend = None
        bars = base.mark_rule(strokeWidth=2).encode(alt.X("low:Q", scale=ACCURACY), alt.X2("high:Q"))
        x = alt.X("mean:Q", title="test accuracy at the best lr", scale=ACCURACY)
        marks = base.mark_point(filled=True, size=60, cursor="pointer").encode(x, tooltip=CELL)
        floors = alt.Chart(alt.NamedData("floors")).mark_rule(strokeDash=[4, 3], color="gray")
        named = floors.encode(x="level:Q", tooltip=["name:N", alt.Tooltip("level:Q", format=".1%")])
        return _plain([named, bars, marks], "cells", "Test accuracy of every model, a mark a cell")

    def heatmap(self, field: str, title: str, form: str) -> Chart:
        """One measure over width and depth, for every model and task."""
        scale = alt.Scale(scheme="cividis", type="log" if field == "lr" else "linear")
        base = alt.Chart().encode(alt.X("d:O", title="width d"), alt.Y("layers:O", title="layers", sort="descending"))
        colour = alt.Color(f"{field}:Q", title=title, scale=scale, legend=alt.Legend(format=form))
        squares = base.mark_rect(cursor="pointer").encode(colour, tooltip=CELL).properties(width=150, height=90)
        row, column = alt.Row("task:N", title=None), alt.Column("label:N", title=None)
        about = f"{title.capitalize()} over width and depth"
        return _spec(squares.facet(row=row, column=column, data=alt.NamedData("rows")), "cells", about)

    def dynamics(self, measure: str) -> Chart:
        """A line a run, validation and training; the page makes training faint, and runs that are not looked at."""
        scale = ACCURACY if measure == "accuracy" else alt.Undefined
        base = ROWS.transform_filter(alt.datum.measure == measure).encode(
            x=alt.X("step:Q", title="training step"),
            y=alt.Y("value:Q", title=f"{measure} (training faint)", scale=scale),
            color=self.colour,
            detail=["run:N", "rows:N"],
            opacity=alt.Opacity("opacity:Q", scale=None, legend=None),
        )
        lines = base.mark_line(strokeWidth=1.5).encode(strokeDash=self.dash)
        dots = base.transform_filter("datum.last").mark_point(filled=True, size=46, cursor="pointer")
        floors = _floors() if measure == "accuracy" else []
        about = f"{measure.capitalize()} against training step"
        return _plain([*floors, lines, dots.encode(tooltip=RUN)], "points", about)


def cells_chart(colours: Mapping[str, str]) -> Chart:
    """Every run of every cell, coloured by mixer."""
    return Charts(_colour("mixer:N", colours)).lr()


def curve_charts() -> dict[str, Chart]:
    """The runs of one cell, coloured by learning rate."""
    legend = alt.Legend(orient="bottom", columns=5, format=".2g", symbolOpacity=1, symbolLimit=30)
    charts = Charts(alt.Color("lr:O", title="lr", scale=alt.Scale(scheme="viridis"), legend=legend))
    return {measure: charts.dynamics(measure) for measure in ("accuracy", "loss")}


def _colour(field: str, colours: Mapping[str, str]) -> alt.Color:
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    legend = alt.Legend(
        orient="bottom", columns=2, labelLimit=300, symbolOpacity=1, symbolType="stroke", symbolSize=400
    )
    return alt.Color(field, title=None, scale=scale, legend=legend)


def _floors() -> list[alt.Chart]:
    """The accuracy of models that do not recall, dashed and named at the right."""
    base = alt.Chart(alt.NamedData("floors")).encode(y=alt.Y("level:Q", scale=ACCURACY))
    text = base.mark_text(align="right", baseline="bottom", dx=-2, dy=-1, fontSize=10, color="gray")
    named = text.encode(x=alt.value("width"), text="name:N")
    return [base.mark_rule(strokeDash=[4, 3], color="gray"), named]


def _plain(layers: Sequence[alt.Chart], source: str, about: str) -> Chart:
    """The specification, with what it is fed and what it shows."""
    return _spec(alt.layer(*layers).properties(width="container", height=HEIGHT), source, about)


def _spec(chart: Any, source: str, about: str) -> Chart:
    spec = chart.to_dict(validate=False)
    spec.pop("config", None)
    return {"source": source, "about": about, "spec": spec}
