"""`recollect probe`: what a trained model does inside."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from recollect.cli.options import Json, StorePath, check_folder, whole
from recollect.errors import BadInput
from recollect.store import DEFAULT

if TYPE_CHECKING:  # torch is loaded when a run is looked into
    from recollect.inside.probe import Probe


def probe(
    run: str,
    /,
    *,
    rows: Annotated[int | None, Parameter(converter=whole, help="of the task to look at; by default up to 64")] = None,
    out: Annotated[Path, Parameter(help="the folder for figures and JSON")] = Path("probes"),
    trust: Annotated[bool, Parameter(negative=(), help="execute a mixer's code that the store brings")] = False,
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
    if rows is not None and rows < 1:
        raise BadInput(f"--rows: must be at least 1 (got {rows})")
    check_folder(out)
    from recollect.api import probe as look

    found = look(run, store, rows=rows, trust=trust)
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

    out.mkdir(parents=True, exist_ok=True)
    places, layers = found.rows.places, list(enumerate(zip(found.before.layers, found.after.layers, strict=True)))
    ticks = {"keys": places.keys, "values": places.values, "queries": places.queries}
    matrices = {f"layer {i} {a.kind} {head}": M for i, (_, a) in layers for head, M in a.matrices.items()}
    mixer = found.spec.model.mixer_name
    fades = [FadeLine(f"layer {i}: mean |M|", mixer, b.fades, a.fades) for i, (b, a) in layers]
    fades.append(FadeLine("gradient, distance to query", mixer, found.before.gradient, found.after.gradient))
    title = f"{mixer}, {found.spec.task.short()}, run {found.run}"
    drawn = draw_matrices(matrices, {name: one[0].tolist() for name, one in ticks.items()}, title)
    files = save(drawn, out, f"{found.run}-matrices", ("png", "pdf"))
    files += save(draw_fading(fades, title), out, f"{found.run}-fades", ("png", "pdf"))
    file = out / f"{found.run}.json"
    file.write_text(json.dumps(found.to_json(), allow_nan=False))
    return [*files, file]


def lines(found: "Probe") -> list[str]:
    """The numbers, in words."""
    told = [f"run {found.run}: accuracy {found.accuracy:.1%} on {len(found.rows.batch)} rows"]
    for i, seen in enumerate(found.after.layers):
        told.append(f"layer {i} ({seen.kind}, {len(seen.scores['induction'].heads)} heads or channels)")
        told += [
            f"  {name:20} {one.together:.3f}, best {one.best:.3f}, chance {one.chance:.3f}"
            for name, one in seen.scores.items()
        ]
        told.append(f"  {'length':20} {seen.length:.1f} tokens, before training {found.before.layers[i].length:.1f}")
        if seen.forgets:
            roles = ", ".join(f"{role} {value:.2f}" for role, value in seen.forgets.items())
            told.append(f"  {'-ln of the decay':20} {roles}")
    told.append("the answer passes (interchange)")
    told += [
        f"  {site:20} at {where}: {one:.2f}" for (site, where), one in found.interchange.ratios.items() if one > 0.05
    ]
    for name, values in found.taps.items():
        told.append(f"accuracy of {name} without lag 0, 1, ...: {', '.join(f'{value:.1%}' for value in values)}")
    visits = ", ".join(f"{one.name} ({one.start:.0f} to {one.end:.0f})" for one in found.phases.visits)
    return [*told, f"plateaus: {visits or 'none'}{'; a bump without accuracy' if found.phases.bump else ''}"]
