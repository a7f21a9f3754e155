"""Other people's kernels, without a GPU: functions with their signatures, and their plain references behind them.

fla's signatures are read from its installed sources, which cannot be imported without triton. mamba-ssm and
causal-conv1d cannot be installed without CUDA, so their signatures are written down here (mamba-ssm 2.2, causal-conv1d
1.5), and their references anew from the equations.
"""

import ast
import importlib.util
import math
from collections.abc import Callable
from functools import cache
from inspect import Parameter, Signature, signature
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from tests.support.oracles.fla import load_naive

Kernel = Callable[..., Any]


def their_signature(file: str, name: str) -> Signature:
    """Of a function in fla/ops/<file>, as its source has it; what it takes by any other name is left out."""
    package = importlib.util.find_spec("fla")
    assert package is not None
    assert package.submodule_search_locations is not None
    tree = ast.parse((Path(package.submodule_search_locations[0]) / "ops" / file).read_text())
    (found,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name)
    defaults = [ast.literal_eval(node) for node in found.args.defaults]
    empty = [Parameter.empty] * (len(found.args.args) - len(defaults))
    kind = Parameter.POSITIONAL_OR_KEYWORD
    given = zip(found.args.args, [*empty, *defaults], strict=True)
    return Signature([Parameter(argument.arg, kind, default=default) for argument, default in given])


def behind(theirs: Signature, reference: Kernel) -> Kernel:
    """Called as theirs is; the reference gets the arguments that it knows, and the others may only be what they are
    anyway."""

    def kernel(*args: Any, **options: Any) -> Any:
        bound = theirs.bind(*args, **options)
        bound.apply_defaults()
        for name in bound.arguments.keys() - signature(reference).parameters.keys():
            assert bound.arguments[name] == theirs.parameters[name].default, name
        return reference(**{name: bound.arguments[name] for name in signature(reference).parameters})

    return kernel


def scaled(q: Tensor, scale: float | None) -> Tensor:
    """For references that divide by √K themselves, as their kernels do where nobody says a scale."""
    return q if scale is None else q * (scale * math.sqrt(q.shape[-1]))


def gated_delta(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, scale: float | None) -> Any:
    """fla's recurrence, whose arguments have another order."""
    return load_naive("gated_delta_rule").naive_recurrent_gated_delta_rule(q, k, v, beta, g, scale)


def kda(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, scale: float | None) -> Any:
    """fla's recurrence."""
    return load_naive("kda").naive_recurrent_kda(q, k, v, g, beta, scale)


def gla(q: Tensor, k: Tensor, v: Tensor, g: Tensor, scale: float | None) -> Any:
    """fla's recurrence."""
    return load_naive("gla").naive_recurrent_gla(scaled(q, scale), k, v, g)


def simple_gla(q: Tensor, k: Tensor, v: Tensor, g: Tensor, scale: float | None) -> Any:
    """fla's recurrence."""
    return load_naive("simple_gla").naive_recurrent_simple_gla(q, k, v, g, scale)


def dplr(q: Tensor, k: Tensor, v: Tensor, a: Tensor, b: Tensor, gk: Tensor, scale: float | None) -> Any:
    """fla's recurrence, which alone has heads before time."""
    naive = load_naive("generalized_delta_rule/dplr").dplr_recurrence
    o, state = naive(*(m.transpose(1, 2) for m in (scaled(q, scale), k, v, a, b, gk)))
    return o.transpose(1, 2), state


def selective_scan_fn(
    u: Tensor,
    delta: Tensor,
    A: Tensor,
    B: Tensor,
    C: Tensor,
    D: Tensor | None = None,
    z: Tensor | None = None,
    delta_bias: Tensor | None = None,
    delta_softplus: bool = False,
    return_last_state: bool = False,
) -> Tensor:
    """mamba-ssm's: u and Δ (B, D_i, L), A (D_i, N), B and C (B, N, L), D (D_i,)."""
    assert (z, delta_bias, delta_softplus, return_last_state) == (None, None, False, False)
    state, rows = torch.zeros(len(u), *A.shape, dtype=A.dtype), []
    for t in range(u.shape[2]):
        step = delta[:, :, t, None]
        state = torch.exp(step * A) * state + step * B[:, None, :, t] * u[:, :, t, None]
        rows.append(torch.einsum("bdn,bn->bd", state, C[:, :, t]))
    y = torch.stack(rows, dim=2)
    return y if D is None else y + D[:, None] * u


def causal_conv1d_fn(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    seq_idx: Tensor | None = None,
    initial_states: Tensor | None = None,
    return_final_states: bool = False,
    final_states_out: Tensor | None = None,
    activation: str | None = None,
) -> Tensor:
    """causal-conv1d's: x (B, C, L) with one of its last two strides 1, weight (C, K), 2 to 4 taps; channels side by
    side in memory must be a multiple of 8."""
    assert (seq_idx, initial_states, return_final_states, final_states_out) == (None, None, False, None)
    assert activation in (None, "silu", "swish")
    assert x.dtype == weight.dtype
    assert 2 <= weight.shape[1] <= 4
    assert x.stride(2) == 1 or (x.stride(1) == 1 and x.stride(0) % 8 == 0 and x.stride(2) % 8 == 0)
    y = F.conv1d(F.pad(x, (weight.shape[1] - 1, 0)), weight.unsqueeze(1), bias, groups=len(weight))
    return y if activation is None else F.silu(y)


@cache
def stand_ins() -> dict[str, ModuleType]:
    """The modules that the adapters import, each with the one function that they call there."""
    fla: dict[str, tuple[str, str, Kernel]] = {
        "gated_delta_rule": ("gated_delta_rule/chunk.py", "chunk_gated_delta_rule", gated_delta),
        "kda": ("kda/chunk.py", "chunk_kda", kda),
        "gla": ("gla/chunk.py", "chunk_gla", gla),
        "simple_gla": ("simple_gla/chunk.py", "chunk_simple_gla", simple_gla),
        "generalized_delta_rule": ("generalized_delta_rule/dplr/chunk.py", "chunk_dplr_delta_rule", dplr),
    }
    made = {f"fla.ops.{name}": {f: behind(their_signature(file, f), to)} for name, (file, f, to) in fla.items()}
    made["mamba_ssm.ops.selective_scan_interface"] = {"selective_scan_fn": selective_scan_fn}
    made["causal_conv1d"] = {"causal_conv1d_fn": causal_conv1d_fn}
    modules = {name: ModuleType(name) for name in made}
    for name, module in modules.items():
        vars(module).update(made[name])
    return modules
