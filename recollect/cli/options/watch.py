"""What `--probe` asks for."""

from collections.abc import Iterable

from recollect.errors import BadInput
from recollect.spec import RunSpec
from recollect.spec.mixers import WholeOptions
from recollect.spec.watch import Watch
from recollect.tasks import make_task
from recollect.tasks.streams import generator


def watch_of(specs: Iterable[RunSpec], probe: bool, diagnostics: bool) -> Watch | None:
    """What is to be observed; one sentence where a model or the rows of a task have nothing to be looked at."""
    looked = [*specs] if probe else []
    if any(isinstance(spec.model.mixer, WholeOptions) for spec in looked):
        raise BadInput("--probe: a whole model cannot be taken apart; only a stack of mixers can be looked into")
    for task in {spec.task for spec in looked}:
        made = make_task(task)
        made.places(made.draw(generator(0, "validation"), 1))
    if diagnostics and not probe:
        raise BadInput("--diagnostics: is for runs that are looked into; add --probe")
    return Watch(diagnostics=diagnostics) if probe else None
