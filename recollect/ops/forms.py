"""Which form of an op a kernel runs: one table, and the one function that picks from it.

An op is a module of this room, `recollect.ops.<op>`; a form of it is the function `<op>_<form>` in there. All forms of
an op take the same arguments and compute the same thing: `loop` is the judge, as plain as the equation, `torch` runs
on any device, `numba` is compiled. Where an op lacks a kernel's own form, the table names the form that runs instead.
The forms of another library stand together in `recollect.ops.<library>`; an op that it could not serve has no row for
it, and a model with such an op is refused. Nothing here imports torch, so that a spec can be judged without it.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeAlias

from recollect.errors import BadInput

Kernel: TypeAlias = str

OPS: dict[str, dict[Kernel, str]] = {
    "answer_loss": {"numba": "numba", "torch": "torch", "loop": "loop", "fla": "torch", "mamba_ssm": "torch"},
    "bias_gelu": {"numba": "numba", "torch": "torch", "loop": "torch", "fla": "torch", "mamba_ssm": "torch"},
    "bonus_norm": {"numba": "numba", "torch": "torch", "loop": "torch", "fla": "torch"},
    "causal_conv": {"numba": "numba", "torch": "torch", "loop": "loop", "fla": "torch", "mamba_ssm": "mamba_ssm"},
    "delta": {"numba": "numba", "torch": "torch", "loop": "loop", "fla": "fla"},
    "dplr": {"numba": "numba", "torch": "torch", "loop": "loop", "fla": "fla"},
    "gate": {"numba": "numba", "torch": "torch", "loop": "torch", "fla": "torch", "mamba_ssm": "torch"},
    "kda": {"numba": "numba", "torch": "torch", "loop": "loop", "fla": "fla"},
    "linear_attention": {"numba": "torch", "torch": "torch", "loop": "loop"},
    "long_conv": {"numba": "torch", "torch": "torch", "loop": "loop"},
    "lstm": {"numba": "torch", "torch": "torch", "loop": "torch"},
    "mlstm": {"numba": "torch", "torch": "torch", "loop": "loop"},
    "modes_kernel": {"numba": "torch", "torch": "torch", "loop": "loop"},
    "removal_keys": {"numba": "numba", "torch": "torch", "loop": "torch", "fla": "torch"},
    "rms_norm": {"numba": "numba", "torch": "torch", "loop": "torch", "fla": "torch", "mamba_ssm": "torch"},
    "selective_scan": {"numba": "numba", "torch": "torch", "loop": "loop", "mamba_ssm": "mamba_ssm"},
    "sigmoid_gate": {"numba": "numba", "torch": "torch", "loop": "torch", "fla": "torch"},
    "softmax": {"numba": "torch", "torch": "torch", "loop": "torch"},
    "softplus_linear": {"numba": "numba", "torch": "torch", "loop": "torch", "mamba_ssm": "torch"},
    "ssd": {"numba": "numba", "torch": "torch", "loop": "loop", "fla": "fla"},
    "token_shift": {"numba": "numba", "torch": "torch", "loop": "torch", "fla": "torch"},
    "token_shifts": {"numba": "numba", "torch": "torch", "loop": "torch", "fla": "torch"},
    "trapezoid": {"numba": "numba", "torch": "torch", "loop": "loop", "fla": "fla"},
    "turned_norm": {"numba": "numba", "torch": "torch", "loop": "torch", "fla": "torch"},
    "window_attention": {"numba": "torch", "torch": "torch", "loop": "loop"},
    "window_rows": {"numba": "torch", "torch": "torch", "loop": "loop"},
    "wkv": {"numba": "numba", "torch": "torch", "loop": "loop"},
}
KERNELS: tuple[Kernel, ...] = tuple(dict.fromkeys(kernel for forms in OPS.values() for kernel in forms))
"""All kernels, the default first."""
CPU_ONLY: frozenset[Kernel] = frozenset({"numba"})
LIBRARIES: dict[Kernel, dict[str, str]] = {
    "fla": {"fla": "fla-core", "triton": "triton"},
    "mamba_ssm": {"mamba_ssm": "mamba-ssm", "causal_conv1d": "causal-conv1d"},
}
"""Kernels of other libraries, for CUDA devices only: the modules that they need, and the package that brings each."""
OWN: tuple[Kernel, ...] = tuple(kernel for kernel in KERNELS if kernel not in LIBRARIES)
"""Those that are written here, which every op states."""


def form_of(op: str, kernel: Kernel) -> str:
    """The name of the function that this kernel runs for this op."""
    if kernel not in OPS[op]:
        raise BadInput(f"kernel: the op {op} states no form for '{kernel}'; allowed: {', '.join(OPS[op])}")
    return f"{op}_{OPS[op][kernel]}"


def pick(op: str, kernel: Kernel) -> Callable[..., Any]:
    """The function itself."""
    name = form_of(op, kernel)
    home = OPS[op][kernel] if OPS[op][kernel] in LIBRARIES else op
    form: Callable[..., Any] = getattr(import_module(f"recollect.ops.{home}"), name)
    return form
