"""Options of recurrent networks with gates."""

from typing import ClassVar, Literal

from recollect.spec.mixers.options import Card, TurnedOptions


class RWKV4Options(TurnedOptions):
    """RWKV-4's time mix: a decaying average of values, weighted by exp(key)."""

    card: ClassVar[Card] = Card("Peng et al. 2023", "4 D", "#56B4E9", "P", ("token_shift", "wkv", "sigmoid_gate"))
    name: Literal["rwkv4"] = "rwkv4"


class LSTMOptions(TurnedOptions):
    """torch's LSTM, the classical baseline."""

    card: ClassVar[Card] = Card("Hochreiter & Schmidhuber 1997", "2 D", "#8C6D31", "*", ("lstm",))
    name: Literal["lstm"] = "lstm"
