"""Under autocast the projections are half as precise; recurrences, norms and gates stay in full precision."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import torch
from torch import Tensor

Op = TypeVar("Op", bound=Callable[..., Tensor])


def full(x: Any) -> Any:
    """A half-precision tensor in single precision; anything else as it is."""
    return x.float() if isinstance(x, Tensor) and x.dtype in (torch.bfloat16, torch.float16) else x


def in_full(op: Op) -> Op:
    """The op with its tensors in full precision and autocast off inside."""

    @wraps(op)
    def run(*args: Any, **options: Any) -> Tensor:
        with torch.autocast(args[0].device.type, enabled=False):
            return op(*map(full, args), **options)

    return run  # type: ignore[return-value]
