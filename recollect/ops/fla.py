"""The delta rules, gated linear attention and SSD by flash-linear-attention's kernels (fla-core 0.6.0's arguments).

They take (B, L, H, ...) where ours take (B, H, L, ...); decays are logarithms in both. Ours come with their scale and
normalisation done, so `scale` is 1 and what these kernels could do besides stays off. States start at 0. They choose
their own chunks. Under autocast they get bfloat16, which they are made for, and the decays in full precision; else
they get what ours would get, and multiply it in TF32 where the device can. The library is imported at the first call.
"""

import torch
from torch import Tensor

from recollect.ops.precision import full, in_full
from recollect.ops.ssd import take


def delta_fla(
    q: Tensor, k: Tensor, v: Tensor, beta: Tensor, g: Tensor | None, chunk: int, at: Tensor | None = None
) -> Tensor:
    """The gated rule, without decay with g = 0: their rule for that refuses single precision."""
    from fla.ops.gated_delta_rule import chunk_gated_delta_rule

    g = torch.zeros_like(beta) if g is None else g
    q, k, v, beta = _theirs(q, k, v, beta)
    return _ours(chunk_gated_delta_rule(q=q, k=k, v=v, g=_decay(g), beta=beta, scale=1.0), at)


def kda_fla(q: Tensor, k: Tensor, v: Tensor, beta: Tensor, g: Tensor, chunk: int, at: Tensor | None = None) -> Tensor:
    """Kimi delta attention."""
    from fla.ops.kda import chunk_kda

    q, k, v, beta = _theirs(q, k, v, beta)
    return _ours(chunk_kda(q=q, k=k, v=v, g=_decay(g), beta=beta, scale=1.0), at)


def dplr_fla(
    q: Tensor, k: Tensor, v: Tensor, g: Tensor, a: Tensor | None, b: Tensor | None, chunk: int, at: Tensor | None = None
) -> Tensor:
    """Without a gated linear attention; with it their general rule, where a reads the state before it has faded."""
    if a is None:
        from fla.ops.gla import chunk_gla

        q, k, v = _theirs(q, k, v)
        return _ours(chunk_gla(q=q, k=k, v=v, g=_decay(g), scale=1.0), at)
    from fla.ops.generalized_delta_rule import chunk_dplr_delta_rule

    q, k, v, a, b = _theirs(q, k, v, a * g.exp(), -k if b is None else b)
    return _ours(chunk_dplr_delta_rule(q=q, k=k, v=v, a=a, b=b, gk=_decay(g), scale=1.0), at)


def ssd_fla(
    x: Tensor, dt: Tensor, g: Tensor, B: Tensor, C: Tensor, D: Tensor | None, chunk: int, at: Tensor | None = None
) -> Tensor:
    """Linear attention with one decay per head, of C, B and Δ x; the skip is added here."""
    from fla.ops.simple_gla import chunk_simple_gla

    B, C = (m.repeat_interleave(x.shape[1] // m.shape[1], dim=1) for m in (B, C))
    q, k, v = _theirs(C, B, dt.unsqueeze(-1) * x)
    y = _ours(chunk_simple_gla(q=q, k=k, v=v, g=_decay(g), scale=1.0), at)
    return y if D is None else y + D[:, None, None] * take(x, at)


@in_full
def trapezoid_fla(
    x: Tensor, dt: Tensor, lam: Tensor, g: Tensor, B: Tensor, C: Tensor, D: Tensor, chunk: int, at: Tensor | None = None
) -> Tensor:
    """What a token sees of those before it: SSD of everything one token late. It sees itself written once."""
    own = lam * dt * (B * C).sum(-1) + D.unsqueeze(-1)  # (B, H, L)
    steps = (_late(lam * dt) + (1 - lam) * dt) * g.exp()
    y = ssd_fla(_late(x), steps, g, _late(B), C, None, chunk, at)
    return torch.addcmul(y, take(own.unsqueeze(-1), at), take(x, at))


def _late(m: Tensor) -> Tensor:
    """m (B, H, L, ...) one token later, 0 at the first."""
    return torch.cat((torch.zeros_like(m[:, :, :1]), m[:, :, :-1]), dim=2)


def _theirs(*given: Tensor) -> tuple[Tensor, ...]:
    """(B, H, L, ...) -> (B, L, H, ...), all of one precision."""
    half = torch.is_autocast_enabled(given[0].device.type)
    return tuple((m.to(torch.bfloat16) if half else full(m)).transpose(1, 2) for m in given)


def _decay(g: Tensor) -> Tensor:
    """The same for a logarithm of a decay, never in half precision."""
    made: Tensor = full(g).transpose(1, 2)
    return made


def _ours(made: tuple[Tensor, Tensor | None], at: Tensor | None) -> Tensor:
    """The outputs (B, L, H, P), of which they return the last state too, as (B, H, L, P), or its rows `at`."""
    return take(full(made[0]).transpose(1, 2), at)
