"""A mixer that gets into trouble in mid-training, for tests of executors."""

import os
import signal
import sys
import time
from pathlib import Path

from torch import Tensor, nn


class Trouble(nn.Module):
    """A running mean; its fifth call in training raises, exits, waits or kills; every call may take its time."""

    def __init__(self, d_model: int, kind: str = "none", marker: str = "", seconds: float = 0.0) -> None:
        super().__init__()
        self.w = nn.Linear(d_model, d_model)
        self.kind, self.marker, self.seconds, self.calls = kind, Path(marker), seconds, 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += len(x) > 3  # neither the contract nor the warm-up takes so many rows
        time.sleep(self.seconds)
        if self.calls == 5 and len(x) > 3:
            self.act()
        y: Tensor = self.w(x.cumsum(1))
        return y

    def act(self) -> None:
        """What the kind says: `kill once` where its marker is not there, `wait` while `hold` is beside this file."""
        match self.kind:
            case "raise":
                raise RuntimeError("trouble in mid-training")
            case "wait":
                while Path(__file__).with_name("hold").exists():
                    time.sleep(0.01)
            case "exit":
                sys.exit(3)
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "kill once" if not self.marker.exists():
                self.marker.touch()
                os.kill(os.getpid(), signal.SIGKILL)
