"""One look for all figures: readable at column width, one colour per mixer everywhere, colour-blind safe.

The mixers that the paper compares have the colours of Okabe & Ito, the others come mostly from Tol's muted set. A
marker of its own says the same again, for grey print. Variants of one mixer in one figure differ in line and shade.
"""

import colorsys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect.spec import RunSpec

INK = "#555555"
COLUMN, PAGE = 3.3, 5.2
"""Widths of a figure in inches: one column of a paper, and its whole page."""

MIXERS: dict[str, tuple[str, str]] = {
    "attention": ("#0072B2", "o"),
    "mamba": ("#D55E00", "s"),
    "hyena": ("#009E73", "^"),
    "mamba2": ("#E69F00", "D"),
    "deltanet": ("#CC79A7", "v"),
    "rwkv4": ("#56B4E9", "P"),
    "h3": ("#AA3355", "X"),
    "based": ("#999933", "<"),
    "gated_deltanet": ("#AA4499", ">"),
    "linear_attention": ("#44AA99", "h"),
    "sliding_attention": ("#7570B3", "p"),
    "lstm": ("#8C6D31", "*"),
}
"""Mixer -> its colour and its marker."""

OTHERS = (("#777777", "d"), ("#B15928", "8"), ("#6A3D9A", "H"), ("#4D9A2E", "d"))
"""For mixers of users and for hybrids, by a hash of the name."""

OUTCOMES = {"solved": "#08519C", "partial": "#6BAED6", "guessing": "#C6DBEF", "diverged": "#B2182B"}
STUCK = ("#BDBDBD", "#969696", "#737373", "#525252")
"""Outcomes have colours of their own; the plateaus on which runs get stuck are greys."""

LINES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.5, 1, 1.5)))
SHADES = (1.0, 1.45, 0.78, 1.2)

RC: Any = {
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "figure.dpi": 150,
    "savefig.dpi": 300,
    "svg.hashsalt": "recollect",
    "pdf.fonttype": 42,
}


@dataclass(frozen=True)
class Look:
    """How one series is drawn."""

    colour: str
    marker: str
    line: Any

    @property
    def dash(self) -> list[float]:
        """The line as lengths of strokes and gaps in pixels, for the page."""
        return [1, 0] if self.line == "-" else [1.5 * length for length in self.line[1]]


def mixer_name(spec: RunSpec) -> str:
    """The mixers of a run, each once: `attention`, or `attention+mamba` for a hybrid."""
    return "+".join(dict.fromkeys(mixer.name for mixer in spec.model.mixers))


def mixer_colour(mixer: str) -> str:
    """The colour of a mixer, the same in every figure."""
    return _own(mixer)[0]


def looks(series: Sequence[tuple[str, str]]) -> dict[str, Look]:
    """Label -> look, from (label, mixer) pairs: the mixer gives colour and marker, its variants differ in line."""
    found: dict[str, Look] = {}
    seen: dict[str, int] = {}
    for label, mixer in dict(series).items():
        variant = seen.get(mixer, 0)
        seen[mixer] = variant + 1
        colour, marker = _own(mixer)
        found[label] = Look(shade(colour, SHADES[variant % len(SHADES)]), marker, LINES[variant % len(LINES)])
    return found


def outcome_colour(outcome: str, stuck: Sequence[str] = ()) -> str:
    """The colour of an outcome; `stuck` are the plateaus of the figure, in their order."""
    if outcome in OUTCOMES:
        return OUTCOMES[outcome]
    return STUCK[stuck.index(outcome) % len(STUCK) if outcome in stuck else 0]


def shade(colour: str, lightness: float) -> str:
    """A colour made darker (< 1) or lighter (> 1)."""
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    hue, light, saturation = colorsys.rgb_to_hls(red, green, blue)
    channels = colorsys.hls_to_rgb(hue, min(0.85, light * lightness), saturation)
    return "#" + "".join(f"{round(255 * channel):02X}" for channel in channels)


def _own(mixer: str) -> tuple[str, str]:
    return MIXERS.get(mixer, OTHERS[zlib.crc32(mixer.encode()) % len(OTHERS)])


def outputs(folder: Path, name: str, endings: Sequence[str] = ("png", "pdf", "svg")) -> list[Path]:
    """The files that a figure is written to."""
    return [folder / f"{name}.{ending}" for ending in endings]


def plain_metadata(file: Path) -> dict[str, Any]:
    """No date in the file: the same figure is the same bytes."""
    return {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(file.suffix, {})
