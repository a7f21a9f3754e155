"""The recurrence of the LSTM (its equations: `mixers.lstm`)."""

from torch import Tensor, nn

from recollect.ops.precision import in_full


@in_full
def lstm_torch(x: Tensor, cell: nn.LSTM) -> Tensor:
    """All h_t (B, L, D) of x (B, L, D): torch's own, as torch computes it where it runs."""
    h: Tensor = cell(x)[0]
    return h
