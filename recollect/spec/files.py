"""Files: those that a run keeps in its folder, and those that users bring (YAML, Python, pinned by their hash)."""

import hashlib
import importlib.util
import re
import signal
import sys
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

from recollect.errors import BadInput

PATIENCE = 60.0
"""Seconds that a user's file may take to be imported."""
CHECKPOINT, WEIGHTS = "checkpoint.safetensors", "model.safetensors"


def safe_name(text: str, taken: Collection[str] = ()) -> str:
    """A file's name for whatever a study, a sweep or a model is called: no path, not too long, none that is taken."""
    name = re.sub(r"[^\w.+()-]+", "-", text).strip(".-")[:80] or "unnamed"
    return name if name not in taken else f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:6]}"


def pin(file: Path) -> str:
    """What a file holds, as a spec pins it."""
    return "sha256 " + hashlib.sha256(file.read_bytes()).hexdigest()


class Plain(yaml.SafeLoader):
    """YAML in which nothing holds itself, a key stands once (of two, PyYAML takes the last and says nothing), and words
    mean what YAML 1.2 says (numbers are decimal). To PyYAML, by 1.1, 1e-3 is text, off is false, 042 is 34 and
    1:30 is 90."""

    yaml_implicit_resolvers = {}  # noqa: RUF012 - declared by PyYAML, without the mark that it is the class's

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """As PyYAML does, but at once, so that it refuses what holds itself."""
        return super().construct_object(node, deep=True)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """As PyYAML does, but a second key of the same name is refused."""
        names = [key.value for key, _ in node.value]
        for name in (name for name in names if names.count(name) > 1):
            raise yaml.YAMLError(f"the key '{name}' stands twice")
        return super().construct_mapping(node, deep)

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        """Decimal, whatever it begins with."""
        return int(node.value)


Plain.add_constructor("tag:yaml.org,2002:int", Plain.construct_yaml_int)
for kind, pattern, first in (
    ("null", "~|null|Null|NULL|", [*"~nN", ""]),
    ("bool", "true|True|TRUE|false|False|FALSE", [*"tTfF"]),
    ("int", r"[-+]?\d+", [*"-+0123456789"]),
    ("float", r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", [*"-+.0123456789"]),
    ("merge", "<<", ["<"]),
):
    Plain.add_implicit_resolver(f"tag:yaml.org,2002:{kind}", re.compile(f"(?:{pattern})$"), first)


def read_mapping(file: Path, example: str) -> dict[str, Any]:
    """The content of a YAML file that is a mapping, such as the example."""
    try:
        plain = yaml.load(file.read_text(), Plain)
    except OSError as error:
        raise BadInput(f"{file}: cannot be read ({error.strerror})") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadInput(f"{file}: no YAML ({' '.join(str(error).split())})") from None
    if not isinstance(plain, dict):
        raise BadInput(f"{file}: a mapping is needed, such as {example} (got {type(plain).__name__})")
    return plain


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Stop what takes longer, where the system can ring a bell; only the main thread hears it."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number: int, frame: object) -> None:
        raise BadInput(f"importing it takes longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def load_module(file: Path, name: str, where: str) -> ModuleType:
    """A Python file as a module of this name, loaded once; what it raises is one sentence."""
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        with within(PATIENCE):
            spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, BadInput):
            raise BadInput(f"{where}: {error}") from None
        if isinstance(error, Exception | SystemExit):
            raise BadInput(f"{where}: importing it raised {type(error).__name__}: {error}") from error
        raise
    return module
