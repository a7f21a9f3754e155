"""What a study is: a question as data. Models x settings x shapes x learning rates x seeds, at four scales."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from recollect.errors import BadInput
from recollect.spec import RunSpec
from recollect.spec.compose import make_spec
from recollect.spec.protocols import PROTOCOLS, Fields
from recollect.spec.sources import is_code
from recollect.studies.changes import Changes
from recollect.studies.parts import DESIGNS, Case, Design, Scale, Variant, runs_of
from recollect.studies.words import Measures, differences, measure
from recollect.window.tuned import LONG, MOST

TWINS = {"train.steps": "train.epochs", "train.warmup_steps": "train.warmup"}
TWINS |= {other: one for one, other in TWINS.items()}
"""Fields that say the same thing in two ways."""

SIZES = (
    *("task.vocab_size", "task.length", "task.n_pairs", "task.rows", "task.validation_rows", "task.test_rows"),
    *("train.steps", "train.batch_size", "train.eval_every", "train.lr_hold"),
)
"""What makes a protocol small enough for a laptop."""


@dataclass(frozen=True)
class Study:
    """Its question, its models, its scales, and the kind of figure that answers it.

    Its name and question are those of its file, given where it is registered. `against` names, by label, the model that
    another is compared with: a search then goes on where its window may be the wider one. `minutes` is what a scale
    takes on two cores, from real runs or from timed steps and the whole budget of every run. One that
    looks inside has its runs observed while they train.
    """

    title: str
    figure: str
    models: Mapping[str, Variant]
    scales: Mapping[str, Scale]
    task: str = "mqar"
    minutes: Mapping[str, float] = field(default_factory=dict)
    looks_inside: bool = False
    against: Callable[[str], str] | None = None
    name: str = ""
    question: str = ""
    _made: dict[str, tuple[Case, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def cases(self, scale: str, changes: Changes | None = None) -> list[Case]:
        """Its runs at a scale: every cell at every learning rate with every seed.

        All of the first seed come first: a figure that is stopped early has all models in it.
        """
        wanted = changes or Changes()
        found = self.sized(scale, wanted)
        cells = [(cell, self.lrs(cell.label, found)) for cell in self._cells(found, wanted)]
        lrs = dict.fromkeys(lr for _, own in cells for lr in own)
        axes = itertools.product(found.seeds, lrs, cells)
        return [replace(cell, spec=cell.spec.at(lr, seed)) for seed, lr, (cell, own) in axes if lr in own]

    def lrs(self, label: str, scale: Scale) -> tuple[float, ...]:
        """The learning rates of a model: those of a replication are its own."""
        own = self.models[label].lrs if label in self.models else ()
        return own or scale.lrs

    def runs(self, scale: str) -> tuple[int, int]:
        """How many runs it takes at a scale, by the scale's own design, usually and at most."""
        found = self._scale(scale)
        rates = [self.lrs(cell.label, found) for cell in self.cells(scale)]
        most = LONG if self.against else MOST
        low, high = zip(*(runs_of(found.design, lrs, len(found.seeds), most) for lrs in rates), strict=True)
        return sum(low), sum(high)

    def sized(self, scale: str, changes: Changes) -> Scale:
        """One of its scales with what the user wants otherwise."""
        return changes.apply(self._scale(scale))

    def called(self, scale: str, changes: Changes, design: Design) -> str:
        """The name under which runs are kept: the scale's, and what is otherwise than the study has it there."""
        words = [str(changes), DESIGNS[design] if design != self._scale(scale).design else ""]
        told = "; ".join(filter(None, words))
        return f"{scale} ({told})" if told else scale

    def cells(self, scale: str) -> tuple[Case, ...]:
        """One run of every cell, made once; each stands for as many as it has learning rates times seeds."""
        if scale not in self._made:
            self._made[scale] = tuple(self._cells(self._scale(scale), Changes()))
        return self._made[scale]

    def note(self, scale: str) -> str:
        """What one of its scales leaves out of the paper's; empty for any other, such as a changed one.

        Of replications only what is not said of all.
        """
        if scale not in self.scales:
            return ""
        words = self._smaller(scale)
        theirs = [word for word in self._smaller(scale, replicated=True) if word not in words]
        told = [f"replications: {' and '.join(theirs)}"] if theirs else []
        without = (f"without '{label}'" for label in self.scales[scale].without)
        return "; ".join(filter(None, (self.scales[scale].remark, ", ".join(words), *told, *without)))

    def _smaller(self, scale: str, *, replicated: bool = False) -> list[str]:
        """What is other than in the paper, of its own models or of those that replicate others'."""
        paper = self._measures("paper", replicated=replicated) if "paper" in self.scales else {}
        return differences(self._measures(scale, replicated=replicated), paper) if scale != "paper" else []

    def _measures(self, name: str, *, replicated: bool) -> Measures:
        scale, cells = self.scales[name], self.cells(name)
        models = [(cell.spec, self.models[cell.label]) for cell in cells]
        said = [(spec, model.fields) for spec, model in models if bool(model.protocol) == replicated]
        if replicated:
            return measure(said, {})
        lrs = "searched" if scale.design == "window" else len(scale.lrs)
        return measure(said, {"protocol": scale.protocol, "train.lr": lrs, "seed": len(scale.seeds)})

    def _scale(self, name: str) -> Scale:
        if name not in self.scales:
            raise BadInput(f"run {self.name}: no scale '{name}'; allowed: {', '.join(self.scales)}")
        return self.scales[name]

    def _cells(self, scale: Scale, wanted: Changes) -> list[Case]:
        """Every model at every setting and shape; where two models are the same there, the first one has it."""
        made: dict[RunSpec, Case] = {}
        there: dict[tuple[str, str], RunSpec] = {}
        models = {label: model for label, model in wanted.choose(self.models).items() if label not in scale.without}
        for (label, model), setting, shape in itertools.product(models.items(), scale.settings, scale.shapes):
            sizes = dict(zip(("model.d_model", "model.n_layers"), shape, strict=True))
            base = {
                **(small(scale.protocol) if model.protocol else {}),
                **scale.fields,
                **setting,
                **sizes,
                **model.fields,
                **scale.own.get(label, {}),
            }
            if (depth := model.fields.get("model.n_layers")) not in (None, wanted.fields.get("model.n_layers", depth)):
                raise BadInput(f"run {self.name}: --set model.n_layers: '{label}' has {depth}; --mixers names others")
            fields = {key: value for key, value in base.items() if TWINS.get(key) not in wanted.fields}
            fields |= wanted.fields
            protocol = model.protocol or scale.protocol
            like = wanted.like if any(map(is_code, model.mixer.split(","))) else ""
            spec = make_spec(self.task, model.layers(), fields, protocol=protocol, like=like, where=self.name)
            place = f"{setting} {shape}"
            there[label, place] = spec
            other = there.get((self.against(label), place)) if self.against else None
            made.setdefault(spec, Case(label, spec, None if other == spec else other))
        return list(made.values())


def small(protocol: str) -> Fields:
    """The sizes and the budget of a protocol that draws fresh rows: another one's manners can be tried in them.

    A protocol with the paper's rows has the paper's sizes, as all others do: there is nothing to be taken over.
    """
    found = PROTOCOLS.find(protocol).fields
    return {name: found[name] for name in SIZES if name in found} if found["task.rows"] == "fresh" else {}
