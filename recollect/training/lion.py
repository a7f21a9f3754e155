"""Lion: a step of the same length for every number, in the direction of a momentum's sign.

    u = sign(β₁ m + (1 - β₁) g);   θ <- (1 - lr λ) θ - lr u;   m <- β₂ m + (1 - β₂) g

Chen et al. 2023. Torch has none.
"""

from typing import Any

import torch
from torch import Tensor


class Lion(torch.optim.Optimizer):
    """With decoupled weight decay."""

    def __init__(self, groups: list[dict[str, Any]], lr: float, betas: tuple[float, float]) -> None:
        super().__init__(groups, {"lr": lr, "betas": betas, "weight_decay": 0.0})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """One step of every parameter that has a gradient."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    self._move(p, group)

    def _move(self, p: Tensor, group: dict[str, Any]) -> None:
        assert p.grad is not None
        beta1, beta2 = group["betas"]
        momentum = self.state[p].setdefault("momentum", torch.zeros_like(p))
        p.mul_(1 - group["lr"] * group["weight_decay"])
        p.add_(torch.lerp(p.grad, momentum, beta1).sign_(), alpha=-group["lr"])
        momentum.lerp_(p.grad, 1 - beta2)
