"""Report: store -> data -> drawing. Never imports torch."""

from pathlib import Path

from recollect.report.figures import FIGURES, PAPER, Print, draw_figure, save
from recollect.spec.files import safe_name
from recollect.store import Contents
from recollect.studies import Study


def draw_study(study: Study, scale: str, contents: Contents, folder: Path, how: Print = PAPER) -> list[Path]:
    """Draw a study's figure from what the store has; the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    figure = draw_figure(study.figure, contents.labelled(study.name, scale), study.title, scale, how)
    name = study.name if scale in study.scales else f"{study.name}-{scale.replace(' ', '-')}"
    return save(figure, folder, safe_name(name, ()), ("png", "pdf", "svg"), how.style)


__all__ = ["FIGURES", "draw_figure", "draw_study", "save"]
