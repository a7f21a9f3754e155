"""Based: linear attention with the second Taylor polynomial of exp, and a small window of softmax beside it.

    q, k = x W_q, x W_k        H heads of width F;         v = x W_v      H heads of width P = D/H
    w_ij = 1 + a + a²/2        a = q_i · k_j/√F, j <= i;   never below 1/2
    y_i = Σ_j w_ij v_j / Σ_j w_ij;  out = y W_o

w = φ(q) · φ(k) with φ(x) = [1, x/F^(1/4), vec(x xᵀ)/√(2F)]: the past is a matrix of 1 + F + F² rows and the same
number of sums. With a window of W tokens, softmax attention over the last W joins in, with queries and keys of its
own, heads of width P, and the same values and output:

    out = (y + softmax(q' k'ᵀ/√P over i - W < j <= i) v) W_o

RoPE turns q, k and q', k'. Arora et al. 2024. Departs from it: no ε below the line (the sum is at least 1/2), the
window is a branch of the same layer instead of a layer, no convolution inside, short rows are taken over all pairs.
"""

from torch import Tensor, nn
from torch.nn import functional as F

from recollect.mixers.mixer import HeadMixer, Place, rows_at
from recollect.mixers.parts import split_heads, turn
from recollect.ops.forms import pick
from recollect.ops.linear_attention import TAYLOR
from recollect.ops.window_attention import window_weights
from recollect.spec.mixers.linear import BasedOptions


class Based(HeadMixer):
    """Taylor linear attention, with or without a sliding window."""

    zoology_rescales = False

    def __init__(self, options: BasedOptions, place: Place) -> None:
        super().__init__()
        assert options.d_feature is not None
        self.n_heads, self.d_feature, self.window = options.n_heads, options.d_feature, options.window
        self.rope, d = options.positions == "rope", place.d_model
        self.attend = pick("linear_attention", place.kernel)
        self.q_proj, self.k_proj = (nn.Linear(d, self.n_heads * self.d_feature, bias=False) for _ in range(2))
        self.v_proj, self.out_proj = (nn.Linear(d, d, bias=False) for _ in range(2))
        if self.window:
            self.window_q_proj, self.window_k_proj = (nn.Linear(d, d, bias=False) for _ in range(2))
            self.attend_window = pick("window_attention", place.kernel)

    def forward(self, x: Tensor, at: Tensor | None = None) -> Tensor:
        v = split_heads(self.v_proj(x), self.n_heads)
        both = self.attend(*self._queries_keys(x, at), F.pad(v, (0, 1), value=1.0), TAYLOR, at)  # ones gather Σ_j w_ij
        y = both[..., :-1] / both[..., -1:]
        if self.window:
            y = y + self.attend_window(*self._queries_keys(x, at, window=True), v, self.window, at)
        return self.finish(y, x)

    def mixing(self, x: Tensor) -> tuple[Tensor, Tensor]:
        w = TAYLOR.weights(*self._queries_keys(x, None)).tril()
        M = w / w.sum(dim=-1, keepdim=True)
        if self.window:
            M = M + window_weights(*self._queries_keys(x, None, window=True), self.window)
        return M, split_heads(self.v_proj(x), self.n_heads)

    def state_size(self, length: int) -> int:
        """The matrix and the sums of every head, and the window's keys and values."""
        d, kept = self.out_proj.in_features, min(length, max(0, self.window - 1))
        return TAYLOR.size(self.d_feature) * (d + self.n_heads) + 2 * kept * d

    def _queries_keys(self, x: Tensor, at: Tensor | None, window: bool = False) -> tuple[Tensor, Tensor]:
        """q (B, H, Q, F) at the asked rows and k (B, H, L, F), or q' and k' of the window; RoPE may turn them."""
        q_proj, k_proj = (self.window_q_proj, self.window_k_proj) if window else (self.q_proj, self.k_proj)
        q, k = split_heads(q_proj(rows_at(x, at)), self.n_heads), split_heads(k_proj(x), self.n_heads)
        return turn(q, k, at) if self.rope else (q, k)
