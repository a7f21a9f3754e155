"""The models that several studies compare. By its label a model is named in studies, figures and claims."""

from recollect.studies.parts import Variant

SIX = ATTENTION, BASED, H3, HYENA, RWKV4, MAMBA = "attention", "based", "h3", "hyena", "rwkv4", "mamba"
"""The paper's six."""
MAMBA2, DELTANET = "mamba2", "deltanet"
TWO_LAYERS = "attention, 2 layers"

MODELS = {label: Variant(label) for label in (*SIX, MAMBA2, DELTANET)} | {
    TWO_LAYERS: Variant("attention", {"model.n_layers": 2})
}


def pick(*labels: str) -> dict[str, Variant]:
    """These of them, in this order."""
    return {label: MODELS[label] for label in labels}
