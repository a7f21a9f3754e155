"""What a device would be told to do: every operation that would start a kernel, counted while nothing is computed.

torch's `meta` device knows shapes only. What asks it for a number (`item`, `numpy`, `nonzero`, a shape that depends on
data) raises, as a GPU would make the host wait there; a tensor on another device is refused here.
"""

from collections import Counter
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

COPIES, FROM_NUMPY = ("_to_copy", "copy_"), "lift_fresh"
NO_KERNEL = ("_unsafe_view", "profiler::", "empty", "detach", FROM_NUMPY, "alias", "resize", "set_")


class Launches(TorchDispatchMode):
    """Counts kernels by the name of their operation; `copies` are the tensors that came from the host."""

    def __init__(self) -> None:
        super().__init__()
        self.kernels: Counter[str] = Counter()
        self.copies: list[tuple[int, ...]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        name = func._schema.name.removeprefix("aten::")
        here = [leaf for leaf in tree_leaves((args, kwargs, made)) if isinstance(leaf, Tensor) and not leaf.is_meta]
        if name in COPIES and here and made.is_meta:
            self.copies.append(tuple(made.shape))
        elif here and name != FROM_NUMPY:
            raise AssertionError(f"{name}: a tensor that is not on the device")
        if not func.is_view and not name.startswith(("new_empty", *NO_KERNEL)):
            self.kernels[name] += 1
        return made

    @property
    def count(self) -> int:
        """All of them."""
        return self.kernels.total()
