"""Diagnostics of training: against the loop forms and against the steps that were really taken."""

import copy
from collections.abc import Sequence

import pytest
import torch

from recollect.inside.diagnostics import diagnose, first, gradient, hessian_times, sharpness, updates
from recollect.spec import RunSpec
from recollect.tasks import make_task
from recollect.training.execute import execute, initial_model, prepare
from recollect.training.trainer import Trainer, loss_at
from tests.support.small import tiny


def trainer_of(spec: RunSpec, steps: int) -> Trainer:
    prepare(spec)
    made = Trainer(spec, make_task(spec.task), initial_model(spec))
    for _ in range(steps):
        made.step()
    return made


def twice(trainer: Trainer) -> tuple[list[torch.nn.Parameter], torch.Tensor]:
    """The parameters, and the gradient of the loss on the first rows, which can be differentiated again."""
    parameters = trainer.parameters
    loss, _ = loss_at(trainer.model, first(trainer.validation[0]), trainer.spec)
    found = torch.autograd.grad(loss, parameters, create_graph=True)
    return parameters, torch.cat([g.flatten() for g in found])


def flat(values: Sequence[torch.Tensor | None], parameters: list[torch.nn.Parameter]) -> torch.Tensor:
    parts = zip(values, parameters, strict=True)
    return torch.cat([(torch.zeros_like(p) if value is None else value).flatten() for value, p in parts])


@pytest.mark.parametrize("mixer", ["attention", "mamba", "deltanet"])
def test_the_hessian_of_the_fast_forms_is_that_of_the_loop_forms(mixer: str) -> None:
    loop = trainer_of(tiny(mixer, compute__kernel="loop"), 3)
    parameters, g = twice(loop)
    rng = torch.Generator().manual_seed(1)
    v = [torch.randn(p.shape, generator=rng) for p in parameters]
    length = flat(v, parameters).norm()
    v = [part / length for part in v]
    exact = flat(torch.autograd.grad(g @ flat(v, parameters), parameters, allow_unused=True), parameters)
    spec = tiny(mixer)
    fast = initial_model(spec)
    fast.load_state_dict(loop.model.state_dict())
    found = flat(hessian_times(v, fast, first(loop.validation[0]), spec), parameters)
    assert (found - exact).norm() < 0.02 * exact.norm()


def test_sharpness_is_the_largest_eigenvalue() -> None:
    trainer = trainer_of(tiny(compute__kernel="loop", model__d_model=4, task__vocab_size=10), 5)
    parameters, g = twice(trainer)
    rows = [torch.autograd.grad(one, parameters, retain_graph=True, allow_unused=True) for one in g]
    H = torch.stack([flat(row, parameters) for row in rows])
    exact = float(torch.linalg.eigvalsh((H + H.T) / 2).abs().max())
    found = sharpness(trainer.model, first(trainer.validation[0]), trainer.spec, rounds=40)
    assert found == pytest.approx(exact, rel=0.05)


def test_the_weights_are_where_they_were() -> None:
    trainer = trainer_of(tiny("mamba"), 2)
    before = copy.deepcopy(trainer.model.state_dict())
    diagnose(trainer)
    sharpness(trainer.model, first(trainer.validation[0]), trainer.spec, rounds=2)
    assert all(torch.equal(value, before[name]) for name, value in trainer.model.state_dict().items())


@pytest.mark.parametrize("optimiser", ["adamw", "muon", "lion"])
def test_the_ratio_is_that_of_the_step_that_is_taken(optimiser: str) -> None:
    trainer = trainer_of(tiny(train__optimiser=optimiser), 3)
    before = [p.detach().clone() for p in trainer.parameters]
    found = updates(trainer)
    trainer.step()
    taken = [p.detach() - w for p, w in zip(trainer.parameters, before, strict=True)]
    names = [name for name, _ in trainer.model.named_parameters()]
    mine = [i for i, name in enumerate(names) if name.startswith("blocks.0.mixer")]
    moved, size = (torch.cat([parts[i].flatten() for i in mine]).norm() for parts in (taken, before))
    assert found["0 mixer"] == pytest.approx(float(moved / size), rel=1e-3)
    assert set(found) == {"embed", "position", "0 norm", "0 mixer", "norm"}


def test_gradient_norms_are_those_of_the_loss() -> None:
    trainer = trainer_of(tiny(), 1)
    found = diagnose(trainer)
    whole = torch.cat([g.flatten() for g in gradient(trainer.model.eval(), first(trainer.validation[0]), trainer.spec)])
    squares = sum(value**2 for name, value in found.items() if name.endswith("gradient norm"))
    assert squares**0.5 == pytest.approx(float(whole.norm()), rel=1e-5)


def test_a_diagnosed_run_is_the_same_bit_for_bit() -> None:
    from recollect.inside.observe import Observer
    from recollect.spec.watch import Watch

    spec = tiny("mamba", model__dropout=0.1)
    plain, observed = (
        list(execute(spec, watcher=watcher))[-1] for watcher in (None, Observer(spec, Watch(3, diagnostics=True)))
    )
    assert plain.result == observed.result  # type: ignore[union-attr]
