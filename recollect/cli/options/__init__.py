"""Options that several commands share."""

import math
import os
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Literal, get_origin

import yaml
from cyclopts import Parameter, Token

from recollect.cli.display.console import tell
from recollect.errors import BadInput
from recollect.spec.compose import flatten
from recollect.spec.files import Plain, read_mapping
from recollect.spec.names import WHOLE


def whole(kind: Any, tokens: Sequence[Token]) -> Any:
    """A whole number, or several; cyclopts alone would round 2.5 to 2."""
    try:
        found = [int(token.value) for token in tokens]
    except ValueError:
        given = " ".join(token.value for token in tokens)
        raise ValueError(f"a whole number is needed (got '{given}')") from None
    return tuple(found) if get_origin(kind) is tuple else found[0]


def positive(_: Any, value: float | None) -> None:
    """Refuse what is no length of time: zero, less, nan, infinite."""
    if value is not None and not 0 < value < math.inf:
        raise ValueError("must be above 0 and finite")


StorePath = Annotated[Path, Parameter(name=["--store"], help="the store's file")]
Sets = Annotated[
    tuple[str, ...],
    Parameter(
        name=["--set"],
        negative=(),
        help="any field of the spec, as task.length=64 or model.mixer.n_heads=2; may be repeated",
    ),
]
Noncausal = Annotated[
    bool, Parameter(name=["--allow-noncausal"], negative=(), help="train a mixer that looks ahead; figures say so")
]
CheckpointSeconds = Annotated[
    float | None,
    Parameter(
        validator=positive,
        help="between two checkpoints of a run; by default so rarely that they take 2 % of its time at most",
    ),
]
Probe = Annotated[
    bool,
    Parameter(
        name=["--probe"],
        negative=(),
        help="look inside while it trains and keep what is seen; a finished run that lacks it is trained again",
    ),
]
Diagnostics = Annotated[
    bool,
    Parameter(
        name=["--diagnostics"],
        negative=(),
        help="with --probe: also gradient norms, sizes of steps and the sharpness of the loss, which take their time",
    ),
]
Like = Annotated[
    str, Parameter(help="give a mixer of yours the exceptions that the protocol makes for this one (positions, block)")
]
WholeModel = Annotated[
    str | None,
    Parameter(
        help="a whole model instead of mixers: `path/to/file.py:build`, from token ids to logits or hidden states"
    ),
]
Logs = Annotated[
    tuple[Literal["tensorboard", "wandb"], ...],
    Parameter(
        name=["--log"], negative=(), help="also pass curves on to these (extras to be installed); may be repeated"
    ),
]
Force = Annotated[bool, Parameter(negative=(), help="train what this machine seems too small for")]
Json = Annotated[bool, Parameter(name=["--json"], negative=(), help="print one JSON object and nothing else")]


def read_sets(sets: tuple[str, ...]) -> dict[str, Any]:
    """task.length=64 -> {'task.length': 64}, values read as YAML."""
    out: dict[str, Any] = {}
    for text in sets:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise BadInput(f"--set: write field=value (got '{text}')")
        if key.strip() in out:
            raise BadInput(f"--set {key.strip()}: given twice; leave one out")
        try:
            out[key.strip()] = yaml.load(value, Plain)
        except (yaml.YAMLError, ValueError, RecursionError):
            raise BadInput(f"--set {key}: cannot read the value '{value[:80]}'") from None
    return out


def overrides(short: Mapping[str, Any], sets: tuple[str, ...], file: Path | None = None) -> dict[str, Any]:
    """The fields that a user gives: by a file, over it by options (None: not given) or by --set, by one of the two."""
    given, added = {key: value for key, value in short.items() if value is not None}, read_sets(sets)
    for key in given.keys() & added.keys():
        raise BadInput(f"--set {key}={added[key]}: an option gives it already, as {given[key]}; leave one out")
    return (flatten(read_mapping(file, "'train.lr: 1e-3'")) if file is not None else {}) | given | added


def one_model(mixer: str | None, model: str | None) -> str | list[str]:
    """The mixer that is meant, the mixers of a hybrid, or a whole model."""
    if (mixer is None) == (model is None):
        raise BadInput("name a mixer (`recollect list mixers`) or a whole model (--model file.py:build), one of them")
    if model is not None:
        return f"{WHOLE}{model}"
    assert mixer is not None
    return mixer.split(",") if "," in mixer else mixer


def check_folder(out: Path) -> None:
    """Refuse a place for figures that is a file, or lies in one."""
    there = next((place for place in (out, *out.parents) if os.path.lexists(place)), out)
    if not there.is_dir():
        raise BadInput(f"--out: {there} is not a directory")


def check_dry(dry_run: bool, json_: bool) -> None:
    """Refuse to print as JSON what is not known before it is done."""
    if dry_run and json_:
        raise BadInput("--json: a dry run has no results to print; leave out --json or --dry-run")


def print_figure(files: Sequence[Path]) -> None:
    """Say where each figure is, and in which other formats."""
    for _, formats in groupby(files, key=lambda file: file.stem):
        first, *others = formats
        tell(f"figure: {first} (also {', '.join(file.suffix[1:] for file in others)})")
