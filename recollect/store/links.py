"""Which runs belong to which study, under which label, and what they tell of there."""

from collections.abc import Mapping

from recollect.errors import BadInput, plain, unknown
from recollect.store.file import File
from recollect.store.records import ALL, DONE, PARTIAL, Tally, Tells

NAMED = "typeof(study) = 'text' AND typeof(scale) = 'text' AND typeof(label) = 'text'"
"""A link that can be read; `store check` finds the others."""


class Links(File):
    """Of every study at every scale."""

    def link(self, study: str, scale: str, labels: dict[str, str], tells: Mapping[str, Tells] | None = None) -> None:
        """Say that runs belong to a study, under a label each, and what they tell of there, if not of all."""
        with self.transaction():
            self._link(study, scale, labels, tells or {})

    def _link(self, study: str, scale: str, labels: dict[str, str], tells: Mapping[str, Tells]) -> None:
        rows = [(study, scale, run, label, tells.get(run, ALL)) for run, label in labels.items()]
        query = "INSERT OR REPLACE INTO study_runs (study, scale, run, label, tells) VALUES (?, ?, ?, ?, ?)"
        self.db.executemany(query, rows)

    def enrol(self, study: str, scale: str, labels: dict[str, str], tells: Mapping[str, Tells] | None = None) -> None:
        """Say that exactly these runs make up a study; what no study wants any more and never began is forgotten."""
        with self.transaction():
            self.db.execute("DELETE FROM study_runs WHERE study = ? AND scale = ?", (study, scale))
            self._link(study, scale, labels, tells or {})
            self.db.execute(
                "DELETE FROM runs WHERE status = 'pending' AND attempt = 0 AND id NOT IN (SELECT run FROM study_runs)"
            )

    def tallies(self) -> list[Tally]:
        """How many runs there are of each study, scale, status and outcome; runs of no study count as study ''."""
        query = (
            "SELECT coalesce(study, '') AS study, coalesce(scale, '') AS scale, status, "
            "coalesce(outcome, '') AS outcome, count(*) AS runs "
            "FROM runs LEFT JOIN study_runs ON run = id GROUP BY 1, 2, 3, 4 ORDER BY 1, 2"
        )
        return [Tally(**row) for row in self.db.execute(query)]

    def studies(self) -> list[tuple[str, str]]:
        """Every study and the scales at which it was run, by name."""
        query = f"SELECT DISTINCT study, scale FROM study_runs WHERE {NAMED} ORDER BY study, scale"
        return [(row["study"], row["scale"]) for row in self.db.execute(query)]

    def check_study(self, study: str | None, where: str) -> None:
        """Refuse the name of a study that no run belongs to."""
        known = {name for name, _ in self.studies()}
        if study is not None and study not in known:
            raise unknown(where, study, known) if known else BadInput(f"{where}: {self.path} knows no study")

    def finished_since(self, moment: float) -> dict[tuple[str, str], int]:
        """(Study, scale) -> runs that ended well after a moment."""
        query = (
            "SELECT coalesce(study, '') AS study, coalesce(scale, '') AS scale, count(*) AS runs "
            "FROM runs LEFT JOIN study_runs ON run = id WHERE status = ? AND updated >= ? GROUP BY 1, 2"
        )
        return {(row["study"], row["scale"]): row["runs"] for row in self.db.execute(query, (DONE, moment))}

    def labels(self, study: str, scale: str) -> dict[str, str]:
        """Run -> label of a study's runs, in the study's order."""
        query = "SELECT run, label FROM study_runs WHERE study = ? AND scale = ? ORDER BY rowid"
        rows = self.db.execute(query, (study, scale))
        return {row["run"]: plain(row["label"]) for row in rows}

    def tells(self, study: str, scale: str) -> dict[str, Tells]:
        """Run -> what it tells of, for those of a study's runs that do not tell of all."""
        query = "SELECT run, tells FROM study_runs WHERE study = ? AND scale = ?"
        found = {row["run"]: row["tells"] for row in self.db.execute(query, (study, scale))}
        return {run: tells for run, tells in found.items() if tells in PARTIAL}
