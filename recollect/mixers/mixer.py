"""What a mixer is, and where it stands in a model."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from recollect.mixers.parts import join_heads
from recollect.ops.forms import KERNELS, Kernel
from recollect.ops.rows import take_rows


@dataclass(frozen=True)
class Place:
    """Where a mixer stands: the width, the longest row it will see, its layer, the form its ops take."""

    d_model: int
    length: int = 64
    layer: int = 0
    n_layers: int = 1
    kernel: Kernel = KERNELS[0]


class Mixer(nn.Module, ABC):
    """Moves information along the sequence: (B, L, D) -> (B, L, D), causal.

    The projection that writes to the residual stream is called `out_proj`; `init="gpt2"` scales it with depth, and
    `zoology_rescales` says whether Zoology's own initialisation did so too. `dynamics` names the parameters, and the
    modules whose parameters, set how fast its state decays and steps: they may be trained at a rate of their own.
    """

    zoology_rescales: ClassVar[bool] = True
    dynamics: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def forward(self, x: Tensor, at: Tensor | None = None) -> Tensor:
        """All rows (B, L, D), or only the rows `at` (B, Q) of them (B, Q, D)."""

    @abstractmethod
    def state_size(self, length: int) -> int | None:
        """Numbers that must be remembered to go on after `length` tokens; None where nobody knows."""

    def fused(self) -> dict[str, list[int]]:
        """Parameter -> how many rows belong to each of the matrices of which it is made, where it is several."""
        return {}

    def sets_dynamics(self, name: str) -> bool:
        """Whether a parameter, by its name in the mixer, is one of its dynamics."""
        return any(name == own or name.startswith(f"{own}.") for own in self.dynamics)


class MatrixMixer(Mixer):
    """A mixer that is linear in its values: `finish(M @ v, x) == forward(x)`."""

    @abstractmethod
    def mixing(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The mixing matrices M (B, H, L, L), lower triangular, and the values v (B, H, L, P)."""

    @abstractmethod
    def finish(self, y: Tensor, x: Tensor) -> Tensor:
        """From the mixed values y (B, H, L, P) to the mixer's output (B, L, D)."""


class Decaying(ABC):
    """One whose state is multiplied at every token by a matrix whose eigenvalues are known: h_t = A_t h_{t-1} + ..."""

    @abstractmethod
    def decays(self, x: Tensor) -> Tensor:
        """The eigenvalues of A_t, of every head or channel, (B, L, n): what each token leaves of the state."""


class Mimetic(ABC):
    """A mixer that can start near attention."""

    @abstractmethod
    def mimic(self) -> None:
        """Start with hardly any decay, with what is written and what is read alike, the convolution a delta."""


class HeadMixer(MatrixMixer):
    """One whose heads, side by side, are its output but for a projection: out = y W_o + b_o."""

    out_proj: nn.Linear

    def finish(self, y: Tensor, x: Tensor) -> Tensor:
        out: Tensor = self.out_proj(join_heads(y))
        return out


def rows_at(x: Tensor, at: Tensor | None) -> Tensor:
    """The rows `at` (B, Q) of x (B, L, D), or all of them."""
    return x if at is None else take_rows(x, at)
