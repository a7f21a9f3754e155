"""The page's interactive charts, as Vega-Lite specifications; the page puts in their data, `rows` and `floors`.

A row of runs has run, cell, label, mixer, lr, seed, outcome, test, validation, and the stretch of learning rates whose
medians a line may join (`part`, none for single runs); a row of cells has the cell's sizes, best lr, mean, low, high,
decades; a row of points also has step, measure, rows (train or validation), value, opacity, last. A floor has name and
level. A window has cell, label, from, to, the outer ends of its edges' intervals (first, last), and where it lies
above the points (y). A row of outcomes has mixer, outcome, kind and the number of runs. The grid is Zoology's, as far
as the runs reach.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from recollect.report.style import OUTCOMES, looks

Chart = dict[str, Any]
HEIGHT = 240
ROWS = alt.Chart(alt.NamedData("rows"))
ACCURACY = alt.Scale(domainMin=0, domainMax=alt.ExprRef("top"))
"""Up to 1, and as far above as windows need; the page says how far."""

TENTHS = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format="%")
RUN = ["run:N", alt.Tooltip("label:N", title="model"), alt.Tooltip("lr:Q", format=".3g"), "seed:N", "outcome:N"]
RUN += [alt.Tooltip(f"{rows}:Q", title=f"{rows} accuracy", format=".1%") for rows in ("test", "validation")]
SPAN = [alt.Tooltip("label:N", title="model"), alt.Tooltip("words:N", title="window")]
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
        """A dot a run, a line through medians of neighbours, min to max upright, windows above; dotted: Zoology's grid.

        The seeds that were added at the best rate of a search are dots only.
        """
        windows = alt.Chart(alt.NamedData("windows"))
        log = alt.Scale(type="log", nice=False, padding=12)
        base = ROWS.encode(alt.X("lr:Q", title="learning rate (dotted: Zoology's grid)", scale=log), color=self.colour)
        span = windows.encode(y=alt.Y("y:Q", scale=ACCURACY), color=self.colour, tooltip=SPAN)
        thick = span.mark_rule(strokeWidth=5, cursor="pointer").encode(x="from:Q", x2="to:Q")
        thin = span.mark_rule(strokeWidth=1).encode(x="first:Q", x2="last:Q")
        grid = alt.Chart(alt.NamedData("grid"))
        rules = grid.mark_rule(strokeDash=[2, 4], opacity=0.5, color="gray").encode(x="lr:Q")
        layers = [rules, *_floors(), *_medians(base, self.dash), thin, thick, _dots(base)]
        return _plain(layers, "runs", "Test accuracy against learning rate, a dot a run")

    def bands(self) -> Chart:
        """How the runs of every model end at each learning rate; the page says how wide it is."""
        axis = alt.Axis(format=".1e", labelOverlap="greedy", labelAngle=0)
        chart = (
            alt.Chart()
            .mark_bar()
            .encode(
                x=alt.X("lr:O", title="learning rate", axis=axis),
                y=alt.Y("count():Q", stack="normalize", title=None, axis=alt.Axis(values=[0, 1], format="%")),
                color=_outcome_colour(),
                order=alt.Order("rank:Q"),
                tooltip=[alt.Tooltip("lr:Q", format=".3g"), "outcome:N", alt.Tooltip("count():Q", title="runs")],
            )
        )
        header = alt.Header(orient="top", labelAnchor="start", labelPadding=2)
        rows = alt.Row("label:N", title=None, sort=None, spacing=4, header=header)
        about = "How the runs of every model end at each learning rate"
        return _spec(
            chart.properties(width="container", height=42).facet(row=rows, data=alt.NamedData("rows")), "runs", about
        )

    def models(self, x: str, title: str) -> Chart:
        """A cell a mark, at its best learning rate; marker = depth."""
        place = alt.X(x, title=title, axis=alt.Axis(labelAngle=0))
        if x.endswith(":Q"):
            log = alt.Scale(type="log", nice=False, padding=14)
            place = alt.X(x, title=title, scale=log, axis=alt.Axis(format="~s"))
        base = ROWS.encode(x=place, color=self.colour)
        y = alt.Y("mean:Q", title="test accuracy", scale=ACCURACY)
        line = base.mark_line(strokeWidth=1.2)
        lines = line.encode(y, detail=["task:N", "layers:N", "label:N", "part:N"], strokeDash=self.dash)
        bars = base.mark_rule().encode(alt.Y("low:Q"), alt.Y2("high:Q"))
        shape = alt.Shape("layers:N", title="layers", legend=alt.Legend(orient="bottom"))
        marks = base.mark_point(filled=True, size=60, cursor="pointer").encode(y, shape=shape, tooltip=CELL)
        return _plain([*_floors(), lines, bars, marks], "cells", f"Test accuracy against {title}, a mark a cell")

    def ablation(self) -> Chart:
        """A line a model: its mean at the best learning rate, and min to max over seeds."""
        y = alt.Y("label:N", title=None, sort=None)
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


def cells_chart() -> Chart:
    """A small chart of accuracy against learning rate for every task and model; the page says how many in a row."""
    legend = alt.Legend(orient="bottom", columns=6, symbolOpacity=1, symbolLimit=60)
    base = alt.Chart().encode(
        x=alt.X("lr:Q", title="learning rate", scale=alt.Scale(type="log", nice=False, padding=8)),
        color=alt.Color("size:N", title=None, sort=None, legend=legend),
    )
    floor = alt.Chart().mark_rule(strokeDash=[4, 3], color="gray").encode(y=alt.Y("mean(floor):Q", scale=ACCURACY))
    own = base.transform_filter("isValid(datum.from)").mark_rule(strokeWidth=4)
    own = own.encode(alt.X("mean(from):Q"), alt.X2("mean(to):Q"), alt.Y("mean(above):Q"), detail="cell:N")
    layers = alt.layer(floor, *_medians(base), own, _dots(base)).properties(width=190, height=110)
    panel = alt.Facet("panel:N", title=None, header=alt.Header(labelLimit=230, labelAnchor="start"))
    small = layers.facet(facet=panel, columns=4, data=alt.NamedData("rows"))
    return _spec(small, "panels", "Test accuracy against learning rate, a panel a task and model, a dot a run")


def windows_chart(colours: Mapping[str, str]) -> Chart:
    """The windows of all models as strips: thick from edge to edge, thin where its ends may lie (90 %)."""
    colour = alt.Color("mixer:N", scale=_scale(colours), legend=None)
    y = alt.Y("name:N", title=None, sort=None)
    base = ROWS.encode(y=y, color=colour, tooltip=[*SPAN, "task:N", "d:Q", "layers:Q"])
    x = alt.X("from:Q", title="learning rate", scale=alt.Scale(type="log", nice=False, padding=12))
    thick = base.mark_bar(height=9, cursor="pointer").encode(x, x2="to:Q")
    thin = base.mark_rule(strokeWidth=1.5).encode(x="first:Q", x2="last:Q")
    best = base.mark_point(filled=True, fill="white", stroke="black", strokeWidth=1, size=26, cursor="pointer")
    none = (
        base.transform_filter("isValid(datum.none)")
        .mark_text(align="left", fontSize=10)
        .encode(x=alt.value(4), text="none:N", color=alt.value("gray"))
    )
    layers = [layer.transform_filter("isValid(datum.from)") for layer in (thin, thick, best.encode(x="best:Q"))]
    chart = alt.layer(*layers, none).properties(width="container", height=alt.Step(17))
    return _spec(chart, "windows", "The learning-rate windows of all models")


def outcomes_chart() -> Chart:
    """How the runs of every model end."""
    chart = ROWS.mark_bar().encode(
        x=alt.X("sum(runs):Q", stack="normalize", title="share of runs", axis=alt.Axis(format="%")),
        y=alt.Y("mixer:N", title=None),
        color=_outcome_colour(),
        order=alt.Order("rank:Q"),
        tooltip=[alt.Tooltip("mixer:N", title="model"), "outcome:N", alt.Tooltip("sum(runs):Q", title="runs")],
    )
    about = "How the runs of every model end"
    return _spec(chart.properties(width="container", height=alt.Step(20)), "outcomes", about)


def compare_charts() -> dict[str, Chart]:
    """The curves of two runs, one over the other."""
    legend = alt.Legend(orient="bottom", columns=1, labelLimit=500, symbolOpacity=1)
    pair = alt.Scale(range=["#0072B2", "#D55E00"])
    charts = Charts(alt.Color("label:N", title=None, sort=None, scale=pair, legend=legend))
    return {measure: charts.dynamics(measure) for measure in ("accuracy", "loss")}


def curve_charts() -> dict[str, Chart]:
    """The runs of one cell, coloured by learning rate."""
    legend = alt.Legend(orient="bottom", columns=5, format=".2g", symbolOpacity=1, symbolLimit=30)
    charts = Charts(alt.Color("lr:O", title="lr", scale=alt.Scale(scheme="viridis"), legend=legend))
    return {measure: charts.dynamics(measure) for measure in ("accuracy", "loss")}


def _medians(base: alt.Chart, dash: Any = alt.Undefined) -> list[alt.Chart]:
    """Of every cell a line through the medians of neighbouring learning rates, and min to max upright."""
    lined = base.transform_filter("isValid(datum.part)")
    y = alt.Y("min(test):Q", title="test accuracy", scale=ACCURACY, axis=TENTHS)
    bars = lined.mark_rule(opacity=0.6).encode(y, alt.Y2("max(test):Q"), detail=["cell:N", "label:N"])
    line = lined.mark_line(strokeWidth=1.5).encode(alt.Y("median(test):Q"), detail=["cell:N", "label:N", "part:N"])
    return [bars, line if dash is alt.Undefined else line.encode(strokeDash=dash)]


def _dots(base: alt.Chart) -> alt.Chart:
    marks = base.mark_point(filled=True, size=34, opacity=0.8, cursor="pointer")
    dots: alt.Chart = marks.encode(alt.Y("test:Q", title="test accuracy", scale=ACCURACY, axis=TENTHS), tooltip=RUN)
    return dots


def _outcome_colour() -> alt.Color:
    """Plateaus stand last in the legend."""
    named = [*(kind for kind in OUTCOMES if kind != "stuck"), "stuck"]
    scale = alt.Scale(domain=named, range=[OUTCOMES[kind][0] for kind in named])
    whole = "datum.label === 'below' ? 'below chance' : datum.label"  # a kind is an outcome's first word
    legend = alt.Legend(orient="bottom", columns=3, labelExpr=whole)
    return alt.Color("kind:N", title=None, sort=list(OUTCOMES), scale=scale, legend=legend)


def _colour(field: str, colours: Mapping[str, str]) -> alt.Color:
    legend = alt.Legend(
        orient="bottom", columns=2, labelLimit=300, symbolOpacity=1, symbolType="stroke", symbolSize=400
    )
    return alt.Color(field, title=None, scale=_scale(colours), legend=legend)


def _scale(colours: Mapping[str, str]) -> alt.Scale:
    return alt.Scale(domain=list(colours), range=list(colours.values()))


def _floors() -> list[alt.Chart]:
    """The accuracy of models that do not recall, dashed and named to the right of the chart."""
    base = alt.Chart(alt.NamedData("floors")).encode(y=alt.Y("level:Q", scale=ACCURACY))
    text = base.mark_text(align="left", baseline="middle", dx=8, fontSize=10, color="gray")
    named = text.encode(x=alt.value("width"), text="name:N")
    return [base.mark_rule(strokeDash=[4, 3], color="gray"), named]


def _plain(layers: Sequence[alt.Chart], source: str, about: str) -> Chart:
    """The specification, with what it is fed and what it shows."""
    return _spec(alt.layer(*layers).properties(width="container", height=HEIGHT), source, about)


def _spec(chart: Any, source: str, about: str) -> Chart:
    spec = chart.to_dict(validate=False)
    spec.pop("config", None)
    spec["params"] = [{"name": "top", "value": 1}]
    return {"source": source, "about": about, "spec": spec}
