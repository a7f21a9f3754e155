"""Checkpoints: one safetensors file holds weights, optimiser state and progress, and is replaced whole.

Every file carries a digest of all that it holds: what was cut short or altered on the disk is noticed, never used.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from recollect.errors import BadInput
from recollect.training.learner import Learner
from recollect.training.trainer import Progress, Trainer

FORMAT = 2
SHARE = 0.02
"""Of a run's time that its checkpoints may take."""
FIRST, RATE = 0.02, 100e6
"""Seconds and bytes a second of a slow disk: what the first checkpoint is supposed to take."""


class Damaged(BadInput):
    """A file that does not hold what was written to it; the message says which, and how it was found out."""


class Due:
    """When the next checkpoint is due: every so many seconds or, with None, so rarely that all take a share only."""

    def __init__(self, seconds: float | None, n_params: int, now: float) -> None:
        self.seconds, self.start, self.saved, self.spent = seconds, now, now, 0.0
        self.cost = FIRST + 12 * n_params / RATE  # weights and AdamW's two moments

    def at(self, now: float) -> bool:
        """Whether one is due."""
        if self.seconds is not None:
            return now - self.saved >= self.seconds
        return self.spent + self.cost <= SHARE * (now - self.start)

    def took(self, begun: float, ended: float) -> None:
        """One was written; the next will cost the same."""
        self.cost = ended - begun
        self.spent, self.saved = self.spent + self.cost, ended


def save(trainer: Trainer, file: Path, seconds: float) -> None:
    """Everything that the next step needs."""
    trainer.settle()
    named = {f"model.{name}": value for name, value in trainer.model.state_dict().items()}
    named |= {f"optimiser.{name}": value for name, value in trainer.optimiser.state().items()}
    plain = {"format": FORMAT, "run": trainer.spec.id, "seconds": seconds, "progress": trainer.progress.plain()}
    write(named, json.dumps(plain, allow_nan=True), file)


def restore(trainer: Trainer, file: Path) -> float:
    """Put a checkpoint back; the seconds spent before it. The trainer is not touched by one that is damaged."""
    named, state = read(file)
    plain = json.loads(state)
    if plain["format"] != FORMAT or plain["run"] != trainer.spec.id:
        raise Damaged(f"{file}: a checkpoint of another run or version")
    trainer.model.load_state_dict(part(named, "model."))
    trainer.optimiser.load(part(named, "optimiser."))
    trainer.resume(Progress(**plain["progress"]))
    return float(plain["seconds"])


def save_weights(model: Learner, file: Path) -> None:
    """The trained weights alone."""
    write(model.state_dict(), json.dumps({"format": FORMAT}), file)


def load_weights(model: Learner, file: Path) -> None:
    """Put trained weights into a model of the same spec."""
    model.load_state_dict(read(file)[0])


def write(named: Mapping[str, Tensor], state: str, file: Path) -> None:
    """Write beside it, flush to the disk, then replace: a reader never sees half a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_suffix(f".{os.getpid()}.tmp")
    plain = {name: value.detach().cpu().contiguous() for name, value in named.items()}
    save_file(plain, beside, {"state": state, "digest": digest(plain, state)})
    with beside.open("rb+") as handle:
        os.fsync(handle.fileno())
    os.replace(beside, file)


def read(file: Path) -> tuple[dict[str, Tensor], str]:
    """All tensors of a file and the state beside them, as they were written."""
    try:
        with safe_open(file, framework="pt") as handle:
            named = {name: handle.get_tensor(name) for name in handle.keys()}  # noqa: SIM118
            metadata = handle.metadata() or {}
    except (SafetensorError, OSError, ValueError) as error:
        raise Damaged(f"{file}: cannot be read ({' '.join(str(error).split())})") from None
    state, first = metadata.get("state", ""), metadata == {"format": "1"}  # weights of the first version have no digest
    if not first and metadata.get("digest") != digest(named, state):
        raise Damaged(f"{file}: its content is not what was written")
    return named, state


def digest(named: Mapping[str, Tensor], state: str) -> str:
    """A hash of tensors with their names, types and shapes, and of the state beside them."""
    found = hashlib.blake2b(state.encode(), digest_size=16)
    for name, value in sorted(named.items()):
        found.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        found.update(value.reshape(-1).view(torch.uint8).numpy().data)
    return found.hexdigest()


def part(named: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors below a prefix."""
    return {name.removeprefix(prefix): value for name, value in named.items() if name.startswith(prefix)}
