"""Training: optimiser, schedule, evaluation, and the three stops. One step is a function of the spec and its number."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from recollect.ops.forms import pick
from recollect.ops.precision import autocast
from recollect.spec import RunSpec, TrainSpec
from recollect.tasks import IGNORED, Batch, Supply, Task
from recollect.tasks.streams import derive
from recollect.training.device import trace
from recollect.training.feed import Feed, Rows, place
from recollect.training.learner import Learner
from recollect.training.optimiser import build_optimiser

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


def loss_at(model: Learner, rows: Rows, spec: RunSpec) -> tuple[Tensor, Tensor]:
    """The mean loss over a batch's answers, and which of them are right (B, Q)."""
    with autocast(rows.tokens.device, half=spec.compute.precision == "bf16"):
        features = features_of(model, rows)
    flat, target = features.float().flatten(0, 1), rows.target.flatten()
    if model.head_weight is None:
        loss, right = nn.functional.cross_entropy(flat, target, ignore_index=IGNORED), flat.argmax(dim=-1) == target
    else:
        loss, right = pick("answer_loss", spec.compute.kernel)(flat, model.head_weight, target)
    return loss, right.unflatten(0, rows.target.shape)


def features_of(model: Learner, rows: Rows) -> Tensor:
    """What the head sees at the asked positions (B, Q, D), part by part where the rows come in parts."""
    if not rows.parts:
        return model.features(rows.tokens, rows.at)
    return torch.cat([model.features(rows.tokens[part, :length], rows.at[part]) for part, length in rows.parts])


def tally(right: Tensor, rows: Rows) -> Tensor:
    """How many strings are right in all their answers; an answer may stand alone."""
    if rows.string is None:
        return right.sum()
    wrong = (rows.target != IGNORED) & ~right
    failed = rows.string.new_zeros(len(right), rows.most).scatter_add_(1, rows.string, wrong.long())
    return rows.strings - (failed > 0).sum()


def zeros(device: torch.device, count: int) -> Tensor:
    """Where numbers are added up on the device, exactly; an Apple GPU has single precision only."""
    return torch.zeros(count, dtype=torch.float if device.type == "mps" else torch.double, device=device)


def reseed(seed: int, device: torch.device) -> None:
    """Start torch's generator anew. For devices that nobody uses, torch would write down the whole call stack."""
    if device.type == "cpu":
        torch.default_generator.manual_seed(seed)
    else:
        torch.manual_seed(seed)


class Score(NamedTuple):
    """What an evaluation says; `characters` is the accuracy of single answers where several only count together."""

    loss: float
    accuracy: float
    characters: float | None

    def plain(self) -> dict[str, float | None]:
        """As JSON data."""
        single = {} if self.characters is None else {"character_accuracy": self.characters}
        return {"loss": finite(self.loss), "accuracy": self.accuracy, **single}


def evaluate(model: Learner, batch: Batch, spec: RunSpec) -> Score:
    """Loss and accuracy over a whole set."""
    return score(model, pieces(batch, model.device), spec)


def pieces(batch: Batch, device: torch.device) -> list[Rows]:
    """A set on the device, in parts that are evaluated at once."""
    starts = range(0, len(batch), EVALUATION_ROWS)
    return [place(batch[start : start + EVALUATION_ROWS], device) for start in starts]


def score(model: Learner, parts: Sequence[Rows], spec: RunSpec) -> Score:
    """Loss and accuracy over all parts; the device is asked once, at the end."""
    loss, right, whole = sums(model, parts, spec).tolist()
    answers, strings = sum(rows.answers for rows in parts), sum(rows.strings for rows in parts)
    return Score(loss / answers, whole / strings, None if parts[0].string is None else right / answers)


@torch.no_grad()
def sums(model: Learner, parts: Sequence[Rows], spec: RunSpec) -> Tensor:
    """Of losses, of right answers and of whole strings, over all parts."""
    model.eval()
    total = zeros(model.device, 3)
    for rows in parts:
        loss, right = loss_at(model, rows, spec)
        total += torch.stack((loss.to(total.dtype) * rows.answers, right.sum(), tally(right, rows)))
    model.train()
    return total


class Trainer:
    """One run between two steps: everything a checkpoint has to hold, and the way to the next step."""

    def __init__(self, spec: RunSpec, task: Task, model: Learner) -> None:
        self.spec, self.task, self.model = spec, task, model
        if spec.compute.compile:
            trace(model)
        self.optimiser = build_optimiser(model, spec.train)
        by_prefix = spec.model.by_prefix and not spec.compute.compile
        self.feed = Feed(Supply(task, spec.seed, spec.train.batch_size), model.device, by_prefix)
        self.validation = pieces(task.evaluation("validation", spec.seed), model.device)
        self.parameters = list(model.parameters())
        self.resume(Progress())

    @cached_property
    def test(self) -> list[Rows]:
        """The test rows, for a protocol that stops by them."""
        return pieces(self.task.evaluation("test", self.spec.seed), self.model.device)

    def resume(self, progress: Progress) -> None:
        """Go on from here."""
        self.progress, self.summed = progress, zeros(self.model.device, 2)
        self.summed[0], self.summed[1] = progress.loss_sum, progress.right

    def settle(self) -> None:
        """Ask the device what the steps since the last evaluation add up to; a CPU is asked at every step."""
        self.progress.loss_sum, right = self.summed.tolist()
        self.progress.right = int(right)

    def advance(self) -> Iterator[dict[str, float | None] | None]:
        """Train to a stop; yields the point of every evaluation, and None after other steps."""
        train, progress = self.spec.train, self.progress
        if progress.step == 0 and not progress.curves["step"]:
            yield self.point()
        while not progress.stopped:
            self.step()
            due = progress.step >= train.steps or progress.step % train.eval_every == 0
            if due or self.model.device.type == "cpu":
                self.settle()
            if not math.isfinite(progress.loss_sum) and train.stop_worse is not None:
                progress.stopped = "diverged"
            elif progress.step >= train.steps:
                progress.stopped = "budget"
            yield self.point() if due or progress.stopped else None

    def step(self) -> None:
        """One optimiser step; nothing in it waits for the device."""
        train, progress = self.spec.train, self.progress
        reseed(derive(self.spec.seed, "dropout", progress.step), self.model.device)
        rows = self.feed.rows(progress.step)
        loss, right = loss_at(self.model, rows, self.spec)
        for p in self.parameters:
            p.grad = None
        loss.backward()
        if train.clip is not None:
            nn.utils.clip_grad_norm_(self.parameters, train.clip)
        self.optimiser.step(learning_rate(train, progress.step))
        self.summed += torch.stack((loss.detach().to(self.summed.dtype), tally(right, rows)))
        progress.step += 1
        progress.batches += 1
        progress.answers += rows.strings

    def since(self) -> dict[str, float | None]:
        """Loss and accuracy of the steps since the last point, as far as they are known without asking the device."""
        progress = self.progress
        known = progress.batches > 0 and self.model.device.type == "cpu"
        return {
            "train_loss": finite(progress.loss_sum / progress.batches) if known else None,
            "train_accuracy": progress.right / progress.answers if known and progress.answers else None,
        }

    def point(self) -> dict[str, float | None]:
        """The point of the curves at this step: training since the last one, validation now; may stop the run."""
        progress = self.progress
        loss, accuracy, _ = score(self.model, self.validation, self.spec)
        point: dict[str, float | None] = {
            "train_loss": finite(progress.loss_sum / progress.batches) if progress.batches else None,
            "train_accuracy": progress.right / progress.answers if progress.answers else None,
            "validation_loss": finite(loss),
            "validation_accuracy": accuracy,
        }
        for name, value in {"step": progress.step, **point}.items():
            progress.curves[name].append(value)
        progress.loss_sum, progress.right, progress.answers, progress.batches = 0.0, 0, 0, 0
        self.summed.zero_()
        self._judge(loss, accuracy)
        return point

    def _judge(self, loss: float, accuracy: float) -> None:
        """Stop on success, or on divergence; nothing else ends a run before its budget."""
        train, progress = self.spec.train, self.progress
        first = progress.curves["validation_loss"][0]
        if train.stop_accuracy is not None:
            if train.stop_split == "test":
                accuracy = score(self.model, self.test, self.spec).accuracy
            if accuracy > train.stop_accuracy and progress.stopped != "diverged":
                progress.stopped = "success"
        if train.stop_worse is not None and progress.step > train.warmup_steps:
            progress.worse = 0 if first is not None and loss <= first else progress.worse + 1
            if progress.worse >= train.stop_worse or not math.isfinite(loss):
                progress.stopped = "diverged"


def finite(value: float) -> float | None:
    """The number, or None where it is not finite: JSON has no NaN."""
    return value if math.isfinite(value) else None
