"""The LSTM, the classical recurrent baseline: torch's, with one layer of width D, and a projection of its output.

    i, f, o = σ(W x_t + U h_{t-1} + b), one each;   g = tanh(W_g x_t + U_g h_{t-1} + b_g)
    c_t = f ⊙ c_{t-1} + i ⊙ g;   h_t = o ⊙ tanh(c_t);   out = W_o h_t + b_o

Not linear in its values, so that it has no mixing matrix, and one form only, torch's own.

Hochreiter & Schmidhuber 1997, with the forget gate of Gers et al. 2000. Departs from them: the projection W_o;
positions="rope" turns the input; torch's initialisation U(±1/√D), which leaves the forget gate half open.
"""

from torch import Tensor, nn

from recollect.mixers.mixer import Mixer, Place, rows_at
from recollect.ops.forms import pick
from recollect.ops.rotary import rotate
from recollect.spec.mixers.rnn import LSTMOptions


class LSTM(Mixer):
    """torch.nn.LSTM and an output projection."""

    def __init__(self, options: LSTMOptions, place: Place) -> None:
        super().__init__()
        self.rotated, self.run = options.positions == "rope", pick("lstm", place.kernel)
        self.lstm = nn.LSTM(place.d_model, place.d_model, batch_first=True)
        self.out_proj = nn.Linear(place.d_model, place.d_model)

    def forward(self, x: Tensor, at: Tensor | None = None) -> Tensor:
        h = self.run(rotate(x) if self.rotated else x, self.lstm)
        out: Tensor = self.out_proj(rows_at(h, at))
        return out

    def state_size(self, length: int) -> int:
        """h and c."""
        return 2 * self.lstm.hidden_size
