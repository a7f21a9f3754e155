"""What is shipped: a wheel with all files of the package, a lock for every system, a version that stands once."""

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from zipfile import ZipFile

import pytest
import tomllib
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.cli.test_cli import call
from tests.support.places import ROOT
from tests.test_readme import COMMANDS, EXAMPLE, QUICK

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = ROOT / "constraints.txt"
SYSTEMS = {
    "Linux": {"sys_platform": "linux", "platform_system": "Linux", "platform_machine": "x86_64", "os_name": "posix"},
    "macOS": {"sys_platform": "darwin", "platform_system": "Darwin", "platform_machine": "arm64", "os_name": "posix"},
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from this tree, without network."""
    folder = tmp_path_factory.mktemp("dist")
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_has_every_file_of_the_package_and_no_other(wheel: Path) -> None:
    packed = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}
    files = {file.relative_to(ROOT) for file in (ROOT / "recollect").rglob("*") if file.is_file()}
    assert packed == {file.as_posix() for file in files if "__pycache__" not in file.parts}
    assert {Path(name).suffix for name in packed} >= {".py", ".typed", ".mplstyle", ".j2", ".css", ".js"}


def test_the_version_of_package_changelog_command_and_tag_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    version, heading = PROJECT["version"], re.search(r"^## (\S+) \((.+)\)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert heading is not None
    assert heading[1] == version
    assert call(capsys, "--version")[1].strip() == version
    tags = subprocess.run(["git", "tag", "--points-at", "HEAD", "v*"], cwd=ROOT, capture_output=True, text=True).stdout
    assert tags.split() in ([], [f"v{version}"])
    assert not (tags and heading[2] == "unreleased")


def needed(system: dict[str, str]) -> set[str]:
    """All packages that the project and its extras want on a system, as far as those installed here tell."""
    wanted = [
        *PROJECT["dependencies"],
        *(name for extra in PROJECT["optional-dependencies"].values() for name in extra),
    ]
    queue, seen = [Requirement(line) for line in wanted], set()
    while queue:
        one = queue.pop()
        if (key := (canonicalize_name(one.name), *sorted(one.extras))) in seen:
            continue
        seen.add(key)
        for below in map(Requirement, needs(one.name)):
            extras = one.extras or {""}
            if below.marker is None or any(below.marker.evaluate({**system, "extra": extra}) for extra in extras):
                queue.append(below)
    return {name for name, *_ in seen}


def needs(name: str) -> list[str]:
    """What a package wants, where it is installed."""
    try:
        return requires(name) or []
    except PackageNotFoundError:
        return []


@pytest.mark.parametrize("system", SYSTEMS)
def test_everything_that_a_system_wants_has_a_pin(system: str) -> None:
    pins = re.findall(r"^(\S+)==\S+$", LOCK.read_text(), re.M)
    assert needed(SYSTEMS[system]) <= {canonicalize_name(name) for name in pins}


@pytest.mark.prove
def test_the_wheel_without_extras_runs_every_command_of_the_readme(wheel: Path, tmp_path: Path) -> None:
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    work, scripts = tmp_path / "work", tmp_path / "fresh" / "bin"
    work.mkdir()
    for folder in ("examples", "results"):
        (work / folder).symlink_to(ROOT / folder)

    def say(*words: str | Path) -> str:
        done = subprocess.run(words, cwd=work, env=kept, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{words}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        return done.stdout

    say(sys.executable, "-m", "venv", scripts.parent)
    say(scripts / "pip", "install", "--quiet", "-c", LOCK, wheel)
    assert str(scripts.parent) in say(scripts / "python", "-c", "import recollect; print(recollect.__file__)")
    assert "ray" not in say(scripts / "pip", "list").split()
    for words in COMMANDS:
        say(scripts / "recollect", *words, *QUICK.get(words[0], []))
    say(scripts / "python", "-c", EXAMPLE)
    shutil.rmtree(scripts.parent)  # a gigabyte; where something failed it stays to be looked at
