"""torch's GRU as a mixer: its output is all that is asked for.

recollect check examples/my_gru.py:GRU
recollect train mqar examples/my_gru.py:GRU --lr 3e-3
recollect train mqar attention,examples/my_gru.py:GRU --lr 3e-3        # a hybrid: attention below, a GRU above
"""

from torch import Tensor, nn


class GRU(nn.Module):
    """A recurrent network; the state that it carries along is as wide as the model."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.inner = nn.GRU(d_model, d_model, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        y, _ = self.inner(x)
        return y

    def state_size(self, length: int) -> int:
        """What a table shows; without this method it says unknown."""
        return self.inner.hidden_size
