"""`recollect train`: one run, live."""

import json
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from recollect.cli.display.console import tell
from recollect.cli.display.live import Live, headline, summary
from recollect.cli.display.watch import preflight_here
from recollect.cli.options import (
    CheckpointSeconds,
    Diagnostics,
    Force,
    Json,
    Like,
    Logs,
    Noncausal,
    Probe,
    Sets,
    StorePath,
    WholeModel,
    one_model,
    overrides,
    whole,
)
from recollect.cli.options.executor import How
from recollect.cli.options.names import MixerName, ProtocolName, TaskName
from recollect.cli.options.watch import watch_of
from recollect.spec import RunSpec, make_spec
from recollect.spec.like import told
from recollect.spec.watch import Watch
from recollect.store import DEFAULT, NoStore, Record, Store
from recollect.sweep import Grid, lacking, sweep
from recollect.sweep.executors import Inline
from recollect.training.costs import check_memory


def train(
    task: TaskName,
    mixer: MixerName | None = None,
    *,
    model: WholeModel = None,
    like: Like = "",
    lr: Annotated[float | None, Parameter(help="peak learning rate")] = None,
    d_model: Annotated[int | None, Parameter(converter=whole, help="width")] = None,
    n_layers: Annotated[int | None, Parameter(converter=whole, help="blocks")] = None,
    seed: Annotated[int | None, Parameter(converter=whole, help="of everything random")] = None,
    steps: Annotated[int | None, Parameter(converter=whole, help="the budget")] = None,
    protocol: Annotated[
        ProtocolName, Parameter(help="a preset of everything else; `recollect protocols` lists them")
    ] = "laptop",
    set_: Sets = (),
    allow_noncausal: Noncausal = False,
    spec: Annotated[Path | None, Parameter(help="a YAML file of fields that override the protocol's")] = None,
    store: StorePath = DEFAULT,
    force: Force = False,
    checkpoint_seconds: CheckpointSeconds = None,
    probe: Probe = False,
    diagnostics: Diagnostics = False,
    log: Logs = (),
    json_: Json = False,
) -> int:
    """Train one model and keep its record; a finished run is shown, a stopped one goes on.

    Example: recollect train mqar attention --lr 2e-3 --n-layers 2

    Parameters
    ----------
    task
        What is asked: mqar, copy, ... (`recollect list tasks`), or `path/to/file.py:Class` for your own.
    mixer
        A name (`recollect list mixers`), `path/to/file.py:Class` for your own, or several joined by commas, one per
        layer.
    """
    short = {"train.lr": lr, "model.d_model": d_model, "model.n_layers": n_layers, "seed": seed, "train.steps": steps}
    short["model.noncausal"] = allow_noncausal or None
    given = overrides(short, set_, spec)
    mixers = one_model(mixer, model)
    made = make_spec(task, mixers, given, protocol=protocol, like=like, where="train")
    choice = told(protocol, task, mixers if isinstance(mixers, list) else [mixers], like)
    watch = watch_of([made], probe, diagnostics)
    if (known := stored(made, store, watch)) is not None and not json_:
        print(headline(made, store), file=sys.stderr)
    how = How(checkpoint_seconds=checkpoint_seconds, force=force, log=log)
    record = known or train_now(made, store, how, watch, choice, quiet=json_)
    if json_:
        json.dump(record.to_json(), sys.stdout)
        print()
    else:
        tell(*summary(record, fresh=known is None))
    return 0 if record.is_done else 1


def stored(spec: RunSpec, path: Path, watch: Watch | None) -> Record | None:
    """The record of a run that was done before, and looked into as asked; torch is not loaded for it."""
    try:
        opened = Store(path)
    except NoStore:
        return None
    found = opened.record(spec.id)
    is_done = found is not None and found.is_done and not lacking(watch, opened, [found])
    return found if is_done else None


def train_now(spec: RunSpec, path: Path, how: How, watch: Watch | None, choice: str = "", *, quiet: bool) -> Record:
    """Train a run in this process while the user watches."""
    check_memory([spec], how.force)
    preflight_here([spec], choice=choice)
    with how.logs(path) as logs:
        opened = Store(path, create=True)
        with Live(opened, spec.train.steps, quiet=quiet) as live:
            live.begin(spec)
            sweep(Grid([spec]), Inline(how.checkpoint_seconds), opened, [live.hear, *logs], watch=watch)
    record = opened.record(spec.id)
    assert record is not None
    return record
