"""The selective scan by mamba-ssm's kernel and the short convolution by causal-conv1d's.

Both take channels before time, (B, C, L). Steps come positive and with their bias, so what the scan could do besides
(the softplus, the gate) stays off. The convolution reads channels that lie side by side in memory, as they come, if
there is a multiple of 8 of them. The libraries are imported at the first call.
"""

from torch import Tensor

from recollect.errors import BadInput

TAPS = (2, 4)
"""The fewest and the most that causal-conv1d has."""


def selective_scan_mamba_ssm(x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, D: Tensor) -> Tensor:
    """B and C of all channels alike, as (B, N, L)."""
    from mamba_ssm.ops.selective_scan_interface import selective_scan_fn

    u, delta, B, C = (m.transpose(1, 2) for m in (x, dt, B, C))
    y: Tensor = selective_scan_fn(u=u, delta=delta, A=A, B=B, C=C, D=D)
    return y.transpose(1, 2)


def causal_conv_mamba_ssm(x: Tensor, weight: Tensor, bias: Tensor | None = None, silu: bool = False) -> Tensor:
    """Weights are (C, K) there too, the last tap the current token's."""
    from causal_conv1d import causal_conv1d_fn

    fewest, most = TAPS
    if not fewest <= weight.shape[1] <= most:
        raise BadInput(f"compute.kernel: causal-conv1d has {fewest} to {most} taps (got {weight.shape[1]}); use torch")
    x = x.to(weight.dtype).contiguous().transpose(1, 2)
    x = x.contiguous() if x.shape[1] % 8 else x
    y: Tensor = causal_conv1d_fn(x=x, weight=weight, bias=bias, activation="silu" if silu else None)
    return y.transpose(1, 2)
