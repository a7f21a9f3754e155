"""One table of forms: complete, true to the code, and the only way in which a mixer chooses."""

import ast
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest

import recollect.mixers
import recollect.ops
from recollect.errors import BadInput
from recollect.ops.forms import CPU_ONLY, KERNELS, LIBRARIES, OPS, OWN, form_of, pick

MIXER_FILES = [f for f in sorted(Path(recollect.mixers.__path__[0]).glob("*.py")) if f.name != "__init__.py"]
every_op = pytest.mark.parametrize("op", OPS)
every_mixer_file = pytest.mark.parametrize("file", MIXER_FILES, ids=lambda file: file.stem)


def forms_in(op: str) -> dict[str, Any]:
    """form -> function, for one op, as the table names them."""
    homes = {form: form if form in LIBRARIES else op for form in OPS[op].values()}
    return {form: getattr(import_module(f"recollect.ops.{home}"), f"{op}_{form}") for form, home in homes.items()}


@every_op
def test_every_op_states_a_form_for_the_kernels_that_everything_has(op: str) -> None:
    assert tuple(OPS[op])[:3] == OWN == ("numba", "torch", "loop")
    assert set(OWN) >= CPU_ONLY
    assert set(KERNELS) == {*OWN, *LIBRARIES}


@every_op
def test_every_stated_form_is_picked_and_runs_nothing_else(op: str) -> None:
    for kernel, form in OPS[op].items():
        assert form_of(op, kernel) == f"{op}_{form}"
        assert pick(op, kernel) is forms_in(op)[form]
        assert kernel in CPU_ONLY or form not in CPU_ONLY
        assert form == kernel or form not in LIBRARIES
        assert kernel not in LIBRARIES or form in (kernel, "torch")


@every_op
def test_all_forms_of_an_op_take_the_same_arguments(op: str) -> None:
    first, *others = (inspect.signature(form) for form in forms_in(op).values())
    assert all(other == first for other in others)


def test_no_form_is_forgotten() -> None:
    suffix = re.compile(rf"_({'|'.join(KERNELS)})$")
    found = set()
    for module in iter_modules(recollect.ops.__path__, "recollect.ops."):
        made = vars(import_module(module.name)).items()
        found |= {name for name, f in made if inspect.isfunction(f) and suffix.search(name)}
    assert found == {f"{op}_{form}" for op, forms in OPS.items() for form in forms.values()}


def test_a_kernel_that_an_op_does_not_state_is_refused_by_a_sentence() -> None:
    with pytest.raises(BadInput, match=r"^kernel: the op wkv states no form for 'cuda'; allowed: numba, torch, loop$"):
        pick("wkv", "cuda")


@every_mixer_file
def test_a_mixer_names_no_kernel_and_compares_none(file: Path) -> None:
    assert not re.search(r"numba|loop", file.read_text())
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Constant):
            assert node.value not in KERNELS
        elif isinstance(node, ast.Compare | ast.Subscript):
            asked = node if isinstance(node, ast.Compare) else node.slice
            assert "kernel" not in ast.unparse(asked)


@every_mixer_file
def test_a_mixer_picks_ops_of_the_table(file: Path) -> None:
    picked = re.findall(r'\bpick\("(\w+)"', file.read_text())
    assert set(picked) <= set(OPS)


def test_every_op_has_somebody_who_picks_it() -> None:
    package = Path(recollect.mixers.__path__[0]).parent
    text = "".join(file.read_text() for room in ("mixers", "training") for file in (package / room).glob("*.py"))
    assert set(re.findall(r'\bpick\("(\w+)"', text)) == set(OPS)


def test_the_table_is_read_without_torch_numba_and_numpy() -> None:
    code = "import sys, recollect.ops.forms; sys.exit(bool({'torch', 'numba', 'numpy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
