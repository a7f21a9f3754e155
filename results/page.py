"""Makes docs/results.md from the kept stores: the ledger, the anchor cells, every study's pictures with its verdicts.

    make results

What no run can say, such as what was done about a contradiction, stands in remarks.yaml beside this file.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

import pandas as pd
import yaml

from recollect.claims import CLAIMS, OWN, Evidence, Verdict, ledger
from recollect.cli.display.effects import HEADS, effects_lines
from recollect.cli.display.words import decades, edge
from recollect.report import draw_figure, save
from recollect.report.cells import CellRow, cell_rows
from recollect.report.effects import study_effects
from recollect.report.kind import Runs
from recollect.report.tables import markdown, window_text
from recollect.store import WINDOW, Contents, Store
from recollect.studies import SCALES, STUDIES, Study
from recollect.window.select import by_label
from results.anchors import ANCHORS, Anchor, learning, order

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "results.md"
CHANGED = " ("
"""In the name of a scale: what is otherwise than the study has it."""
WORDS = ("supported", "contradicted", "open")
ALSO = {"map": ("lr",)}
"""Kinds of figures that show what lies behind a study's own."""
NAMED = 4
"""Models that are named where they are missing; more are counted."""
FAITHFUL = ("desk", "laptop")
"""The scales of which one is to be the miniature of the other."""


@dataclass(frozen=True)
class Kept:
    """One study at one scale in a kept store."""

    store: Path
    contents: Contents
    study: str
    scale: str

    @property
    def command(self) -> str:
        """What shows it."""
        return f"recollect report --study {self.study} --store {_from_root(self.store)}"

    @cached_property
    def evidence(self) -> Evidence:
        """Its runs."""
        return Evidence(self.study, self.scale, by_label(self.contents.labelled(self.study, self.scale)))

    @property
    def state(self) -> str:
        """How far it is, where it is not complete: models are missing, or seeds at a cell's best rate."""
        runs, scale = self.evidence.runs, STUDIES[self.study].scales.get(self.scale)
        missing = sorted(self.evidence.models - set(runs))
        done, total = self.evidence.progress(runs)
        few = scale is not None and self.evidence.seeds(runs) < len(scale.seeds)
        whole, cells = self.evidence.cells(self.evidence.models)
        if not missing and done == total and not few and whole == cells:
            return ""
        absent = (
            "; ".join(missing) if len(missing) <= NAMED else f"{len(missing)} of its {len(self.evidence.models)} models"
        )
        return f"under way, {done} runs so far" + (f", none of {absent}" if missing else "")

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """The claims on it, the paper's and our own, judged."""
        found = [v for claims in (CLAIMS, OWN) for v in ledger(self.contents, studies=[self.study], claims=claims)]
        return [verdict for verdict in found if verdict.evidence.scale == self.scale]


def kept(folder: Path = HERE) -> list[Kept]:
    """All that is kept, in the studies' order; what was run with changes is in the stores alone."""
    stores = {path: Contents(Store(path)) for path in sorted(folder.glob("*/recollect.db"))}
    parts = [Kept(path, found, *part) for path, found in stores.items() for part in found.studies()]
    order = list(STUDIES)
    whole = [part for part in parts if part.study in order and part.scale and CHANGED not in part.scale]
    return sorted(whole, key=lambda part: order.index(part.study))


def document(parts: Sequence[Kept], pictures: Path) -> str:
    """The whole page; its pictures are drawn into a folder beside it."""
    remarks = yaml.safe_load((HERE / "remarks.yaml").read_text(encoding="utf-8"))
    paragraphs = [remarks["head"], *_ledger(parts), *_anchors(parts)]
    for study in STUDIES.values():
        found = [part for part in parts if part.study == study.name]
        paragraphs += _study(study, found, pictures, remarks)
    return "\n\n".join(text.strip() for text in paragraphs if text.strip()) + "\n"


def _ledger(parts: Sequence[Kept]) -> Iterator[str]:
    """Every claim in a line, with its verdict at each scale; then how many of each."""
    scales = list(dict.fromkeys(part.scale for part in parts))
    found = {(v.claim.mark, part.scale): v.finding.word for part in parts for v in part.verdicts}
    yield "## The ledger"
    yield "\n".join(
        f"- `recollect claims --store {_from_root(path)}`" for path in dict.fromkeys(p.store for p in parts)
    )
    words = {
        claim.mark: [claim.statement, *(found.get((claim.mark, at), "not run") for at in scales)]
        for claim in CLAIMS.values()
    }
    counts = [
        ["", word, *(str(sum(found.get((mark, at)) == word for mark in words)) for at in scales)] for word in WORDS
    ]
    rows = [[mark, *line] for mark, line in words.items()]
    yield markdown(pd.DataFrame(rows + counts, columns=pd.Index(["", "claim", *scales])))


def _anchors(parts: Sequence[Kept]) -> Iterator[str]:
    """The cells by which the miniature is compared with the paper's own cell."""
    scales = list(dict.fromkeys(part.scale for part in parts if any(part.study == a.study for a in ANCHORS)))
    places = {(part.study, part.scale): part for part in parts}
    cells = {a.words: {at: cell for at in scales if (cell := _cell(a, places.get((a.study, at))))} for a in ANCHORS}
    windows = {words: {at: cell.window for at, cell in found.items()} for words, found in cells.items()}
    rows = [
        [words, *(_anchored(found.get(at)) for at in scales), learning(FAITHFUL, windows[words])]
        for words, found in cells.items()
    ]
    yield "## The anchor cells"
    yield (
        "At each scale the mean test accuracy at the learning rate that the validation rows chose, and the window. "
        "The miniature is faithful where the columns agree on who learns (has a window) and whose window is wider."
    )
    yield markdown(pd.DataFrame(rows, columns=pd.Index(["", *scales, f"who learns, {' and '.join(FAITHFUL)}"])))
    yield order(FAITHFUL, windows)


def _cell(anchor: Anchor, part: Kept | None) -> CellRow | None:
    records = part.evidence.runs.get(anchor.label) if part else None
    return next(iter(cell_rows(records)), None) if records else None


def _anchored(row: CellRow | None) -> str:
    if row is None:
        return "not run"
    told = row.choice is not None and any(run.tells != WINDOW for run in row.done)
    accuracy = f"{100 * row.choice.mean:.1f} %" if row.choice is not None and told else "search under way"
    return "; ".join(filter(None, (accuracy, window_text(row.window))))


def _study(study: Study, parts: Sequence[Kept], pictures: Path, remarks: dict[str, str]) -> Iterator[str]:
    """Its question, at each scale a picture and the verdicts, and what is open and would be settled how."""
    claims = [claim for claim in (*CLAIMS.values(), *OWN.values()) if claim.study == study.name]
    if not parts and not claims:
        return
    yield f"## {study.name}: {study.title}"
    yield study.question
    for part in parts:
        budget = part.evidence.budget()
        state = f", {part.state}" if part.state else ""
        yield f"**Scale {part.scale}{state}** {budget} (`{part.command}`)"
        kinds = (study.figure, *ALSO.get(study.name, ()))
        yield from (_picture(study, part, pictures, kind) for kind in kinds)
        yield _windows(part) if "lr" in kinds else ""
        yield _effects(part) if "effects" in kinds else ""
        yield "\n".join(_line(verdict) for verdict in part.verdicts if _is_told(verdict))
    yield remarks.get(study.name, "")
    waiting: dict[str, list[str]] = {}
    for claim in claims:
        found = [verdict for part in parts for verdict in part.verdicts if verdict.claim is claim]
        if all(verdict.finding.word == "open" for verdict in found):
            last = max(found, key=_size, default=claim.judge(Evidence("", "", {})))
            waiting.setdefault(last.settled_by, []).append(claim.mark)
    for command, marks in waiting.items():
        yield f"Open at every scale so far: {', '.join(marks)}. The next that could settle them: `{command}`."


def _windows(part: Kept) -> str:
    """Every cell's window, its edges with their intervals."""
    labels = {record.id: label for label, runs in part.evidence.runs.items() for record in runs}
    rows = [
        [
            f"{row.label}, {row.spec.model.n_layers} x {row.spec.model.d_model}",
            *(edge(row.window.lower), edge(row.window.upper), decades(row.window.width), row.window.n_runs),
        ]
        for row in cell_rows([run for runs in part.evidence.runs.values() for run in runs], labels)
        if row.window is not None
    ]
    heads = ["model", "left edge (90 %)", "right edge (90 %)", "decades (90 %)", "runs"]
    return markdown(pd.DataFrame(rows, columns=pd.Index(heads)))


def _effects(part: Kept) -> str:
    """What every switch does to a window."""
    runs = Runs.of(part.contents.labelled(part.study, part.scale), part.scale)
    told = "P is the probability that a change is above zero."
    tables = {title: effects_lines(study_effects(found)) for title, found in runs.by_size().items()}
    drawn = [
        [title, markdown(pd.DataFrame(rows, columns=pd.Index(["cell", *HEADS])))] for title, rows in tables.items()
    ]
    return "\n\n".join(text.strip() for text in (*chain(*drawn), told) if text)


def _is_told(verdict: Verdict) -> bool:
    """Whether there is more to say of it than that it waits: the paper's claims are told in any case."""
    return not (verdict.claim.ours and verdict.finding.lacking)


def _line(verdict: Verdict) -> str:
    """A claim, what the paper has for it, and the verdict."""
    claim, found = verdict.claim, verdict.finding
    paper = "." if claim.ours else f" Paper: {claim.paper} ({claim.where})."
    said = f"- Claim {claim.mark}: {claim.statement}{paper}"
    return f"{said} **{found.word}** by rule {claim.version}: {found.numbers}"


def _size(verdict: Verdict) -> int:
    """How large its scale is; one that no longer is, is the smallest."""
    return SCALES.index(verdict.evidence.scale) if verdict.evidence.scale in SCALES else -1


def _picture(study: Study, part: Kept, pictures: Path, kind: str) -> str:
    pictures.mkdir(parents=True, exist_ok=True)
    figure = draw_figure(kind, part.contents.labelled(study.name, part.scale), study.title, part.scale)
    words = [study.name, part.scale, *([kind] if kind != study.figure else [])]
    (file,) = save(figure, pictures, "-".join(words).replace(" ", "-"), ("png",))
    return f"![{study.title}, scale {part.scale}]({pictures.name}/{file.name})"


def _from_root(path: Path) -> str:
    return "/".join((HERE.name, *path.relative_to(HERE).parts))


if __name__ == "__main__":
    PAGE.write_text(document(kept(), PAGE.parent / "results"), encoding="utf-8")
