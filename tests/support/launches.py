"""What a device would be told to do, while nothing is computed.

torch's `meta` device knows shapes only. What asks it for a number (`item`, `numpy`, `nonzero`, a shape that depends on
data) raises, as a GPU would make the host wait there; a tensor on another device is refused here.
"""

from typing import Any

from torch import Tensor

from recollect.training.counts import Counted

COPIES, FROM_NUMPY = ("_to_copy", "copy_"), "lift_fresh"


class Launches(Counted):
    """Counts kernels by the name of their operation; `copies` are the tensors that came from the host."""

    def __init__(self) -> None:
        super().__init__()
        self.copies: list[tuple[int, ...]] = []

    def see(self, name: str, leaves: list[Any]) -> None:
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        here = [tensor for tensor in tensors if not tensor.is_meta]
        if name in COPIES and here and tensors[-1].is_meta:
            self.copies.append(tuple(tensors[-1].shape))
        elif here and name != FROM_NUMPY:
            raise AssertionError(f"{name}: a tensor that is not on the device")
