"""Named presets of how to train, with every field set but those that came later (`LATER`), which have their default.

A protocol is a flat table of dotted fields plus exceptions (`When`). Some entries are shorthands that end as numbers
in the spec: `train.epochs` (-> steps), `train.warmup` (a share of the steps), and the value "epoch" of
`train.eval_every` and `train.lr_hold`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from recollect.spec.registry import Registry
from recollect.spec.tasks import TASKS
from recollect.spec.tasks.strings import StringOptions

Fields = Mapping[str, Any]
MAMBAS = ("mamba", "mamba2")
STRINGS = tuple(name for name, kind in TASKS.items() if issubclass(kind, StringOptions))


@dataclass(frozen=True)
class When:
    """An exception: where `key` has one of the values (in these tasks, or in all), these fields differ."""

    key: str
    values: tuple[Any, ...]
    then: Fields
    tasks: tuple[str, ...] = ()

    def __str__(self) -> str:
        tasks = f" and task in {', '.join(self.tasks)}" if self.tasks else ""
        return f"{self.key} in {', '.join(map(str, self.values))}{tasks}"


@dataclass(frozen=True)
class Protocol:
    """How to train, named."""

    name: str
    about: str
    fields: Fields
    exceptions: tuple[When, ...] = ()
    lrs: tuple[float, ...] = field(default=())
    seeds: tuple[int, ...] = field(default=(42, 123, 777))

    def rows(self) -> dict[str, str]:
        """Every field and exception as text, for `recollect protocols diff`."""
        rows = {key: str(value) for key, value in self.fields.items()}
        for when in self.exceptions:
            rows |= {f"{key} [{when}]": str(value) for key, value in when.then.items()}
        lrs = ", ".join(f"{lr:g}" for lr in self.lrs) or "not printed"
        return rows | {"learning rates": lrs, "seeds": ", ".join(map(str, self.seeds))}


_COMPUTE = {"compute.device": "cpu", "compute.precision": "fp32", "compute.threads": 1, "compute.kernel": "numba"}
_ADAMW = {
    "train.weight_decay": 0.1,
    "train.decay_scope": "all",
    "train.beta1": 0.9,
    "train.beta2": 0.999,
    "train.eps": 1e-8,
}
_RECALL = {"task.length": 64, "task.n_pairs": 4, "task.vocab_size": 8192, "task.power_a": 0.01, "task.filler": "zero"}
_STRINGS = {
    "task.n_letters": 26,
    "task.min_length": 5,
    "task.max_length": 20,
    "task.context": 220,
    "task.n_gram": 2,
    "task.eval_lengths": (5, 10, 15, 20, 30, 50, 100),
    "task.eval_rows": 200,
    "task.eval_duplicates": (2,),
}
_LEARNED = When("model.mixer", ("attention", "sliding_attention", "based"), {"model.positions": "learned"})
_OWN_BLOCK = When("model.mixer", MAMBAS, {"model.block": "mamba"})

PAPER = Protocol(
    name="paper",
    about="Revisiting associative recall in modern recurrent models, full version; the unsaid is our reading; "
    "its copying follows `jelassi`",
    fields={
        **_RECALL,
        **_STRINGS,
        "task.vocabulary": "shared",
        "task.rows": 100_000,
        "task.shuffle": True,
        "task.validation_rows": 3000,
        "task.test_rows": 3000,
        "model.d_model": 64,
        "model.n_layers": 2,
        "model.block": "mixer+mlp",
        "model.mlp": "gelu",
        "model.mlp_expansion": 4,
        "model.positions": "none",
        "model.dropout": 0.0,
        "model.tied_head": True,
        "model.init": "native",
        "train.lr": 1e-3,
        "train.epochs": 50,
        "train.batch_size": 512,
        "train.warmup": 0.1,
        "train.schedule": "cosine",
        "train.lr_hold": 1,
        **_ADAMW,
        "train.clip": None,
        "train.eval_every": "epoch",
        "train.stop_accuracy": None,
        "train.stop_split": "validation",
        "train.stop_worse": None,
        **_COMPUTE,
        "seed": 42,
    },
    exceptions=(
        _LEARNED,
        _OWN_BLOCK,
        When("task.length", (256,), {"train.batch_size": 256}),
        When("task.length", (512,), {"train.batch_size": 128}),
    ),
    seeds=(42, 123, 777, 456, 789),
)

WORKSHOP = Protocol(
    name="paper-workshop",
    about="the same work's workshop version: 100 epochs, three seeds",
    fields={**PAPER.fields, "train.epochs": 100},
    exceptions=PAPER.exceptions,
    seeds=(42, 123, 777),
)

ZOOLOGY = Protocol(
    name="zoology",
    about="Zoology's figure-2 grid (Arora et al. 2023): no MLP, split vocabulary, its own initialisation, no warm-up",
    fields={
        **PAPER.fields,
        "task.vocabulary": "split",
        "task.shuffle": False,
        "model.block": "mixer",
        "model.dropout": 0.1,
        "model.init": "zoology-legacy",
        "train.epochs": 64,
        "train.warmup": 0.0,
        "train.lr_hold": "epoch",
        "train.stop_accuracy": 0.99,
        "train.stop_split": "test",
    },
    exceptions=(
        When("model.mixer", ("attention", "sliding_attention"), {"model.positions": "learned"}),
        When("model.mixer", ("attention",), {"model.mixer.dropout": 0.1}),
        When("model.mixer", MAMBAS, {"model.block": "mamba", "model.dropout": 0.0}),
        *PAPER.exceptions[2:],
    ),
    lrs=(1e-4, 4.64e-4, 2.15e-3, 1e-2),
    seeds=(123,),
)

LAPTOP_SPLIT = Protocol(
    name="laptop-split",
    about="minutes on two cores: a small vocabulary in halves for keys and values, fresh rows, no MLP, stop on success",
    fields={
        **{key: value for key, value in PAPER.fields.items() if key != "train.epochs"},
        "task.length": 32,
        "task.n_pairs": 8,
        "task.vocab_size": 64,
        "task.vocabulary": "split",
        "task.rows": "fresh",
        "task.validation_rows": 500,
        "task.test_rows": 2000,
        "task.max_length": 15,
        "task.context": 64,
        "task.eval_lengths": (5, 10, 15, 20, 30, 50),
        "model.block": "mixer",
        "train.steps": 2000,
        "train.batch_size": 64,
        "train.clip": 1.0,
        "train.eval_every": 250,
        "train.stop_accuracy": 0.99,
        "train.stop_worse": 5,
    },
    exceptions=(
        When("model.mixer", ("attention", "sliding_attention"), {"model.positions": "learned"}),
        When(
            "model.mixer",
            ("attention",),
            {"model.positions": "none", "model.mixer.positions": "rope", "model.mixer.n_heads": 4},
            tasks=STRINGS,
        ),
        _OWN_BLOCK,
    ),
)

LAPTOP = Protocol(
    name="laptop",
    about="`laptop-split` with one vocabulary for keys and values, as the paper's text has it, and twice the steps",
    fields={**LAPTOP_SPLIT.fields, "task.n_pairs": 4, "task.vocabulary": "shared", "train.steps": 4000},
    exceptions=LAPTOP_SPLIT.exceptions,
)

JELASSI = Protocol(
    name="jelassi",
    about="Repeat after me (Jelassi et al. 2024): 12 x 1024, strings of 5 to 20 letters, 2,000 steps at one low rate; "
    "the unsaid is our reading",
    fields={
        **{key: value for key, value in LAPTOP_SPLIT.fields.items() if key != "train.warmup"},
        **_RECALL,
        **_STRINGS,
        "model.d_model": 1024,
        "model.n_layers": 12,
        "model.block": "mixer+mlp",
        "train.lr": 1e-5,
        "train.steps": 2000,
        "train.batch_size": 8,
        "train.warmup_steps": 100,
        "train.schedule": "linear",
        "train.stop_accuracy": None,
        "train.stop_worse": None,
    },
    exceptions=(
        When("model.mixer", ("attention",), {"model.mixer.n_heads": 16, "model.mixer.positions": "rope"}),
        When("model.mixer", MAMBAS, {"model.block": "mamba", "model.mixer.d_state": 32}),
        When("model.mixer", ("lstm",), {"model.block": "mixer"}),
    ),
    lrs=(1e-5,),
)

PROTOCOLS: Registry[str, Protocol] = Registry(
    "protocol", ((protocol.name, protocol) for protocol in (LAPTOP, LAPTOP_SPLIT, PAPER, WORKSHOP, ZOOLOGY, JELASSI))
)
