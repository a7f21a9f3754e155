"""Training: optimiser, schedule, evaluation, and the three stops. One step is a function of the spec and its number."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from recollect.mixers.parts import ShortConv
from recollect.ops.forms import pick
from recollect.spec import RunSpec, TrainSpec
from recollect.tasks import IGNORED, Batch, Supply, Task
from recollect.tasks.streams import derive
from recollect.training.model import Model

EVALUATION_ROWS = 512
CURVES = ("step", "train_loss", "train_accuracy", "validation_loss", "validation_accuracy")


@dataclass
class Progress:
    """What a run has to remember between two steps, besides weights and optimiser."""

    step: int = 0
    loss_sum: float = 0.0
    right: int = 0
    answers: int = 0
    batches: int = 0
    worse: int = 0
    stopped: str = ""
    curves: dict[str, list[float | None]] = field(default_factory=lambda: {name: [] for name in CURVES})

    def plain(self) -> dict[str, Any]:
        """As JSON data."""
        return asdict(self)


def learning_rate(train: TrainSpec, step: int) -> float:
    """The rate of a step (0-based): linear warm-up, then cosine, linear or constant, held for `lr_hold` steps."""
    step -= step % train.lr_hold
    if step < train.warmup_steps:
        return train.lr * (step + 1) / train.warmup_steps
    share = (step - train.warmup_steps) / max(1, train.steps - train.warmup_steps)
    match train.schedule:
        case "cosine":
            return train.lr * 0.5 * (1 + math.cos(math.pi * share))
        case "linear":
            return train.lr * (1 - share)
        case "constant":
            return train.lr


def build_optimiser(model: nn.Module, train: TrainSpec) -> torch.optim.AdamW:
    """AdamW, with weight decay on all parameters or on the matrices of projections and convolutions only."""
    decayed: list[Tensor] = list(model.parameters()) if train.decay_scope == "all" else matrices(model)
    chosen = {id(p) for p in decayed}
    rest = [p for p in model.parameters() if id(p) not in chosen]
    groups = [{"params": decayed, "weight_decay": train.weight_decay}, {"params": rest, "weight_decay": 0.0}]
    return torch.optim.AdamW(
        [group for group in groups if group["params"]],
        lr=train.lr,
        betas=(train.beta1, train.beta2),
        eps=train.eps,
        fused=True,
    )


def matrices(model: nn.Module) -> list[Tensor]:
    """The weights of projections and convolutions: no bias, norm, embedding or dynamics."""
    found: list[Tensor] = []
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv1d | ShortConv):
            found.append(module.weight)
        elif isinstance(module, nn.RNNBase):
            found += [p for name, p in module.named_parameters() if name.startswith("weight")]
    return found


def tensors(batch: Batch, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """A batch on the device: tokens (B, L), at (B, Q), target (B, Q)."""
    tokens, at, target = (
        torch.from_numpy(part).to(device, torch.long) for part in (batch.tokens, batch.at, batch.target)
    )
    return tokens, at, target


def loss_at(model: Model, batch: Batch, spec: RunSpec) -> tuple[Tensor, Tensor]:
    """The mean loss over a batch's answers, and which of them are right (B, Q)."""
    device = torch.device(spec.compute.device)
    tokens, at, target = tensors(batch, device)
    with torch.autocast(device.type, torch.bfloat16, enabled=spec.compute.precision == "bf16"):
        features = model.features(tokens, at)
    judge = pick("answer_loss", spec.compute.kernel)
    loss, right = judge(features.float().flatten(0, 1), model.head_weight, target.flatten())
    return loss, right.unflatten(0, target.shape)


def tally(right: Tensor, batch: Batch) -> tuple[int, int]:
    """How many strings are right in all their answers, of how many; an answer may stand alone."""
    asked = batch.target != IGNORED
    if batch.string is None:
        return int(right.sum()), int(asked.sum())
    wrong = asked & ~right.cpu().numpy()
    number = batch.string + np.arange(len(batch))[:, None] * (int(batch.string.max()) + 1)
    return (count := len(np.unique(number[asked]))) - len(np.unique(number[wrong])), count


class Score(NamedTuple):
    """What an evaluation says; `characters` is the accuracy of single answers where several only count together."""

    loss: float
    accuracy: float
    characters: float | None

    def plain(self) -> dict[str, float | None]:
        """As JSON data."""
        single = {} if self.characters is None else {"character_accuracy": self.characters}
        return {"loss": finite(self.loss), "accuracy": self.accuracy, **single}


@torch.no_grad()
def evaluate(model: Model, batch: Batch, spec: RunSpec) -> Score:
    """Loss and accuracy over a whole set."""
    model.eval()
    total, right, answers, whole, strings = 0.0, 0, 0, 0, 0
    for start in range(0, len(batch), EVALUATION_ROWS):
        piece = batch[start : start + EVALUATION_ROWS]
        loss, hits = loss_at(model, piece, spec)
        count = int((piece.target != IGNORED).sum())
        total, right, answers = total + loss.item() * count, right + int(hits.sum()), answers + count
        whole, strings = (a + b for a, b in zip((whole, strings), tally(hits, piece), strict=True))
    model.train()
    return Score(total / answers, whole / strings, None if batch.string is None else right / answers)


class Trainer:
    """One run between two steps: everything a checkpoint has to hold, and the way to the next step."""

    def __init__(self, spec: RunSpec, task: Task, model: Model) -> None:
        self.spec, self.task, self.model = spec, task, model
        self.optimiser = build_optimiser(model, spec.train)
        self.progress = Progress()
        self.supply = Supply(task, spec.seed, spec.train.batch_size)
        self.validation = task.evaluation("validation", spec.seed)
        self.parameters = list(model.parameters())

    def advance(self) -> Iterator[dict[str, float | None] | None]:
        """Train to a stop; yields the point of every evaluation, and None after other steps."""
        train, progress = self.spec.train, self.progress
        if progress.step == 0 and not progress.curves["step"]:
            yield self.point()
        while not progress.stopped:
            finite = self.step()
            if not finite and train.stop_worse is not None:
                progress.stopped = "diverged"
            elif progress.step >= train.steps:
                progress.stopped = "budget"
            due = progress.stopped or progress.step % train.eval_every == 0
            yield self.point() if due else None

    def step(self) -> bool:
        """One optimiser step; False where the loss is not finite."""
        train, progress = self.spec.train, self.progress
        torch.manual_seed(derive(self.spec.seed, "dropout", progress.step))
        batch = self.supply.batch(progress.step)
        loss, right = loss_at(self.model, batch, self.spec)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        if train.clip is not None:
            nn.utils.clip_grad_norm_(self.parameters, train.clip)
        for group in self.optimiser.param_groups:
            group["lr"] = learning_rate(train, progress.step)
        self.optimiser.step()
        value = loss.item()
        progress.step += 1
        progress.batches += 1
        progress.loss_sum += value
        whole, strings = tally(right, batch)
        progress.right += whole
        progress.answers += strings
        return math.isfinite(value)

    def point(self) -> dict[str, float | None]:
        """The point of the curves at this step: training since the last one, validation now; may stop the run."""
        progress = self.progress
        loss, accuracy, _ = evaluate(self.model, self.validation, self.spec)
        point: dict[str, float | None] = {
            "train_loss": finite(progress.loss_sum / progress.batches) if progress.batches else None,
            "train_accuracy": progress.right / progress.answers if progress.answers else None,
            "validation_loss": finite(loss),
            "validation_accuracy": accuracy,
        }
        for name, value in {"step": progress.step, **point}.items():
            progress.curves[name].append(value)
        progress.loss_sum, progress.right, progress.answers, progress.batches = 0.0, 0, 0, 0
        self._judge(loss, accuracy)
        return point

    def _judge(self, loss: float, accuracy: float) -> None:
        """Stop on success, or on divergence; nothing else ends a run before its budget."""
        train, progress = self.spec.train, self.progress
        first = progress.curves["validation_loss"][0]
        if train.stop_accuracy is not None:
            if train.stop_split == "test":
                accuracy = evaluate(self.model, self.task.evaluation("test", self.spec.seed), self.spec).accuracy
            if accuracy > train.stop_accuracy and progress.stopped != "diverged":
                progress.stopped = "success"
        if train.stop_worse is not None and progress.step > train.warmup_steps:
            progress.worse = 0 if first is not None and loss <= first else progress.worse + 1
            if progress.worse >= train.stop_worse or not math.isfinite(loss):
                progress.stopped = "diverged"


def finite(value: float) -> float | None:
    """The number, or None where it is not finite: JSON has no NaN."""
    return value if math.isfinite(value) else None
