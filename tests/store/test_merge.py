"""Merging stores, and one store by two names."""

import sys
from pathlib import Path

import pytest

from recollect.errors import BadInput
from recollect.store import Store, merge
from recollect.store.lock import who_writes
from recollect.store.merge import _copy_rows
from tests.support.invented import result_of
from tests.support.small import tiny

SPEC = tiny()


def finish(store: Store) -> None:
    """End the run: its weights first, as a worker does."""
    store.folder(SPEC.id).mkdir(parents=True, exist_ok=True)
    (store.folder(SPEC.id) / "weights.safetensors").write_bytes(b"weights")
    store.finish(SPEC.id, result_of(SPEC, 1.0, "solved"), 1.0)


def made(path: Path, *, done: bool = True) -> Store:
    """A store with one run, begun or finished."""
    store = Store(path, create=True)
    with store.writing():
        store.add([SPEC])
        store.start(SPEC.id, {})
        if done:
            finish(store)
    return store


def test_looks_into_a_run_that_both_have_finished_come_over(tmp_path: Path) -> None:
    ours, theirs = made(tmp_path / "a.db"), made(tmp_path / "b.db")
    with theirs.writing():
        theirs.look(SPEC.id, 10, {"gradient length": 5.0})
    found = merge(ours, theirs.path)
    assert (found.new, found.different) == (0, 0)
    assert ours.looked() == {SPEC.id: {10}}


def test_a_run_that_ends_during_the_merge_comes_with_its_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = Store(tmp_path / "a.db", create=True), made(tmp_path / "b.db", done=False)

    def ending(into: Store, source: Store, wanted: list[str], *, linked: bool) -> None:
        with theirs.writing():
            finish(theirs)
        _copy_rows(into, source, wanted, linked=linked)

    monkeypatch.setattr(sys.modules[_copy_rows.__module__], "_copy_rows", ending)
    assert merge(ours, theirs.path).new == 1
    assert ours.statuses() == {SPEC.id: "done"}
    assert (ours.folder(SPEC.id) / "weights.safetensors").is_file()


def test_a_link_to_a_store_has_its_lock_and_its_folder(tmp_path: Path) -> None:
    store = made(tmp_path / "a.db")
    link = tmp_path / "elsewhere" / "mine.db"
    link.parent.mkdir()
    link.symlink_to(store.path)
    other = Store(link)
    assert other.files == store.files
    with store.writing():
        assert who_writes(link) is not None
        with pytest.raises(BadInput, match="is being written by"), other.writing():
            pass
