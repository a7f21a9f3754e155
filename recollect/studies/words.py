"""What a scale leaves out of the paper, in words: computed from the runs of both, so that it stays true."""

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.spec import RecallOptions, RunSpec
from recollect.spec.protocols import Fields
from recollect.spec.tasks.strings import StringOptions

Measures = dict[str, dict[str, set[Any]]]
"""What is measured -> mixer -> the values that its cells have."""

PHRASES = {
    "protocol": "protocol {}",
    "task.vocab_size": "V={}",
    "task.length": "L={}",
    "task.n_pairs": "K={}",
    "task.n_letters": "alphabet of {}",
    "task.max_length": "strings of {} letters",
    "task.vocabulary": "{} vocabulary",
    "task.rows": "{} rows",
    "model.block": "{}",
    "model.d_model": "d={}",
    "model.n_layers": "{} layers",
    "train.steps": "{} steps",
    "train.epochs": "{} epochs",
    "train.stop_accuracy": "{}",
    "train.batch_size": "batch {}",
    "train.lr": "{} learning rates",
    "seed": "{} seeds",
}
"""What is said, in this order; a value that is a statement needs no more words."""
BUDGET = {"train.steps", "train.epochs"}


def differences(ours: Measures, paper: Measures) -> list[str]:
    """What is other than in the paper, phrase by phrase; everything where there is nothing to compare with."""
    return [_phrase(name, ours[name], paper) for name in PHRASES if name in ours and _differs(name, ours, paper)]


def measure(cells: Sequence[tuple[RunSpec, Fields]], whole: Fields) -> Measures:
    """Those of a scale as a whole, and those of its cells: each is a spec with the fields of which its label speaks."""
    found: Measures = {name: {"": {value}} for name, value in whole.items()}
    for spec, said in cells:
        for name, value in sizes(spec, said).items():
            found.setdefault(name, {}).setdefault(spec.model.mixers[0].name, set()).add(value)
    return found


def sizes(spec: RunSpec, said: Fields) -> dict[str, Any]:
    """The measures of one cell but those of which its label speaks."""
    task, model, train = spec.task, spec.model, spec.train
    found: dict[str, Any] = {
        "task.rows": task.rows,
        "model.d_model": model.d_model,
        "model.n_layers": model.n_layers,
        "train.stop_accuracy": "stopping on success" if train.stop_accuracy else "not stopping on success",
        "train.batch_size": train.batch_size,
    }
    if isinstance(task, RecallOptions):
        found |= {"task.vocab_size": task.vocab_size, "task.length": task.length}
        found |= {"task.n_pairs": task.n_pairs, "task.vocabulary": task.vocabulary}
    if isinstance(task, StringOptions):
        found |= {"task.n_letters": task.n_letters, "task.max_length": f"{task.min_length} to {task.max_length}"}
    if set(model.blocks) != {"mamba"}:
        found["model.block"] = "MLP" if "mixer+mlp" in model.blocks else "no MLP"
    if not {"task.rows", *BUDGET} & said.keys():
        found |= _budget(task.rows, train.batch_size, train.steps)
    return {name: value for name, value in found.items() if name not in said}


def _budget(rows: int | str, batch: int, steps: int) -> dict[str, int]:
    """In epochs, where the rows are fixed and the steps make whole ones."""
    epoch = -(-rows // batch) if isinstance(rows, int) else steps + 1
    return {"train.steps": steps} if steps % epoch else {"train.epochs": steps // epoch}


def _differs(name: str, ours: Measures, paper: Measures) -> bool:
    """Whether it must be said. One of the paper's batches need not: they go with its lengths."""
    here, there = _values(ours[name]), _values(paper.get(name, {}))
    return not here <= there if name == "train.batch_size" else here != there


def _phrase(name: str, here: Mapping[str, set[Any]], paper: Measures) -> str:
    text = PHRASES[name].format(_span(here))
    text = text.removesuffix("s") if _values(here) == {1} else text
    if PHRASES[name] == "{}" or not paper:
        return text
    if name in paper:
        return f"{text} instead of {_span(paper[name])}"
    others = [PHRASES[other].format(_span(paper[other])) for other in BUDGET & paper.keys() if name in BUDGET]
    return " instead of ".join([text, *others])


def _values(found: Mapping[str, set[Any]]) -> set[Any]:
    return set().union(*found.values())


def _span(found: Mapping[str, set[Any]]) -> str:
    """64; 16 and 64; 64 to 2048; 2 (attention) and 1 (mamba)."""
    values = sorted(_values(found), key=lambda value: (isinstance(value, str), value))
    if len(values) == len(found) > 1 and all(len(own) == 1 for own in found.values()):
        return " and ".join(f"{value} ({mixer})" for mixer, own in found.items() for value in own)
    texts = [f"{value:,}" if isinstance(value, int) and value >= 10_000 else str(value) for value in values]
    return " and ".join(texts) if len(texts) < 3 else f"{texts[0]} to {texts[-1]}"
