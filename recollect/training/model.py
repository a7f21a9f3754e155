"""The model: embedding, blocks, norm, head. Only the asked positions reach the head and the last layer's tail.

x = embed(tokens) + positions
x = x + mixer(norm(x));  x = x + mlp(norm(x))          per block (the MLP where the block has one)
logits = norm(x) · headᵀ
"""

import math

import torch
from torch import Tensor, nn

from recollect.mixers import Mixer, Place, place_mixer
from recollect.mixers.mixer import Mimetic, rows_at
from recollect.mixers.parts import RMSNorm
from recollect.ops.forms import KERNELS, Kernel, pick
from recollect.spec import ForeignOptions, ModelSpec, RunSpec, WholeOptions
from recollect.spec.model import Block as BlockKind
from recollect.training.costs import parameters
from recollect.training.initialisation import initialise
from recollect.training.learner import Learner
from recollect.training.whole import Whole

SMALL = 10_000_000
"""Parameters that take a moment to draw."""


class MLP(nn.Module):
    """fc2(gelu(fc1(x))), token by token."""

    def __init__(self, d_model: int, expansion: int, kernel: Kernel) -> None:
        super().__init__()
        self.fc1 = nn.Linear(d_model, expansion * d_model)
        self.fc2 = nn.Linear(expansion * d_model, d_model)
        self.gelu = pick("bias_gelu", kernel)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.fc2(self.gelu(nn.functional.linear(x, self.fc1.weight), self.fc1.bias))
        return y


class Block(nn.Module):
    """Pre-norm residual block: a mixer, and an MLP unless its kind says otherwise."""

    def __init__(self, spec: ModelSpec, mixer: Mixer, kind: BlockKind, place: Place) -> None:
        super().__init__()
        d = place.d_model
        self.norm: nn.Module = RMSNorm(d, place.kernel) if kind == "mamba" else nn.LayerNorm(d)
        self.mixer = mixer
        self.mlp = build_mlp(spec, place) if kind == "mixer+mlp" else None
        self.mlp_norm = nn.LayerNorm(d) if self.mlp is not None else None
        self.mlp_looks_back = spec.mlp == "rwkv4"

    def forward(self, x: Tensor, at: Tensor | None = None) -> Tensor:
        if self.mlp is None or self.mlp_norm is None:
            y: Tensor = rows_at(x, at) + self.mixer(self.norm(x), at)
        elif self.mlp_looks_back:
            x = x + self.mixer(self.norm(x))
            y = rows_at(x, at) + self.mlp(self.mlp_norm(x), at)
        else:
            x = rows_at(x, at) + self.mixer(self.norm(x), at)
            y = x + self.mlp(self.mlp_norm(x))
        return y


def build_mlp(spec: ModelSpec, place: Place) -> nn.Module:
    """The block's second half: GELU, or RWKV-4's channel mix, which also looks at the token before."""
    if spec.mlp == "gelu":
        return MLP(place.d_model, spec.mlp_expansion, place.kernel)
    from recollect.mixers.rwkv4 import ChannelMix

    return ChannelMix(place.d_model, spec.mlp_expansion, place.layer, place.n_layers)


class Model(Learner):
    """Stacks mixers."""

    def __init__(self, spec: ModelSpec, vocab_size: int, length: int, kernel: Kernel = KERNELS[0]) -> None:
        super().__init__()
        d = spec.d_model
        self.spec, self.length = spec, length
        self.embed = nn.Embedding(vocab_size, d)
        nn.init.normal_(self.embed.weight, std=spec.embedding_std)
        if spec.positions == "learned":
            self.position = nn.Parameter(torch.empty(length, d).normal_(std=0.02))
        elif spec.positions == "sinusoidal":
            self.register_buffer("position", spec.position_amplitude * sinusoids(length, d), persistent=False)
        self.dropout = nn.Dropout(spec.dropout)
        self.blocks = nn.ModuleList()
        for layer, (options, kind) in enumerate(zip(spec.mixers, spec.blocks, strict=True)):
            place = Place(d, length, layer, spec.n_layers, kernel)
            self.blocks.append(Block(spec, place_mixer(options, place), kind, place))
        self.norm = nn.LayerNorm(d)
        if not spec.tied_head:
            self.head = nn.Linear(d, vocab_size, bias=False)
        initialise(self, spec)
        for layer in spec.mimetic_layers:
            mixer = self.blocks[layer].mixer
            assert isinstance(mixer, Mimetic)
            mixer.mimic()

    @property
    def head_weight(self) -> Tensor:
        """The head's matrix (V, D)."""
        return self.embed.weight if self.spec.tied_head else self.head.weight

    def embedded(self, tokens: Tensor) -> Tensor:
        """What the first block sees, (B, L, D)."""
        x: Tensor = self.embed(tokens)
        if self.spec.positions != "none":
            x = x + self.position[: tokens.shape[1]]
        y: Tensor = self.dropout(x)
        return y

    def features(self, tokens: Tensor, at: Tensor | None = None) -> Tensor:
        """What the head sees, at all positions (B, L, D) or at those asked (B, Q, D)."""
        x = self.embedded(tokens)
        last = len(self.blocks) - 1
        for layer, block in enumerate(self.blocks):
            x = block(x, at if layer == last else None)
        y: Tensor = self.norm(x)
        return y if self.spec.widening == 1 else y / self.spec.widening

    def state_size(self) -> int | None:
        """Numbers that all layers must remember at the end of a row; None where that of one is not known."""
        sizes = [block.mixer.state_size(self.length) for block in self.blocks]  # type: ignore[union-attr, operator]
        return None if None in sizes else sum(sizes)


def build_model(spec: RunSpec) -> Learner:
    """The model of a spec (its weights come from torch's global generator)."""
    if isinstance(spec.model.mixer, WholeOptions):
        return Whole(spec.model.mixer, spec)
    return Model(spec.model, spec.task.vocab_size, spec.task.length, spec.compute.kernel)


def outline(spec: RunSpec) -> Learner:
    """The model of a spec, a large one without its memory unless a user's code, which may ask for values, is in it.

    Small ones are soon made, and `meta` loads torch's compiler: a second of the processor.
    """
    is_theirs = any(isinstance(options, ForeignOptions) for options in spec.model.mixers)
    with torch.device("cpu" if is_theirs or parameters(spec) < SMALL else "meta"):
        return build_model(spec)


def sizes(spec: RunSpec) -> tuple[int, int | None]:
    """Parameters and state size (None: unknown) of a spec's model."""
    model = outline(spec)
    return model.n_params(), model.state_size()


def sinusoids(length: int, d_model: int) -> Tensor:
    """PE[t, 2i] = sin(t · 10000^(-2i/D)), PE[t, 2i+1] = cos of the same."""
    t = torch.arange(length, dtype=torch.float64).unsqueeze(1)
    rate = torch.exp(torch.arange(0, d_model, 2, dtype=torch.float64) * (-math.log(10000.0) / d_model))
    table = torch.zeros(length, d_model, dtype=torch.float64)
    table[:, 0::2] = torch.sin(t * rate)
    table[:, 1::2] = torch.cos(t * rate)[:, : d_model // 2]
    return table.float()
