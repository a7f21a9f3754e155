"""Listeners that pass curves on to other programs; each is an extra: `pip install recollect[tensorboard]`.

A listener is any function of an event (`recollect.spec.events`). A run's first event, `Started`, tells its spec.
"""

import importlib.util
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from recollect.errors import BadInput
from recollect.spec import RunSpec
from recollect.spec.compose import flatten
from recollect.spec.events import Done, Event, Failed, Lost, Point, Started
from recollect.spec.registry import Registry

Values = Mapping[str, float | None]


class Log(ABC):
    """Opens a log for every run that starts, adds its points, and closes it when the run ends, however it does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.open: dict[str, Any] = {}

    def __call__(self, event: Event) -> None:
        """Listen."""
        match event:
            case Started(run=run, spec=spec) if spec is not None:
                self._end(run)
                self.open[run] = self.begin(run, spec)
            case Point(run, step, values) if run in self.open:
                self.add(self.open[run], step, known(values))
            case Done(run, result) if run in self.open:
                self.conclude(self.open[run], result["outcome"], known({"test_accuracy": result["test_accuracy"]}))
                self._end(run)
            case Failed(run) | Lost(run):
                self._end(run)

    def _end(self, run: str) -> None:
        if run in self.open:
            self.finish(self.open.pop(run))

    def close(self) -> None:
        """End the logs of runs that were stopped half-way."""
        for run in list(self.open):
            self._end(run)

    @abstractmethod
    def begin(self, run: str, spec: RunSpec) -> Any:
        """Open the log of a run; points that an earlier attempt logged come again."""

    @abstractmethod
    def add(self, log: Any, step: int, values: dict[str, float]) -> None:
        """Log the values of a step."""

    @abstractmethod
    def conclude(self, log: Any, outcome: str, values: dict[str, float]) -> None:
        """Log how a run ended."""

    @abstractmethod
    def finish(self, log: Any) -> None:
        """Close the log of a run."""


def known(values: Values) -> dict[str, float]:
    """Without what was not measured, or not finite."""
    return {name: value for name, value in values.items() if value is not None}


def title(spec: RunSpec) -> str:
    """A run among others."""
    return f"{spec.task.name} {spec.model.mixer_name} d={spec.model.d_model} lr={spec.train.lr:.3g} seed={spec.seed}"


class TensorBoard(Log):
    """A folder for every run: `tensorboard --logdir recollect.logs/tensorboard`."""

    def begin(self, run: str, spec: RunSpec) -> Any:
        from torch.utils.tensorboard import SummaryWriter

        writer = SummaryWriter(str(self.folder / "tensorboard" / run), purge_step=0)
        writer.add_text("spec", f"    {json.dumps(spec.model_dump(mode='json'), indent=1)}".replace("\n", "\n    "))
        writer.add_text("run", title(spec))
        return writer

    def add(self, log: Any, step: int, values: dict[str, float]) -> None:
        for name, value in values.items():
            log.add_scalar(name, value, step)
        log.flush()

    def conclude(self, log: Any, outcome: str, values: dict[str, float]) -> None:
        log.add_text("outcome", outcome)
        self.add(log, 0, values)

    def finish(self, log: Any) -> None:
        log.close()


class WandB(Log):
    """A run of the project `recollect` for every run; `WANDB_MODE=offline`, `WANDB_PROJECT` and so on as ever."""

    def begin(self, run: str, spec: RunSpec) -> Any:
        import os

        import wandb

        self.folder.mkdir(parents=True, exist_ok=True)
        return wandb.init(
            project=os.environ.get("WANDB_PROJECT", "recollect"),
            dir=str(self.folder),
            id=run,
            name=title(spec),
            config=flatten(spec.model_dump(mode="json")),
            resume="allow",
            reinit="create_new",
        )

    def add(self, log: Any, step: int, values: dict[str, float]) -> None:
        log.log(values, step=step)

    def conclude(self, log: Any, outcome: str, values: dict[str, float]) -> None:
        log.summary.update({"outcome": outcome, **values})

    def finish(self, log: Any) -> None:
        log.finish()


LOGS: Registry[str, Callable[[Path], Log]] = Registry("log", {"tensorboard": TensorBoard, "wandb": WandB}.items())


def open_logs(names: Sequence[str], store: Path) -> list[Log]:
    """The logs of these names, in a folder beside a store; one that is not installed is one sentence."""
    for name in names:
        LOGS.find(name, "--log")
        if importlib.util.find_spec(name) is None:
            raise BadInput(f"--log {name}: {name} is not installed; run: pip install 'recollect[{name}]'")
    return [LOGS[name](store.with_suffix(".logs")) for name in dict.fromkeys(names)]
