"""What computes it."""

from typing import Annotated, Literal

from pydantic import Field, PositiveInt, field_validator

from recollect.errors import nearest
from recollect.ops.forms import KERNELS, Kernel
from recollect.spec.base import LATER, As, Frozen


def kind_of_device(device: str) -> str:
    """`cuda:1` is a cuda: which of several alike trains a run is no part of what the run is."""
    return device.partition(":")[0]


class ComputeSpec(Frozen):
    """What computes it: all of this can change the last bits."""

    device: Annotated[str, As(kind_of_device)] = Field("cpu", pattern=r"^(cpu|cuda(:\d+)?|mps)$")
    precision: Literal["fp32", "tf32", "bf16"] = Field(
        "fp32", description="tf32: matrix products of a CUDA device; bf16 is autocast; weights stay fp32"
    )
    threads: PositiveInt = Field(1, le=1024)
    kernel: Kernel = Field(
        "numba",
        description="the ops' form: numba (CPU), torch (any device), loop (the judge), fla or mamba_ssm (theirs, CUDA)",
    )
    compile: Annotated[bool, LATER] = Field(False, description="torch.compile makes the model's kernels (kernel=torch)")
    deterministic: Annotated[bool, LATER] = Field(
        False, description="on a GPU, only algorithms that repeat to the last bit; a CPU's one thread always does"
    )

    @field_validator("kernel")
    @classmethod
    def is_known(cls, kernel: Kernel) -> Kernel:
        """Refuse a kernel of which no op has a form."""
        if kernel not in KERNELS:
            raise ValueError(f"unknown name '{kernel}'{nearest(kernel, KERNELS)}")
        return kernel
