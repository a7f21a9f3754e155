"""The models that several studies compare."""

from recollect.studies.study import Variant

ATTENTION, MAMBA = Variant("attention"), Variant("mamba")
SIX = {
    "attention": ATTENTION,
    "based": Variant("based"),
    "h3": Variant("h3"),
    "hyena": Variant("hyena"),
    "rwkv4": Variant("rwkv4"),
    "mamba": MAMBA,
}
"""The paper's six."""

NO_CONV = Variant("mamba", {"model.mixer.d_conv": 0})
S6_MLP = Variant("mamba", {"model.mixer.gate": False, "model.block": "mixer+mlp"})
"""S6 with its convolution and without its gate, in a Transformer's block."""


def with_conv(branches: str) -> Variant:
    """Attention with a short convolution on these branches."""
    return Variant("attention", {"model.mixer.conv": branches})
