"""The device that a spec names: whether this machine has it, how a process is set up for it, what it is called.

`require` is asked before anything is written. `deterministic` asks torch for algorithms that repeat to the last bit on
a GPU, and raises where there is none; without it sums there may be taken in any order. A CPU repeats with one thread.
"""

import os
import shutil
import subprocess
from importlib.metadata import version
from importlib.util import find_spec

import torch

from recollect.errors import BadInput
from recollect.ops.forms import LIBRARIES
from recollect.spec import RunSpec
from recollect.training.learner import Learner

COMPILERS = ("g++", "clang++", "c++")


def require(spec: RunSpec) -> None:
    """Refuse, in one sentence, a library, a device or a compiler that is not here."""
    device, kernel = torch.device(spec.compute.device), spec.compute.kernel
    needed = LIBRARIES.get(kernel, {})
    if missing := [package for module, package in needed.items() if find_spec(module) is None]:
        raise BadInput(f"compute.kernel: {kernel} needs {', '.join(missing)}, not installed here; use torch")
    if device.type == "cuda":
        there = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if there <= (device.index or 0):
            found = f"{there} of them" if there else "none"
            raise BadInput(f"compute.device: {device} is asked for and torch finds {found} here; --dry-run needs none")
    if device.type == "mps" and not torch.backends.mps.is_available():
        raise BadInput("compute.device: mps is asked for and torch finds none here; --dry-run needs none")
    if spec.compute.compile and device.type == "cpu" and not any(map(shutil.which, compilers())):
        raise BadInput(f"compute.compile: needs a C++ compiler ({', '.join(compilers())}) and there is none here")


def compilers() -> tuple[str, ...]:
    """Those that torch may use on a CPU; $CXX names another."""
    return (os.environ["CXX"],) if os.environ.get("CXX") else COMPILERS


def set_up(spec: RunSpec) -> None:
    """Matrix products and algorithms as the spec says; a process may train several specs, one after the other."""
    if spec.compute.deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # cuBLAS repeats only with this
    if torch.are_deterministic_algorithms_enabled() != spec.compute.deterministic:  # asking loads no compiler
        torch.use_deterministic_algorithms(spec.compute.deterministic)
    torch.set_float32_matmul_precision("high" if spec.compute.precision == "tf32" else "highest")
    torch.backends.cudnn.allow_tf32 = spec.compute.precision == "tf32"


def trace(model: Learner) -> None:
    """Let torch.compile make the model's kernels, at the first step and at shapes that it has not seen."""
    model.features = torch.compile(model.features)  # type: ignore[method-assign]


def libraries(spec: RunSpec) -> dict[str, str]:
    """The packages whose kernels it runs, with their versions, for the provenance."""
    return {package: version(package) for package in LIBRARIES.get(spec.compute.kernel, {}).values()}


def named(device: torch.device) -> dict[str, str]:
    """The GPU, CUDA and driver, for the provenance; nothing on a CPU."""
    if device.type != "cuda":
        return {}
    return {"gpu": torch.cuda.get_device_name(device), "cuda": str(torch.version.cuda), "driver": driver()}


def driver() -> str:
    """The driver's version as its own tool says it; empty where that is missing."""
    words = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "--id=0"]
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""
