"""`recollect train`: one run, live."""

import json
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from recollect.cli.options import Json, Sets, StorePath, overrides
from recollect.store import DEFAULT


def train(
    task: str,
    mixer: str,
    *,
    lr: Annotated[float | None, Parameter(help="peak learning rate")] = None,
    d_model: Annotated[int | None, Parameter(help="width")] = None,
    n_layers: Annotated[int | None, Parameter(help="blocks")] = None,
    seed: Annotated[int | None, Parameter(help="of everything random")] = None,
    steps: Annotated[int | None, Parameter(help="the budget")] = None,
    protocol: Annotated[
        str, Parameter(help="a preset of everything else; `recollect protocols` lists them")
    ] = "laptop",
    set_: Sets = (),
    spec: Annotated[Path | None, Parameter(help="a YAML file of fields that override the protocol's")] = None,
    store: StorePath = DEFAULT,
    checkpoint_seconds: Annotated[float, Parameter(help="between two checkpoints")] = 5.0,
    json_: Json = False,
) -> int:
    """Train one model and keep its record; a finished run is shown, a stopped one goes on.

    Example: recollect train mqar attention --lr 2e-3 --n-layers 2

    Parameters
    ----------
    task
        What is asked: mqar, copy, ... (`recollect list tasks`).
    mixer
        A name (`recollect list mixers`), `path/to/file.py:Class` for your own, or several joined by commas, one per
        layer.
    """
    from recollect.spec.compose import make_spec

    short = {"train.lr": lr, "model.d_model": d_model, "model.n_layers": n_layers, "seed": seed, "train.steps": steps}
    given = overrides(short, set_, spec)
    made = make_spec(task, mixer.split(",") if "," in mixer else mixer, given, protocol=protocol, where="train")
    from recollect.cli.display.live import Live
    from recollect.store import Store
    from recollect.sweep import Grid, sweep
    from recollect.sweep.executors import Inline
    from recollect.training.check import preflight

    preflight(made)
    opened = Store(store, create=True)
    with Live(opened, made.train.steps, quiet=json_) as live:
        live.begin(made)
        known = opened.record(made.id)
        if known is None or known.status != "done":
            sweep(Grid([made]), Inline(checkpoint_seconds), opened, live.hear)
        record = opened.record(made.id)
        assert record is not None
        if json_:
            json.dump(record.to_json(), sys.stdout)
            print()
        else:
            live.end(record, fresh=known is None or known.status != "done")
    return 0 if record.status == "done" else 1
