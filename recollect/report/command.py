"""The command that repeats a run: from a complete spec back to the few words that make it."""

import shlex
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import yaml

from recollect.errors import BadInput
from recollect.spec import ForeignOptions, ForeignTaskOptions, MixerOptions, RunSpec, WholeOptions
from recollect.spec.compose import flatten, make_spec
from recollect.spec.names import WHOLE
from recollect.spec.protocols import PROTOCOLS

Flat = dict[str, Any]
FLAGS = {"model.d_model": "--d-model", "model.n_layers": "--n-layers", "train.steps": "--steps"}
ROUNDS = 4
"""Looks at what is still different: a field that is set may move others that follow from it."""


def command(spec: RunSpec) -> str:
    """The command whose run has the same id."""
    found = cell_command(spec)
    if found is not None:
        return f"{found} --lr {spec.train.lr!r} --seed {spec.seed}"
    code = f"from recollect import RunSpec, run; run(RunSpec.model_validate_json({spec.to_json()!r}), 'recollect.db')"
    return shlex.join(["python", "-c", code])


def cell_command(spec: RunSpec) -> str | None:
    """The same for a cell, learning rate and seed being left to append.

    None where no fields on a command line give the spec: layers of one mixer with different options, or a user's file
    that is not where it was or has changed; nor for a user's task, whose code would have to run to know its sizes.
    """
    if isinstance(spec.task, ForeignTaskOptions):
        return None
    mixers = tuple(_name(mixer) for mixer in spec.model.mixers)
    mixers = mixers if isinstance(spec.model.mixer, tuple) else mixers[:1]
    wanted, task = _flat(spec), spec.task.name
    try:
        protocol = min(PROTOCOLS, key=lambda name: _distance(_base(task, mixers, name), wanted))
        given = _overrides(wanted, task, mixers, protocol)
    except BadInput:
        return None
    return None if given is None else _spell(task, mixers, protocol, given)


def _flat(spec: RunSpec) -> Flat:
    """The fields of a cell; options of layers that differ are kept apart by the layer's number."""
    plain = spec.identity()
    mixers = plain["model"].pop("mixer")
    del plain["train"]["lr"], plain["seed"]
    flat = flatten(plain)
    for layer, mixer in enumerate(mixers if isinstance(mixers, list) else [mixers]):
        flat |= {f"model.mixer.{key}@{layer}": value for key, value in mixer.items()}
    return flat


@lru_cache(maxsize=256)
def _base(task: str, mixers: tuple[str, ...], protocol: str) -> Flat:
    return _make(task, mixers, {}, protocol)


def _make(task: str, mixers: tuple[str, ...], given: Flat, protocol: str) -> Flat:
    return _flat(make_spec(task, list(mixers) if len(mixers) > 1 else mixers[0], given, protocol=protocol))


def _distance(base: Flat, wanted: Flat) -> int:
    return sum(base.get(key) != value for key, value in wanted.items())


def _overrides(wanted: Flat, task: str, mixers: tuple[str, ...], protocol: str) -> Flat | None:
    given: Flat = {}
    for _ in range(ROUNDS):
        made = _make(task, mixers, given, protocol) if given else _base(task, mixers, protocol)
        if made == wanted:
            return given
        changed = {key: value for key, value in wanted.items() if key not in made or made[key] != value}
        given |= {key.split("@")[0]: value for key, value in changed.items()}
    return None


def _name(mixer: MixerOptions) -> str:
    mark = WHOLE if isinstance(mixer, WholeOptions) else ""
    if isinstance(mixer, ForeignOptions) and mixer.path:
        return f"{mark}{mixer.path}:{mixer.name.rpartition(':')[2]}"
    return f"{mark}{mixer.name}"


def _spell(task: str, mixers: tuple[str, ...], protocol: str, given: Mapping[str, Any]) -> str:
    words = ["recollect", "train", task, ",".join(mixers)]
    words += [] if protocol == "laptop" else ["--protocol", protocol]
    for key, value in given.items():
        text = yaml.safe_dump(value, default_flow_style=True, width=float("inf")).removesuffix("...\n").strip()
        words += [FLAGS[key], text] if key in FLAGS else ["--set", f"{key}={text}"]
    return shlex.join(words)
