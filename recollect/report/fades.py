"""What fades with distance in one run, before training and after it, as a probe finds it."""

from collections.abc import Mapping, Sequence
from functools import partial

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recollect.inside.decay import fitted_length
from recollect.report.inside import FadeLine
from recollect.report.note import titled
from recollect.report.style import INK, PAGE, mixer_colour, styled

NARROW = 1.7
"""Inches that a panel takes at least."""
Spectra = Mapping[str, tuple[Mapping[str, float], Mapping[str, float]]]
"""Name -> quantiles of eigenvalues before training and after it."""
MOMENTS = ("before training", "after training")


def draw_fading(lines: Sequence[FadeLine], title: str, spectra: Spectra | None = None) -> Figure:
    """A panel a line, with the length that fits it, then a panel a spectrum: grey before training, coloured after."""
    panels = {line.label: partial(_draw, line) for line in lines}
    panels |= {name: partial(_draw_spectrum, *both, lines[0].mixer) for name, both in (spectra or {}).items()}
    width = max(PAGE, NARROW * len(panels))
    with styled():
        figure = Figure(figsize=(width, 0.5 * PAGE), layout="constrained")
        for axes, (label, draw) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True):
            draw(axes)
            axes.set_title(titled(label, 0.8 * width / len(panels)))
        figure.suptitle(titled(title, width))
    return figure


def _draw(line: FadeLine, axes: Axes) -> None:
    styles = zip(MOMENTS, (line.before, line.after), ("--", "-"), (INK, mixer_colour(line.mixer)), strict=True)
    for when, values, style, colour in styles:
        length = fitted_length(values)
        told = f"{when},\n" + (f"ℓ = {length:.3g}" if length < 100 * len(values) else "does not fade")
        axes.plot(range(1, len(values)), values[1:], linestyle=style, linewidth=1.2, color=colour, label=told)
    if (line.after[1:] > 0).any():
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        axes.set_ylim(low, high * (high / low) ** 0.45)  # room for the legend
    axes.set_xlabel("distance in tokens")
    axes.legend(fontsize=5, loc="upper center", ncols=1)


def _draw_spectrum(before: Mapping[str, float], after: Mapping[str, float], mixer: str, axes: Axes) -> None:
    """Of each moment the middle half as a bar, the middle nine tenths as a line, the median as a point."""
    for place, (found, colour) in enumerate(((before, INK), (after, mixer_colour(mixer)))):
        axes.vlines(place, found["5%"], found["95%"], color=colour, linewidth=1)
        axes.vlines(place, found["25%"], found["75%"], color=colour, linewidth=5)
        axes.plot(place, found["50%"], "o", color="white", markeredgecolor=colour, markersize=4)
    axes.set_xticks((0, 1), [when.replace(" ", "\n") for when in MOMENTS])
    axes.set_xlim(-0.6, 1.6)
    axes.set_ylabel("eigenvalue")
