"""What a store holds, each run read once: for whoever looks at it from several sides."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar

from recollect.store.records import ALL, Record, Tells
from recollect.store.store import Store

KEPT = 256
"""Runs whose curves stay in memory: more than are looked at together."""


V = TypeVar("V")


class Lazy(Mapping[str, V]):
    """The curves of a run, or what was seen inside, read when they are looked at: most runs are only counted."""

    def __init__(self, read: Callable[[str], Mapping[str, V]], run: str) -> None:
        self._read, self._run = read, run

    def __getitem__(self, name: str) -> V:
        return self._read(self._run)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read(self._run))

    def __len__(self) -> int:
        return len(self._read(self._run))


class Contents:
    """The runs of a store with their curves, and the studies they belong to; a study is read when it is asked for."""

    def __init__(self, store: Store) -> None:
        self.path, self._store = store.path, store
        self._records: dict[str, Record] = {}
        self._curves, self._looks = lru_cache(KEPT)(store.curves), lru_cache(KEPT)(store.looks)
        self._links = {place: store.labels(*place) for place in store.studies()}
        self._tells = {place: store.tells(*place) for place in self._links}
        self._read: set[str | None] = set()

    def studies(self) -> list[tuple[str, str]]:
        """Every study and the scales at which it was run, by name."""
        return list(self._links)

    def check_study(self, study: str | None, where: str) -> None:
        """Refuse the name of a study that no run belongs to."""
        self._store.check_study(study, where)

    def looked(self) -> set[str]:
        """The runs that somebody looked into while they trained."""
        return set(self._store.looked())

    def labelled(self, study: str, scale: str) -> list[tuple[str, Record]]:
        """The runs of a study at a scale under their labels, in the study's order."""
        self._need(study)
        links, tells = self._links.get((study, scale), {}), self._tells.get((study, scale), {})
        known = ((label, self._records[run]) for run, label in links.items() if run in self._records)
        return [(label, _telling(record, tells.get(record.id, ALL))) for label, record in known]

    def records(self, study: str | None = None) -> list[Record]:
        """All runs, or those of a study at any scale; oldest first. One tells of what all its studies say."""
        self._need(study)
        said: dict[str, set[Tells]] = {}
        for place, links in self._links.items():
            for run in links if study in (None, place[0]) else ():
                said.setdefault(run, set()).add(self._tells[place].get(run, ALL))
        found = [record for run, record in self._records.items() if study is None or run in said]
        return [_telling(record, *said.get(record.id, ())) for record in found]

    def _need(self, study: str | None) -> None:
        """Read what is not there yet; after everything was read, nothing is."""
        if not {study, None} & self._read:
            records = self._store.records(study=study, known=self._records)
            found = {record.id: self._with_curves(record) for record in records}
            self._records = found | (self._records if study is not None else {})
            self._read.add(study)

    def _with_curves(self, record: Record) -> Record:
        if record.result is None or record.id in self._records:
            return record
        curves, looks = Lazy(self._curves, record.id), Lazy(self._looks, record.id)
        return replace(record, result=record.result | {"curves": curves}, looks=looks)


def _telling(record: Record, *tells: Tells) -> Record:
    """The record as one who agrees on what it tells of; of all where there are several words or none."""
    return replace(record, tells=tells[0]) if len(tells) == 1 and tells[0] != ALL else record
