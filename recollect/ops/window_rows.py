"""The rows that are computed of a window's attention when the rows `at` (B, Q) are asked; None means all of them."""

from torch import Tensor

from recollect.ops.window_attention import blocks_pay


def window_rows_loop(at: Tensor | None, window: int) -> Tensor | None:
    """Those that are asked."""
    return at


def window_rows_torch(at: Tensor | None, window: int) -> Tensor | None:
    """The same, but all rows where so many are asked that the blocks of `window_attention_torch` pay."""
    return None if at is None or blocks_pay(at.shape[1], window) else at
