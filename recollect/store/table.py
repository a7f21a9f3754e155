"""Results as pandas DataFrames; nothing here imports torch."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from recollect.spec.compose import flatten
from recollect.store import DEFAULT, Record, Store


def results(store: Path | str | Store | Sequence[Record] = DEFAULT, study: str | None = None) -> pd.DataFrame:
    """A row per run: id, cell, mixer, status, result, and every field of its spec under its dotted name.

    Of a store, or of records that were read.
    """
    if isinstance(store, Sequence) and not isinstance(store, str):
        return as_frame([row(record) for record in store])
    opened = store if isinstance(store, Store) else Store(Path(store))
    records = _records(opened, study)
    frame = as_frame([row(record) for record in records])
    if opened is not store:
        opened.close()
    return frame


def curves(store: Path | str | Store = DEFAULT, study: str | None = None) -> pd.DataFrame:
    """A row per run and step, with the values measured there."""
    opened = store if isinstance(store, Store) else Store(Path(store))
    frames = []
    for record in _records(opened, study):
        found = pd.DataFrame(opened.curves(record.id))
        found.insert(0, "id", record.id)
        if len(found):
            frames.append(found)
    if opened is not store:
        opened.close()
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame({"id": [], "step": []})


def as_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Rows with the union of their keys as columns; whole numbers and booleans stay so where some are missing."""
    names = dict.fromkeys(name for found in rows for name in found)
    return pd.DataFrame({name: column([found.get(name) for found in rows]) for name in names})


def column(values: list[Any]) -> Any:
    """Values of one column; pandas would turn 1 into 1.0 beside a missing one."""
    kinds = {type(value) for value in values}
    if kinds == {int, type(None)}:
        return pd.array(values, dtype="Int64")
    return pd.array(values, dtype="boolean") if kinds == {bool, type(None)} else values


def _records(store: Store, study: str | None) -> list[Record]:
    store.check_study(study, "study")
    return store.records(study=study)


def row(record: Record) -> dict[str, Any]:
    """One run, flat; a list (a hybrid's mixers) is JSON text, so that every format can hold it."""
    head = {
        "id": record.id,
        "cell": record.cell,
        "mixer": record.spec.model.mixer_name,
        "status": record.status,
        "outcome": record.outcome,
        "attempt": record.attempt,
        "seconds": record.seconds,
    }
    result = {key: value for key, value in (record.result or {}).items() if key not in ("outcome", "curves")}
    fields = flatten(record.spec.model_dump(mode="json"))
    whole = head | flatten(result) | fields | {"error": record.error}
    return {key: json.dumps(value) if isinstance(value, list) else value for key, value in whole.items()}
