"""Initialisation from outside. `native` leaves every part as its own constructor made it."""

import math

from torch import nn

from recollect.mixers import Mixer
from recollect.mixers.foreign import Foreign
from recollect.spec import ModelSpec

STD = 0.02


def initialise(model: nn.Module, spec: ModelSpec) -> None:
    """`gpt2`: every Linear N(0, 0.02), the Embedding anew, biases 0, outputs to the residual stream scaled by 1/√(2n).

    `zoology-legacy` is the same, except that Zoology scaled only outputs with the names that it knew. Either also hits
    Linears deep inside mixers: Mamba's dt bias becomes 0, and so dt = softplus(0) = 0.69 everywhere.
    """
    if spec.init == "native":
        return
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=spec.embedding_std if isinstance(module, nn.Embedding) else STD)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
    for output in residual_outputs(model, spec.init):
        nn.init.normal_(output.weight, std=STD / math.sqrt(2 * spec.n_layers))


def residual_outputs(model: nn.Module, mode: str) -> list[nn.Linear]:
    """The Linears that write to the residual stream, as far as the mode knows them."""
    spared = {
        id(child)
        for mixer in model.modules()
        if isinstance(mixer, Mixer) and not mixer.zoology_rescales and not isinstance(mixer, Foreign)
        for child in mixer.modules()
    }
    found = []
    for name, module in model.named_modules():
        known = name.rpartition(".")[2] in ("out_proj", "fc2")
        if known and isinstance(module, nn.Linear) and (mode == "gpt2" or id(module) not in spared):
            found.append(module)
    return found
