"""What a scheduler sends ends like Ctrl-C: a sentence that says how to go on, and nothing is lost."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from recollect.store import Store

WORDS = ["train", "mqar", "attention", "--steps", "100000", "--set", "train.eval_every=20", "--d-model", "16"]


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGHUP])
def test_a_scheduler_ends_a_run_in_peace(sign: signal.Signals, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "recollect", *WORDS]
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    while "steps" not in process.stderr.readline():  # the first point: it is training
        assert process.poll() is None
    process.send_signal(sign)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert said.splitlines()[-1] == "recollect: stopped; the same command goes on from here"
    store = Store(tmp_path / "recollect.db")
    assert set(store.statuses().values()) == {"pending"}
    store.close()
