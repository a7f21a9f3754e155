"""Linear attention: weights without a softmax, so that the past is one matrix.

    q, k, v = x W_q + b_q, x W_k + b_k, x W_v + b_v          split into H heads of width P = D/H
    w_ij = φ(q_i) · φ(k_j)      for j <= i                     φ = elu + 1 > 0
    y_i = Σ_j w_ij v_j / (Σ_j w_ij + ε);  out = y W_o + b_o

Σ_j φ(k_j) ⊗ v_j and Σ_j φ(k_j) are all that has to be remembered. RoPE turns φ(q) and φ(k) above the line only, so
that the sum below it stays positive.

Katharopoulos et al. 2020; the rotation as in Su et al. 2021. Departs from them: short rows are taken over all pairs.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recollect.mixers.mixer import HeadMixer, Place, rows_at
from recollect.mixers.parts import split_heads, turn
from recollect.ops.forms import pick
from recollect.spec.mixers.linear import LinearAttentionOptions

EPSILON = 1e-6


class LinearAttention(HeadMixer):
    """Attention with the feature map elu + 1, normalised."""

    def __init__(self, options: LinearAttentionOptions, place: Place) -> None:
        super().__init__()
        self.n_heads, self.rope, d = options.n_heads, options.positions == "rope", place.d_model
        self.attend = pick("linear_attention", place.kernel)
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x: Tensor, at: Tensor | None = None) -> Tensor:
        q, k, v = self._branches(x, at)
        if self.rope:
            over = self.attend(*turn(q, k, at), v, at=at)
            under = self.attend(q, k, torch.ones_like(v[..., :1]), at=at)
        else:
            both = self.attend(q, k, F.pad(v, (0, 1), value=1.0), at=at)  # the column of ones gathers Σ_j w_ij
            over, under = both[..., :-1], both[..., -1:]
        return self.finish(over / (under + EPSILON), x)

    def mixing(self, x: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v = self._branches(x, None)
        under = (q @ k.mT).tril().sum(dim=-1, keepdim=True)
        q, k = turn(q, k) if self.rope else (q, k)
        return (q @ k.mT).tril() / (under + EPSILON), v

    def state_size(self, length: int) -> int:
        """The matrix of every head and the sum of its keys."""
        d = self.out_proj.in_features
        return d * d // self.n_heads + d

    def _branches(self, x: Tensor, at: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """φ(q) at the asked rows (B, H, Q, P), φ(k) and v (B, H, L, P)."""
        q, k, v = self.q_proj(rows_at(x, at)), self.k_proj(x), self.v_proj(x)
        q, k, v = (split_heads(y, self.n_heads) for y in (F.elu(q) + 1, F.elu(k) + 1, v))
        return q, k, v
