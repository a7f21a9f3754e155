"""mLSTM: the LSTM with a matrix for its memory, exponential gates, and keys and queries to write and read it.

    q, k = x W_q, x W_k        H heads of width K;         v = x W_v      H heads of width P = D/H
    log i = cap(x W_i + b_i),   log f = log σ(cap(x W_f + b_f))            one of each per head; cap(y) = 15 tanh(y/15)
    C_t = f_t C_{t-1} + i_t k_t v_tᵀ,   n_t = f_t n_{t-1} + i_t k_t
    h_t = C_tᵀ q_t / √K / max(|n_t · q_t| / √K, 1)                         both kept times e^{-m}, see `ops.mlstm`
    out = (LayerNorm(h) ⊙ w ⊙ σ(x W_z)) W_o                                the norm per head

No other biases. Starts with W_i = W_f = W_z = 0, b_i = -10, b_f evenly from 3 to 6, W_o with a deviation of 2/(n √D)
in a model of n layers, the others of √(2/5D). Options: short convolutions with a SiLU on q, k, v; no output gate.

Beck et al. 2024, the layer of xLSTM 7B (Beck et al. 2025) as transformers has it: the gates capped, no projection up
and down around the memory, no convolution, 1e-6 added to the divisor. Departs from it: one head up to a width of 128;
with `at` what follows the memory is computed at the asked rows only.
"""

import math
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recollect.mixers.mixer import MatrixMixer, Place, rows_at
from recollect.mixers.parts import conv_or_nothing, split_heads
from recollect.ops.forms import pick
from recollect.ops.mlstm import mlstm_matrix
from recollect.spec.mixers.rnn import MLSTMOptions

CAP = 15.0


class MLSTM(MatrixMixer):
    """A gated matrix memory."""

    zoology_rescales: ClassVar[bool] = False
    dynamics: ClassVar[tuple[str, ...]] = ("f_proj",)

    def __init__(self, options: MLSTMOptions, place: Place) -> None:
        super().__init__()
        assert options.n_heads is not None
        assert options.d_key is not None
        self.options, self.n_heads, self.remember = options, options.n_heads, pick("mlstm", place.kernel)
        d, keys = place.d_model, options.n_heads * options.d_key
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d, width, bias=False) for width in (keys, keys, d))
        self.q_conv, self.k_conv, self.v_conv = (
            conv_or_nothing(width, options.d_conv, place.kernel) for width in (keys, keys, d)
        )
        self.i_proj, self.f_proj = (nn.Linear(d, self.n_heads) for _ in range(2))
        self.out_proj = nn.Linear(d, d, bias=False)
        for project in (self.q_proj, self.k_proj, self.v_proj):
            nn.init.normal_(project.weight, std=math.sqrt(2 / (5 * d)))
        nn.init.normal_(self.out_proj.weight, std=2 / (place.n_layers * math.sqrt(d)))
        nn.init.constant_(self.i_proj.bias, -10)
        self.f_proj.bias = nn.Parameter(torch.linspace(3, 6, self.n_heads))
        if options.gate:
            self.gate, self.z_proj = pick("sigmoid_gate", place.kernel), nn.Linear(d, d, bias=False)
        for project in (self.i_proj, self.f_proj, *([self.z_proj] if options.gate else [])):
            nn.init.zeros_(project.weight)
        self.norm_weight = nn.Parameter(torch.ones(d))

    def forward(self, x: Tensor, at: Tensor | None = None) -> Tensor:
        q, k, v, log_i, log_f = self._inputs(x)
        return self.finish(self.remember(q, k, v, log_i, log_f, self.options.chunk, at), rows_at(x, at))

    def mixing(self, x: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v, log_i, log_f = self._inputs(x)
        return mlstm_matrix(q, k, log_i, log_f), v

    def finish(self, y: Tensor, x: Tensor) -> Tensor:
        h = F.layer_norm(y.transpose(1, 2), y.shape[-1:], eps=1e-6).flatten(-2) * self.norm_weight
        out: Tensor = self.out_proj(self.gate(self.z_proj(x), h) if self.options.gate else h)
        return out

    def state_size(self, length: int) -> int:
        """C, n and m of all heads, and the tokens that the convolutions still see."""
        keys, d = self.q_proj.out_features, self.out_proj.in_features
        kept = max(self.options.d_conv - 1, 0)
        return keys * d // self.n_heads + keys + self.n_heads + (2 * keys + d) * kept

    def _inputs(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """q / √K and k (B, H, L, K), v (B, H, L, P), log i and log f (B, H, L)."""
        q, k, v = (
            split_heads(conv(project(x)), self.n_heads)
            for project, conv in ((self.q_proj, self.q_conv), (self.k_proj, self.k_conv), (self.v_proj, self.v_conv))
        )
        log_i, f = (CAP * torch.tanh(project(x) / CAP) for project in (self.i_proj, self.f_proj))
        return q / math.sqrt(q.shape[-1]), k, v, log_i.transpose(1, 2), F.logsigmoid(f).transpose(1, 2)
