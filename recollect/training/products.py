"""Matrix products by oneDNN where torch's own are slow.

torch multiplies by MKL, which leaves the widest vectors of other makers' processors unused. There oneDNN, which torch
carries too, takes less than half of the time; only the rounding differs. Its sizes and speeds: docs/LOG.md.
"""

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.library import Library

from recollect.spec import RunSpec
from recollect.training.processor import flags, maker

LEAST = 2**20
"""Multiplications of a product below which torch's own is there first."""

own_mm: Callable[..., Tensor] = torch.ops.aten.mm.out
own_addmm: Callable[..., Tensor] = torch.ops.aten.addmm.out
onednn: Any = getattr(torch.ops.mkldnn, "_linear_pointwise", None)
"""a bᵀ + c, whose form is the one that torch's own compiler calls."""

replacements: list[Library] = []
"""The one that is in force in this process, if any."""


def set_products(spec: RunSpec) -> None:
    """From now on this process multiplies as is fastest for a spec, whoever asks for a product."""
    if is_faster(spec) and not replacements:
        replacements.append(replaced())
    elif replacements and not is_faster(spec):
        replacements.pop()._destroy()


def is_faster(spec: RunSpec) -> bool:
    """Whether oneDNN is, and the products are torch's to make: what torch.compile makes it makes itself."""
    suits_it = (
        onednn is not None
        and torch.backends.mkldnn.is_available()
        and "avx512f" in flags()
        and maker() != "GenuineIntel"
    )
    return suits_it and spec.compute.device == "cpu" and not spec.compute.compile


def replaced() -> Library:
    """Puts ours in the place of torch's own until it is destroyed."""
    library = Library("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # says no more than that they are replaced
        for name, product in {"mm": mm, "addmm": addmm, "addmm_": addmm_}.items():
            library.impl(name, product, "CPU")
    return library


def mm(a: Tensor, b: Tensor) -> Tensor:
    """a b."""
    if suits(a, b):
        return multiply(a, b)
    return own_mm(a, b, out=a.new_empty(a.shape[0], b.shape[1]))


def addmm(c: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """c + a b."""
    if suits(a, b) and beta == alpha == 1:
        is_bias = c.shape == b.shape[1:] and c.is_contiguous()
        return multiply(a, b, c) if is_bias else multiply(a, b).add_(c)
    return own_addmm(c, a, b, beta=beta, alpha=alpha, out=a.new_empty(a.shape[0], b.shape[1]))


def addmm_(c: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """c += a b."""
    if suits(a, b) and beta == alpha == 1:
        return c.add_(multiply(a, b))
    return own_addmm(c, a, b, beta=beta, alpha=alpha, out=c)


def suits(a: Tensor, b: Tensor) -> bool:
    """Whether they fit, are large enough, in single precision, and lie in memory without gaps."""
    return (
        a.shape[1] == b.shape[0]
        and a.shape[0] * b.numel() >= LEAST
        and a.dtype == b.dtype == torch.float32
        and (b.is_contiguous() or b.t().is_contiguous())
    )


def multiply(a: Tensor, b: Tensor, bias: Tensor | None = None) -> Tensor:
    """oneDNN copies a left factor that does not lie in rows: where both do not, the smaller one is put there."""
    if bias is None and a.numel() > b.numel() and a.t().is_contiguous():
        turned: Tensor = onednn(b.t(), a, None, "none", [], "")
        return turned.t()
    product: Tensor = onednn(a, b.t(), bias, "none", [], "")
    return product
