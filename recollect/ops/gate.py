"""An output gate: y = x ⊙ silu(z)."""

from typing import Any

import torch
from numba import njit
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from recollect.ops.compiled import FUSED, ONE, exp
from recollect.ops.precision import full


def gate_torch(x: Tensor, z: Tensor) -> Tensor:
    """The equation itself. x and z have the same shape."""
    return x * F.silu(z)


def gate_numba(x: Tensor, z: Tensor) -> Tensor:
    """The same on a CPU in one pass over the memory, compiled."""
    y: Tensor = _Gate.apply(full(x), full(z))
    return y


class _Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, z: Tensor) -> Tensor:
        x, z = x.contiguous(), z.contiguous()
        ctx.save_for_backward(x, z)
        y = torch.empty_like(x)
        _forward(x.view(-1).numpy(), z.view(-1).numpy(), y.view(-1).numpy())
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, Tensor]:
        x, z = ctx.saved_tensors
        dx, dz = torch.empty_like(x), torch.empty_like(z)
        _backward(*(m.view(-1).numpy() for m in (dy.contiguous(), x, z, dx, dz)))
        return dx, dz


@njit(cache=True, fastmath=FUSED, error_model="numpy")
def _forward(x: Any, z: Any, y: Any) -> None:
    for i in range(len(x)):
        y[i] = x[i] * z[i] / (ONE + exp(-z[i]))


@njit(cache=True, fastmath=FUSED, error_model="numpy")
def _backward(dy: Any, x: Any, z: Any, dx: Any, dz: Any) -> None:
    for i in range(len(x)):
        s = ONE / (ONE + exp(-z[i]))
        dx[i] = dy[i] * z[i] * s
        dz[i] = dy[i] * x[i] * s * (ONE + z[i] * (ONE - s))
