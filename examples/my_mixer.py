"""A mixer of one's own: any nn.Module (B, L, D) -> (B, L, D) that looks only back.

recollect check examples/my_mixer.py:GatedAverage
recollect train mqar examples/my_mixer.py:GatedAverage --lr 3e-3 --set model.mixer.decay=0.8
"""

import torch
from torch import Tensor, nn


class GatedAverage(nn.Module):
    """A decaying average of the past, gated by the current token.

    s_t = a s_{t-1} + (1 - a) W_v x_t,  a = decay;  y_t = W_o (s_t ⊙ σ(W_g x_t))
    """

    def __init__(self, d_model: int, decay: float = 0.9) -> None:
        super().__init__()
        self.decay = decay
        self.value, self.gate, self.out_proj = (nn.Linear(d_model, d_model) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        t = torch.arange(x.shape[1], dtype=x.dtype, device=x.device)
        weights = (self.decay ** (t.unsqueeze(1) - t).clamp(min=0)).tril() * (1 - self.decay)  # (L, L)
        return self.out_proj(weights @ self.value(x) * self.gate(x).sigmoid())
