"""An output gate: y = x ⊙ silu(z)."""

from typing import Any

from numba import njit
from torch import Tensor
from torch.nn import functional as F

from recollect.ops.compiled import FUSED, ONE, differentiable, exp
from recollect.ops.precision import full


def gate_torch(x: Tensor, z: Tensor) -> Tensor:
    """The equation itself. x and z have the same shape."""
    return x * F.silu(z)


def gate_numba(x: Tensor, z: Tensor) -> Tensor:
    """The same on a CPU in one pass over the memory, compiled."""
    return differentiable(_forward, _backward, full(x).flatten(), full(z).flatten()).view(x.shape)


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
