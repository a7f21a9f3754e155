"""One look for all figures: readable at column width, one colour per mixer everywhere, colour-blind safe.

The mixers that the paper compares have the colours of Okabe & Ito, the others come mostly from Tol's muted set. A
marker of its own says the same again, for grey print. Variants of one mixer in one figure differ in line and shade.
"""

import colorsys
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.style
from matplotlib.colors import to_hex, to_rgb

from recollect.errors import BadInput
from recollect.spec import MIXERS, MixerOptions

INK = "#555555"
COLUMN, PAGE = 3.25, 5.5
"""Widths of a figure in inches: one column of a paper, and its whole page."""

SHEET = str(Path(__file__).with_name("recollect.mplstyle"))
"""The style sheet of all figures; users lay theirs over it."""

OTHERS = (("#000000", "d"), ("#B15928", "8"), ("#6A3D9A", "H"), ("#4D9A2E", "p"))
"""For mixers without colour and marker of their own (users', hybrids): from a hash of the name on, the first that no
other of the figure has."""

OUTCOMES: dict[str, tuple[str, ...]] = {
    "solved": ("#08519C",),
    "partial": ("#6BAED6",),
    "guessing": ("#C6DBEF",),
    "stuck": ("#BDBDBD", "#969696", "#737373", "#525252"),
    "below": ("#F4A582",),
    "diverged": ("#B2182B",),
}
"""The first word of an outcome -> its colour, in the order in which outcomes are stacked; plateaus are greys."""

LINES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.5, 1, 1.5)))
SHADES = (1.0, 1.45, 0.78, 1.2)

PLAIN: Any = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
"""Ending -> what a file is to say of itself: no date, so that the same figure is the same bytes."""


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


def styled(*sheets: str) -> AbstractContextManager[None]:
    """Draw in our style, with these sheets (files, or names that matplotlib knows) laid over it."""
    try:
        for sheet in sheets:
            if Path(sheet).is_file():
                Path(sheet).read_text(encoding="utf-8")  # matplotlib would log a line of its own
            with matplotlib.style.context(sheet):
                pass
    except OSError:
        raise BadInput(f"--style: no style sheet '{sheet}'; give a .mplstyle file or a name of matplotlib's") from None
    except UnicodeDecodeError:
        raise BadInput(f"--style: '{sheet}' is not written in UTF-8; give a .mplstyle file") from None
    return matplotlib.style.context([SHEET, *sheets])


def mixer_colour(mixer: str) -> str:
    """The colour of a mixer, the same in every figure."""
    return mixer_colours([mixer])[mixer]


def mixer_colours(mixers: Iterable[str]) -> dict[str, str]:
    """Those of several, told apart."""
    return {mixer: colour for mixer, (colour, _) in _owns(mixers).items()}


def looks(series: Sequence[tuple[str, str]]) -> dict[str, Look]:
    """Label -> look, from (label, mixer) pairs: the mixer gives colour and marker, its variants differ in line."""
    found: dict[str, Look] = {}
    seen: Counter[str] = Counter()
    own = _owns(mixer for _, mixer in series)
    for label, mixer in dict(series).items():
        variant, (colour, marker) = seen[mixer], own[mixer]
        seen[mixer] += 1
        found[label] = Look(shade(colour, SHADES[variant % len(SHADES)]), marker, LINES[variant % len(LINES)])
    return found


def outcome_colour(outcome: str, among: Iterable[str] = ()) -> str:
    """The colour of an outcome; among those of a figure every plateau has a grey of its own."""
    kind = outcome.split(" ")[0]
    if kind in OUTCOMES and kind != "stuck":
        return OUTCOMES[kind][0]
    greys, stuck = OUTCOMES["stuck"], [other for other in among if other.startswith("stuck")]
    return greys[stuck.index(outcome) % len(greys) if outcome in stuck else 0]


def shade(colour: str, lightness: float) -> str:
    """A colour made darker (< 1) or lighter (> 1)."""
    hue, light, saturation = colorsys.rgb_to_hls(*to_rgb(colour))
    return to_hex(colorsys.hls_to_rgb(hue, min(0.85, light * lightness), saturation)).upper()


def _owns(mixers: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Mixer -> colour and marker."""
    found: dict[str, tuple[str, str]] = {}
    for mixer in dict.fromkeys(mixers):
        first, card = zlib.crc32(mixer.encode()) % len(OTHERS), MIXERS.get(mixer, MixerOptions).card
        turns = [*OTHERS[first:], *OTHERS[:first]]
        colour, marker = next((turn for turn in turns if turn not in found.values()), turns[0])
        found[mixer] = card.colour or colour, card.marker or marker
    return found
