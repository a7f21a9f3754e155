"""One side of a comparison: a process of its own, one thread, that builds a step and times it whenever it is told to.

Run by its path with another checkout first on PYTHONPATH, it drives that checkout: nothing is imported from here.

    python benchmarks/side.py ours|plain MIXER FIELDS      a line with a number of steps comes in, its seconds go out

Seconds are the processor's, of this process: what others do on the machine costs it less than on the wall clock.
"""

import json
import resource
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import torch


def find(*places: str) -> Any:
    """`module:name` from the first of these places that this checkout has."""
    for place in places:
        module, _, name = place.partition(":")
        try:
            return getattr(import_module(module), name)
        except ModuleNotFoundError:
            continue
    raise ModuleNotFoundError(f"none of {', '.join(places)}")


def trainer(mixer: str, fields: dict[str, Any]) -> Any:
    """A trainer of this checkout, warmed up."""
    make_spec = find("recollect.spec.compose:make_spec", "recollect.compose:make_spec")
    prepare, initial_model, warm_up = (
        find(f"recollect.training.execute:{name}", f"recollect.execute:{name}")
        for name in ("prepare", "initial_model", "warm_up")
    )
    kind = find("recollect.training.trainer:Trainer", "recollect.train:Trainer")
    spec = make_spec("mqar", mixer, fields, protocol="paper")
    prepare(spec)
    made = kind(spec, find("recollect.tasks:make_task")(spec.task), initial_model(spec))
    warm_up(made)
    return made


def plain(fields: dict[str, Any]) -> Callable[[], object]:
    """A step of the frozen baseline on the same rows, an attention model of the same shape."""
    from benchmarks.plain import PlainModel, plain_step
    from recollect.spec.compose import make_spec
    from recollect.tasks import Supply, make_task

    torch.set_num_threads(1)
    spec = make_spec("mqar", "attention", fields, protocol="paper")
    task, size = make_task(spec.task), spec.model
    model = PlainModel(task.vocab_size, task.length, size.d_model, size.n_layers)
    optimiser = torch.optim.AdamW(model.parameters(), lr=spec.train.lr, weight_decay=spec.train.weight_decay)
    supply, number = Supply(task, spec.seed, spec.train.batch_size), iter(range(10**9))

    def step() -> float:
        batch = supply.batch(next(number))
        tokens, at, target = (torch.from_numpy(part).long() for part in (batch.tokens, batch.at, batch.target))
        labels = torch.full_like(tokens, -100).scatter_(1, at, target)
        return plain_step(model, optimiser, tokens, labels)

    return step


def main(kind: str, mixer: str, fields: str) -> None:
    """Serve until the pipe closes: a number of steps gets seconds a step and memory so far; `bound` gets its bound."""
    torch.manual_seed(0)
    given = json.loads(fields)
    made = None if kind == "plain" else trainer(mixer, given)
    step = plain(given) if made is None else made.step
    step()
    say({"ready": True})
    for line in sys.stdin:
        if line.strip() == "bound":
            say({"seconds": bound_of(made)})
            continue
        start = time.process_time()
        for _ in range(int(line)):
            step()
        say({"seconds": (time.process_time() - start) / int(line), "bytes": peak()})


def bound_of(made: Any) -> float:
    """What its step could take, by the products and the state updates in it."""
    from benchmarks.bound import Products, bound

    with Products() as products:
        made.step()
    spec, rows = made.spec, made.feed.rows(made.progress.step)
    tokens = sum(len(rows.at[part]) * length for part, length in rows.parts) or rows.tokens.numel()
    scans = [mixer for mixer in spec.model.mixers if mixer.name == "mamba"]
    states = sum(mixer.expand * spec.model.d_model * mixer.d_state for mixer in scans)
    return bound(products.seen, states * tokens)


def say(answer: dict[str, Any]) -> None:
    """One line to whoever asked."""
    print(json.dumps(answer), flush=True)


def peak() -> int:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main(*sys.argv[1:])
