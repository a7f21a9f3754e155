"""The mixers that papers compare today, at equal state: whose learning-rate window is how wide?

One layer each, with about 4,096 numbers of state (an attention layer's at this length), and two layers of five. The
mixers without a short convolution of their own are shown with one too, for without it one layer has no means to look
at the token before (with one on k attention has 4,288). Left out, because they would need more than four times the
width: RWKV-4, LSTM, and sliding attention, whose window of 8 would have to be the whole row.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from recollect.studies.models import ATTENTION, BASED, DELTANET, H3, HYENA, MAMBA, MAMBA2
from recollect.studies.parts import Variant
from recollect.studies.scales import LAPTOP, SMOKE, WIDE
from recollect.studies.study import Study

STATE = 4096
LEFT_OUT = ("sliding_attention", "rwkv4", "lstm")
GLA, RETNET, MLSTM, GATED_DELTANET = "gla", "retnet", "mlstm", "gated_deltanet"
OPTIONS: dict[str, Mapping[str, Any]] = {
    GLA: {"d_key": 64},
    RETNET: {"n_heads": 2},
    H3: {"d_state": 22},
    MAMBA: {"d_state": 29},
    MAMBA2: {"d_state": 28},
    "mamba3": {"d_state": 30},
    MLSTM: {"d_key": 64},
}
"""What gives a mixer this state at width 64; of the others only the width does."""
WIDTHS = {BASED: 56, HYENA: 108, DELTANET: 60, GATED_DELTANET: 60, "gated_deltaproduct": 56, "kda": 60}
CONV: dict[str, Mapping[str, Any]] = {
    ATTENTION: {"conv": "k"},
    GLA: {"d_conv": 4, "d_key": 60},
    RETNET: {"d_conv": 4},
    MLSTM: {"d_conv": 4, "d_key": 60},
}
NARROWER = {GLA: 60, RETNET: 60, MLSTM: 60}
"""A convolution has a state too."""
ONE = (
    *(ATTENTION, "linear_attention", BASED, GLA, RETNET, MLSTM, H3, HYENA, MAMBA, MAMBA2, "mamba3"),
    *(DELTANET, GATED_DELTANET, "gated_deltaproduct", "kda", "rwkv7"),
)
TWO = (ATTENTION, MAMBA, MAMBA2, DELTANET, GATED_DELTANET)


def with_conv(mixer: str) -> str:
    """The label of a mixer with a short convolution that is not its own."""
    return f"{mixer} + conv"


def two_layers(mixer: str) -> str:
    """The label of two layers of a mixer."""
    return f"{mixer}, 2 layers"


def sized(width: int, options: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that give a mixer its state."""
    return {"model.d_model": width} | {f"model.mixer.{name}": value for name, value in options.items()}


OWN = {mixer: sized(WIDTHS.get(mixer, 64), OPTIONS.get(mixer, {})) for mixer in ONE}
SIZES = OWN | {two_layers(mixer): OWN[mixer] for mixer in TWO}
SIZES |= {with_conv(m): sized(NARROWER.get(m, 64), {**OPTIONS.get(m, {}), **own}) for m, own in CONV.items()}
MODELS = {mixer: Variant(mixer) for mixer in ONE}
MODELS |= {with_conv(mixer): Variant(mixer) for mixer in CONV}
MODELS |= {two_layers(mixer): Variant(mixer, {"model.n_layers": 2}) for mixer in TWO}

STUDY = Study(
    title="Learning-rate windows at equal state, one layer and two",
    figure="strip",
    models=MODELS,
    scales={
        "smoke": replace(SMOKE, lrs=(1e-2,), shapes=((64, 1),), own=SIZES),
        "laptop": replace(LAPTOP, lrs=WIDE, shapes=((64, 1),), own=SIZES, design="window"),
    },
    minutes={"laptop": 140},
)
