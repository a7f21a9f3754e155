"""Forward and backward of every mixer against others' implementations, its own loop, and DeltaNet as a yardstick.

One thread, the same weights, the compared sides taking turns; the table shows how many times faster ours is.
    python -m benchmarks.mixers [NAME ...]
"""

import logging
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.timing import take_turns
from recollect.mixers import Mixer, build_mixer
from recollect.spec import MIXERS
from recollect.training.execute import keep_heap

BATCH, WIDTH, LENGTHS, ROUNDS, YARDSTICK = 64, 64, (64, 256), 3, "deltanet"
Make = Callable[[Any], Callable[[Tensor], Tensor]]


@dataclass(frozen=True)
class Rival:
    """Somebody else's implementation, carrying our weights."""

    name: str
    make: Make


def rivals(mixer: str) -> list[Rival]:
    """Who does the same thing, on this CPU."""
    if mixer == "mamba":
        from tests.support.oracles.mamba import mambapy_mamba, transformers_mamba

        return [Rival("transformers", transformers_mamba), Rival("mambapy", mambapy_mamba)]
    if mixer == "mamba2":
        from tests.support.oracles.mamba2 import transformers_mamba2

        return [Rival("transformers", transformers_mamba2)]
    if mixer == "rwkv4":
        from tests.support.oracles.rwkv4 import time_mix

        return [Rival("transformers", lambda ours: first(time_mix(ours)))]
    if mixer == "gated_deltanet":
        from tests.support.oracles.delta import transformers_layer

        return [Rival("transformers", transformers_layer)]
    if mixer == "kda":
        from tests.support.oracles.layers import transformers_kda

        return [Rival("transformers", transformers_kda)]
    if mixer == "attention":
        return [Rival("torch MHA", multihead)]
    return []


def first(module: nn.Module) -> Callable[[Tensor], Tensor]:
    """A module that returns (output, state), as one that returns the output."""

    def call(x: Tensor) -> Tensor:
        y: Tensor = module(x)[0]
        return y

    return call


def multihead(ours: Mixer) -> Callable[[Tensor], Tensor]:
    """torch.nn.MultiheadAttention; its weights do not matter to its speed."""
    module = nn.MultiheadAttention(WIDTH, 1, batch_first=True)

    def call(x: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        y: Tensor = module(x, x, x, attn_mask=mask, need_weights=False)[0]
        return y

    return call


def there_and_back(module: Callable[[Tensor], Tensor], length: int) -> Callable[[], object]:
    """Forward and backward on the same input."""
    x = torch.randn(BATCH, length, WIDTH, requires_grad=True)
    weights = torch.randn(BATCH, length, WIDTH)

    def call() -> None:
        (module(x) * weights).sum().backward()
        x.grad = None

    return call


def compare(name: str, length: int) -> None:
    """One line: our milliseconds, and the ratio to each rival, to DeltaNet and to the loop."""
    torch.manual_seed(0)
    ours = build_mixer(name, d_model=WIDTH, length=length)
    sides: dict[str, Callable[[Tensor], Tensor]] = {"ours": ours}
    sides |= {rival.name: rival.make(ours) for rival in rivals(name)}
    if name != YARDSTICK:
        sides["DeltaNet"] = build_mixer(YARDSTICK, d_model=WIDTH, length=length)
    torch.manual_seed(0)
    sides["our loop"] = build_mixer(name, d_model=WIDTH, length=length, kernel="loop")
    seconds = take_turns({side: there_and_back(call, length) for side, call in sides.items()}, ROUNDS, warm_up=1)
    show(name, length, seconds)


def compare_delta(gated: bool, length: int) -> None:
    """The delta rule alone, without projections."""
    from recollect.ops.delta import delta_numba
    from tests.support.oracles.delta import fla_delta, fla_gated_delta, transformers_delta

    torch.manual_seed(0)
    q, k, v = (nn.functional.normalize(torch.randn(BATCH, 1, length, WIDTH), dim=-1).requires_grad_() for _ in range(3))
    beta = torch.rand(BATCH, 1, length, requires_grad=True)
    g = -torch.rand(BATCH, 1, length) if gated else None
    sides: dict[str, Callable[[], Tensor]] = {
        "ours": lambda: delta_numba(q, k, v, beta, g, 64),
        "transformers": lambda: transformers_delta(q, k, v, beta, g),
        "fla's recurrence": lambda: fla_delta(q, k, v, beta) if g is None else fla_gated_delta(q, k, v, beta, g),
    }
    calls = {name: lambda made=made: made().sum().backward() for name, made in sides.items()}
    seconds = take_turns(calls, ROUNDS, warm_up=1)
    show(f"delta rule{', gated' if gated else ''}", length, seconds)


def show(name: str, length: int, seconds: dict[str, float]) -> None:
    """One line of the table."""
    ratios = "  ".join(f"{side} {value / seconds['ours']:.2f}x" for side, value in seconds.items() if side != "ours")
    print(f"{name:18} L={length:<4} ours {seconds['ours'] * 1e3:6.1f} ms   {ratios}", flush=True)


def main() -> None:
    """All mixers, or those named."""
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    keep_heap()
    torch.set_num_threads(1)
    print(f"forward + backward, B={BATCH} d={WIDTH}, one thread, fp32; a rival's ratio is its time over ours")
    for name in sys.argv[1:] or MIXERS:
        for length in LENGTHS:
            compare(name, length)
            if name.endswith("deltanet"):
                compare_delta(name.startswith("gated"), length)


if __name__ == "__main__":
    main()
