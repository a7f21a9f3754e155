"""A whole model of a user's: token ids in, logits or hidden states out; nothing of the backbone is added but a head.

`build(vocab_size=..., length=..., d_model=..., n_layers=...)` returns an nn.Module; it is called with those of the four
that it asks for, and with its own options. The module maps tokens (B, L) to (B, L, V), which are logits, or to another
width, which gets a head. An output of the transformers library may be returned as it is.
"""

from typing import Any

import torch
from torch import Tensor, nn

from recollect.errors import BadInput
from recollect.mixers.foreign import call, load_object, told_state
from recollect.mixers.mixer import rows_at
from recollect.spec import RunSpec
from recollect.spec.mixers.foreign import WholeOptions
from recollect.training.learner import Learner

STD = 0.02


class Whole(Learner):
    """Computes all rows and hands over those that are asked."""

    def __init__(self, options: WholeOptions, spec: RunSpec) -> None:
        super().__init__()
        self.name, self.vocab_size, self.length = options.name, spec.task.vocab_size, spec.task.length
        build = load_object(options, "model")
        offered = {"vocab_size": self.vocab_size, "length": self.length}
        offered |= {"d_model": spec.model.d_model, "n_layers": spec.model.n_layers}
        made = call(build, f"model {self.name}", offered, options.arguments())
        if not isinstance(made, nn.Module):
            raise BadInput(f"model {self.name}: it must return an nn.Module (got {type(made).__name__})")
        self.inner, self.head = made, None
        width = self._width()
        if width != self.vocab_size:
            self.head = nn.Linear(width, self.vocab_size, bias=False)
            nn.init.normal_(self.head.weight, std=STD)

    @torch.no_grad()
    def _width(self) -> int:
        """Of what it returns, tried on two rows; what it draws at random there is forgotten."""
        try:
            with torch.random.fork_rng(devices=[]):
                return self.states(torch.zeros(2, self.length, dtype=torch.long)).shape[-1]
        except BadInput:
            raise
        except Exception as error:
            raise BadInput(f"model {self.name}: forward raised {type(error).__name__}: {error}") from error

    @property
    def head_weight(self) -> Tensor | None:
        return None if self.head is None else self.head.weight

    def features(self, tokens: Tensor, at: Tensor | None = None) -> Tensor:
        return rows_at(self.states(tokens), at)

    def states(self, tokens: Tensor) -> Tensor:
        """What the user's module returns (B, L, V or D)."""
        y = tensor_of(self.inner(tokens))
        if not isinstance(y, Tensor) or y.dim() != 3 or y.shape[:2] != tokens.shape:
            given = tuple(y.shape) if isinstance(y, Tensor) else type(y).__name__
            shape = f"({tokens.shape[0]}, {tokens.shape[1]}, V or D)"
            raise BadInput(f"model {self.name}: it must map tokens {tuple(tokens.shape)} to {shape} (got {given})")
        return y

    def state_size(self) -> int | None:
        """Whatever the module itself says; unknown where it says nothing."""
        return told_state(self.inner, self.length, f"model {self.name}")


def tensor_of(output: Any) -> Any:
    """The tensor in an output of transformers (logits, else the last hidden states), or whatever else was returned."""
    for name in ("logits", "last_hidden_state"):
        if isinstance(found := getattr(output, name, None), Tensor):
            return found
    return output
