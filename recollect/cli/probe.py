"""`recollect probe`: what a trained model does inside."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from recollect.cli.options import Json, StorePath, check_folder, whole
from recollect.store import DEFAULT

if TYPE_CHECKING:  # torch is loaded when a run is looked into
    from recollect.inside.patch import Interchange
    from recollect.inside.probe import Probe
    from recollect.inside.seen import LayerSeen


def probe(
    run: str,
    /,
    *,
    rows: Annotated[int | None, Parameter(converter=whole, help="of the task to look at; by default up to 64")] = None,
    heads: Annotated[
        int | None, Parameter(converter=whole, help="or channels of a layer whose matrices are kept and drawn (4)")
    ] = None,
    out: Annotated[Path, Parameter(help="the folder for figures and JSON")] = Path("probes"),
    trust: Annotated[
        bool, Parameter(negative=(), help="execute a mixer's or task's code that the store brings")
    ] = False,
    store: StorePath = DEFAULT,
    json_: Json = False,
) -> None:
    """Look into a finished run: what its positions read, and where the answer passes.

    Mixing matrices of every layer and head on rows of its own task, scores of induction on them, what fades with
    distance, what each tap and each activation carries, which plateaus training went through. Figures and a JSON file
    are written to a folder.

    Example: recollect probe 3f2a

    Parameters
    ----------
    run
        A run's id, or its beginning.
    """
    check_folder(out)
    from recollect.api import probe as look

    found = look(run, store, rows=rows, heads=heads, trust=trust)
    files = write(found, out)
    if json_:
        json.dump(found.to_json(), sys.stdout)
        print()
    else:
        print(*lines(found), *files, sep="\n")


def write(found: "Probe", out: Path) -> list[Path]:
    """The figures and the JSON of a probe."""
    from recollect.report.fades import draw_fading
    from recollect.report.figures import save
    from recollect.report.inside import FadeLine
    from recollect.report.matrices import draw_matrices

    layers = list(enumerate(zip(found.before.layers, found.after.layers, strict=True)))
    matrices = {f"layer {i} {a.kind} {head}": M for i, (_, a) in layers for head, M in a.matrices.items()}
    mixer = found.spec.model.mixer_name
    fades = [FadeLine(f"layer {i}: mean |M|", mixer, b.fades, a.fades) for i, (b, a) in layers]
    fades.append(FadeLine("gradient of the loss", mixer, found.before.gradient, found.after.gradient))
    spectra = {f"layer {i}: decays": (b.decays, a.decays) for i, (b, a) in layers if a.decays}
    title = f"{mixer}, {found.spec.task.short()}, run {found.run}"
    places = {name: one[0].tolist() for name, one in found.first.items() if name != "tokens"}
    drawn = {"matrices": draw_matrices(matrices, places, title), "fades": draw_fading(fades, title, spectra)}
    out.mkdir(parents=True, exist_ok=True)
    files = [file for name, one in drawn.items() for file in save(one, out, f"{found.run}-{name}", ("png", "pdf"))]
    file = out / f"{found.run}.json"
    file.write_text(json.dumps(found.to_json(), allow_nan=False))
    return [*files, file]


def lines(found: "Probe") -> list[str]:
    """The numbers, in words."""
    from recollect.inside.decay import fitted_length
    from recollect.inside.phases import told

    said = [f"run {found.run}: accuracy {found.accuracy:.1%} on {len(found.rows.batch)} rows"]
    for i, (before, after) in enumerate(zip(found.before.layers, found.after.layers, strict=True)):
        said += layer_lines(i, before, after)
    was, now = (fitted_length(seen.gradient) for seen in (found.before, found.after))
    said.append(f"gradient of the loss: length {now:.1f} tokens, before training {was:.1f}")
    said += interchange_lines(found.interchange)
    for name, values in found.taps.items():
        said.append(f"accuracy of {name} without lag 0, 1, ...: {', '.join(f'{value:.1%}' for value in values)}")
    return said + told(found.phases)


def layer_lines(layer: int, before: "LayerSeen", after: "LayerSeen") -> list[str]:
    """Scores, what fades, what the state keeps."""
    from recollect.inside.probe import SIGNED

    heads = len(after.scores["induction"].heads)
    said = [f"layer {layer} ({after.kind}, {heads} {'heads or channels' if heads > 1 else 'head'})"]
    said += [f"  {SIGNED}"] if after.is_signed else []
    for name, one in after.scores.items():
        first = before.scores[name].together
        said.append(f"  {name:20} {one.together:.3f}, best {one.best:.3f}, chance {one.chance:.3f}, before {first:.3f}")
    said.append(f"  {'length':20} {after.length:.1f} tokens, before training {before.length:.1f}")
    if after.decays:
        now, was = (", ".join(f"{q} {x:.3f}" for q, x in one.decays.items()) for one in (after, before))
        said.append(f"  {'decays, quantiles':20} {now}; before training {was}")
        roles = ", ".join(f"{role} {value:.2f}" for role, value in after.forgets.items())
        said.append(f"  {'-ln of the decay':20} {roles}")
    return said


def interchange_lines(found: "Interchange") -> list[str]:
    """Where the answer passes, if there is one."""
    lost = f"without its key the answer loses {found.clean - found.corrupt:.2f} nats"
    if not found.ratios:
        return [f"{lost}: too little to be followed"]
    passes = [f"  {site:20} at {where}: {one:.2f}" for (site, where), one in found.ratios.items() if abs(one) > 0.05]
    return [f"{lost}, of which comes back with (interchange)", *passes]
