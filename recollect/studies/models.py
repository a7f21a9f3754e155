"""The models that several studies compare."""

from recollect.studies.study import Model

ATTENTION, MAMBA = Model("attention"), Model("mamba")
SIX = {
    "attention": ATTENTION,
    "based": Model("based"),
    "h3": Model("h3"),
    "hyena": Model("hyena"),
    "rwkv4": Model("rwkv4"),
    "mamba": MAMBA,
}
"""The paper's six."""

NO_CONV = Model("mamba", {"model.mixer.d_conv": 0})
S6_MLP = Model("mamba", {"model.mixer.gate": False, "model.block": "mixer+mlp"})
"""S6 with its convolution and without its gate, in a Transformer's block."""


def with_conv(branches: str) -> Model:
    """Attention with a short convolution on these branches."""
    return Model("attention", {"model.mixer.conv": branches})
