"""`recollect export`: results as a file for other programs."""

import importlib.util
import json
import sys
from pathlib import Path
from typing import Annotated

import pandas as pd
from cyclopts import Parameter

from recollect.cli.options import StorePath
from recollect.errors import BadInput
from recollect.store import DEFAULT, Store
from recollect.store.file import is_database

Flag = Annotated[bool, Parameter(negative=())]
FORMATS = ("csv", "json", "parquet")


def export(
    file: Path | None = None,
    /,
    *,
    csv: Annotated[Flag, Parameter(help="comma-separated values")] = False,
    parquet: Annotated[Flag, Parameter(help="Parquet (needs pyarrow)")] = False,
    json_: Annotated[Flag, Parameter(name=["--json"], help="a list of JSON objects")] = False,
    curves: Annotated[Flag, Parameter(help="a row per run and step instead of a row per run")] = False,
    study: Annotated[str | None, Parameter(help="only the runs of this study")] = None,
    store: StorePath = DEFAULT,
) -> None:
    """Write all runs with their specs and results, a row per run.

    For example:

    recollect export --csv results.csv

    recollect export --json > results.json

    Parameters
    ----------
    file
        Where to write; without it, standard output. Its ending names the format where no option does.
    """
    chosen = [name for name, flag in zip(FORMATS, (csv, json_, parquet), strict=True) if flag]
    kind = choose(chosen, file)
    from recollect.store import table

    opened = Store(store)
    frame = table.curves(opened, study) if curves else table.results(opened, study)
    opened.close()
    write(frame, kind, file)
    if file is not None:
        print(f"{file}: {len(frame)} rows")


def choose(chosen: list[str], file: Path | None) -> str:
    """The format, from the options or the file's ending; refused before anything is read."""
    ending = "" if file is None else file.suffix[1:]
    if not chosen and ending in FORMATS:
        chosen = [ending]
    if len(chosen) != 1:
        raise BadInput(f"export: name one format, --csv, --parquet or --json (got {' and '.join(chosen) or 'none'})")
    if chosen == ["parquet"] and file is None:
        raise BadInput("export: --parquet needs a file to write to, such as results.parquet")
    if chosen == ["parquet"] and importlib.util.find_spec("pyarrow") is None:
        raise BadInput("export: --parquet needs pyarrow, which is not installed; run: pip install pyarrow")
    if file is not None and not file.parent.is_dir():
        raise BadInput(f"export: no folder {file.parent}")
    if file is not None and is_database(file):
        raise BadInput(f"export: {file} is a store; name another file to write to (--store names the one to read)")
    return chosen[0]


def write(frame: pd.DataFrame, kind: str, file: Path | None) -> None:
    """In the format asked for; what is not finite is empty or null."""
    match kind:
        case "csv":
            frame.to_csv(sys.stdout if file is None else file, index=False)
        case "json":
            plain = frame.astype(object).where(frame.notna(), None).to_dict("records")
            text = json.dumps(plain) + "\n"
            sys.stdout.write(text) if file is None else file.write_text(text)
        case "parquet":
            assert file is not None
            frame.to_parquet(file, index=False)
