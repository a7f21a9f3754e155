"""What this machine's processor can do, read without torch."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from recollect.spec import RunSpec

CPUINFO = Path("/proc/cpuinfo")
BF16 = {"avx512_bf16", "amx_bf16", "bf16"}
"""Names under which Linux lists units for bfloat16, on x86 and on ARM."""


@cache
def flags(file: Path = CPUINFO) -> frozenset[str]:
    """What the processor says that it has; empty where the system does not tell."""
    return frozenset(said(("flags", "Features"), file).split())


def maker(file: Path = CPUINFO) -> str:
    """Who made it; empty where the system does not tell."""
    return said(("vendor_id",), file).strip()


def said(names: tuple[str, ...], file: Path) -> str:
    """What the first line of one of these names holds."""
    lines = file.read_text().splitlines() if file.exists() else []
    return next((line.partition(":")[2] for line in lines if line.startswith(names)), "")


def advice(specs: Iterable[RunSpec]) -> str:
    """A sentence where runs ask this processor for what it is slow at; they are run as they are asked for."""
    half = any(spec.compute.device == "cpu" and spec.compute.precision == "bf16" for spec in specs)
    slow = half and flags() and not BF16 & flags()
    return "compute.precision: this processor has no units for bf16, which takes longer here than fp32" if slow else ""
