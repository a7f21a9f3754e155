"""Under autocast the projections are half as precise; recurrences, norms and gates stay in full precision."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import Any, TypeVar

import torch
from torch import Tensor

Op = TypeVar("Op", bound=Callable[..., Tensor])


def autocast(device: torch.device, half: bool) -> AbstractContextManager[None]:
    """bfloat16 where matrices are multiplied, or not; a device that only counts shapes knows neither."""
    known = torch.amp.is_autocast_available(device.type)
    return torch.autocast(device.type, torch.bfloat16, enabled=half) if known else nullcontext()


def full(x: Any) -> Any:
    """A half-precision tensor in single precision; anything else as it is."""
    return x.float() if isinstance(x, Tensor) and x.dtype in (torch.bfloat16, torch.float16) else x


def in_full(op: Op) -> Op:
    """The op with its tensors in full precision and autocast off inside."""

    @wraps(op)
    def run(*args: Any, **options: Any) -> Tensor:
        with autocast(args[0].device, half=False):
            return op(*map(full, args), **options)

    return run  # type: ignore[return-value]
