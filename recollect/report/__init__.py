"""Report: store -> data -> drawing. Never imports torch."""

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from recollect.report.dynamics import draw_dynamics, dynamics
from recollect.report.style import INK, RC, outputs, plain_metadata
from recollect.store import Store
from recollect.studies import Study


def draw_study(study: Study, scale: str, store: Store, folder: Path) -> list[Path]:
    """Draw a study's figure from what the store has; the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    labels = store.labels(study.name, scale)
    records = {record.id: record for record in store.records(study=study.name, curves=True)}
    value = dynamics([(label, records[run]) for run, label in labels.items() if run in records], study.title, scale)
    with mpl.rc_context(RC):
        figure = Figure(figsize=(5.2, 3.1), layout="constrained")
        draw_dynamics(value, figure.add_subplot())
        figure.supxlabel(value.note, fontsize=6.5, color=INK)
        files = outputs(folder, study.name)
        for file in files:
            figure.savefig(file, metadata=plain_metadata(file))
    return files


__all__ = ["draw_study"]
