"""Checkpoints: one safetensors file holds weights, optimiser state and progress, and is replaced whole."""

import json
import os
from pathlib import Path
from typing import Any

from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from recollect.training.model import Model
from recollect.training.trainer import Progress, Trainer

FORMAT = 1


def save(trainer: Trainer, file: Path, seconds: float) -> None:
    """Everything that the next step needs."""
    named = {f"model.{name}": value for name, value in trainer.model.state_dict().items()}
    for index, state in trainer.optimiser.state_dict()["state"].items():
        named |= {f"optimiser.{index}.{key}": value for key, value in state.items()}
    plain = {"format": FORMAT, "run": trainer.spec.id, "seconds": seconds, "progress": trainer.progress.plain()}
    write(named, {"state": json.dumps(plain, allow_nan=True)}, file)


def restore(trainer: Trainer, file: Path) -> float:
    """Put a checkpoint back; the seconds spent before it."""
    named, metadata = read(file)
    plain = json.loads(metadata["state"])
    if plain["format"] != FORMAT or plain["run"] != trainer.spec.id:
        raise ValueError(f"{file}: a checkpoint of another run or format")
    trainer.model.load_state_dict(part(named, "model."))
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in part(named, "optimiser.").items():
        index, _, name = key.partition(".")
        state.setdefault(int(index), {})[name] = value
    whole = trainer.optimiser.state_dict() | {"state": state}
    trainer.optimiser.load_state_dict(whole)
    trainer.progress = Progress(**plain["progress"])
    return float(plain["seconds"])


def save_weights(model: Model, file: Path) -> None:
    """The trained weights alone."""
    write(model.state_dict(), {"format": str(FORMAT)}, file)


def load_weights(model: Model, file: Path) -> None:
    """Put trained weights into a model of the same spec."""
    model.load_state_dict(read(file)[0])


def write(named: dict[str, Tensor], metadata: dict[str, str], file: Path) -> None:
    """Write beside it, flush to the disk, then replace: a reader never sees half a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_suffix(f".{os.getpid()}.tmp")
    save_file({name: value.detach().cpu().contiguous() for name, value in named.items()}, beside, metadata)
    with beside.open("rb+") as handle:
        os.fsync(handle.fileno())
    os.replace(beside, file)


def read(file: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """All tensors and the metadata of a file."""
    with safe_open(file, framework="pt") as handle:
        return {name: handle.get_tensor(name) for name in handle.keys()}, handle.metadata()  # noqa: SIM118


def part(named: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors below a prefix."""
    return {name.removeprefix(prefix): value for name, value in named.items() if name.startswith(prefix)}
