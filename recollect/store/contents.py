"""All that a store holds, read once: for whoever looks at it from several sides."""

from recollect.store.store import Record, Store


class Contents:
    """The runs of a store with their curves, and the studies that they belong to."""

    def __init__(self, store: Store) -> None:
        self.path = store.path
        self._records = {record.id: record for record in store.records(curves=True)}
        self._links = {place: store.labels(*place) for place in store.studies()}

    def studies(self) -> list[tuple[str, str]]:
        """Every study and the scales at which it was run, by name."""
        return list(self._links)

    def labelled(self, study: str, scale: str) -> list[tuple[str, Record]]:
        """The runs of a study at a scale under their labels, in the study's order."""
        links = self._links.get((study, scale), {})
        return [(label, self._records[run]) for run, label in links.items() if run in self._records]

    def records(self, study: str | None = None) -> list[Record]:
        """All runs, or those of a study at any scale; oldest first."""
        runs = {run for (name, _), links in self._links.items() if name == study for run in links}
        return [record for run, record in self._records.items() if study is None or run in runs]
