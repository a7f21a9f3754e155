"""All that a store holds, read once: for whoever looks at it from several sides."""

from recollect.store.store import Record, Store

Labelled = list[tuple[str, Record]]


class Contents:
    """The runs of a store with their curves, and the studies that they belong to."""

    def __init__(self, store: Store) -> None:
        self.path = store.path
        self.records = {record.id: record for record in store.records(curves=True)}
        self._links = {place: store.labels(*place) for place in store.studies()}

    def studies(self) -> list[tuple[str, str]]:
        """Every study and the scales at which it was run, by name."""
        return list(self._links)

    def labelled(self, study: str, scale: str) -> Labelled:
        """The runs of a study at a scale under their labels, in the study's order."""
        links = self._links.get((study, scale), {})
        return [(label, self.records[run]) for run, label in links.items() if run in self.records]
