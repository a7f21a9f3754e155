"""A real headless Chromium, driven through its DevTools protocol: open, click, type, look, and hear every complaint."""

import base64
import itertools
import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websocket import WebSocket, create_connection

NAMES = ("chromium", "chromium-headless-shell", "google-chrome")
QUIET = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--hide-scrollbars", "--remote-allow-origins=*"),
]


def find_chromium() -> str | None:
    """The browser on this machine."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One tab; `complaints` are console errors and exceptions, `requests` every address that was asked for."""

    def __init__(self, socket: WebSocket) -> None:
        self.socket, self.numbers = socket, itertools.count(1)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        for part in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{part}.enable")
        self.call("Performance.enable", timeDomain="threadTicks")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its answer, noting the events on the way."""
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") == number:
                assert "error" not in message, message
                return dict(message["result"])
            self.note(message.get("method", ""), message.get("params", {}))

    def note(self, method: str, event: dict[str, Any]) -> None:
        """Keep what the tests ask about."""
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(event["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "warning", "assert"):
            self.complaints.append(json.dumps(event["args"])[:500])
        elif method == "Log.entryAdded" and event["entry"]["level"] in ("error", "warning"):
            self.complaints.append(event["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append(f"dialog: {event['message']}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])

    def evaluate(self, code: str) -> Any:
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, code: str, seconds: float = 15) -> None:
        """Until an expression holds."""
        end = time.monotonic() + seconds
        while not self.evaluate(f"Boolean({code})"):
            assert time.monotonic() < end, f"never came true: {code}"
            time.sleep(0.05)

    def seconds(self) -> float:
        """Processor time that the page's thread has taken."""
        found = self.call("Performance.getMetrics")["metrics"]
        return float(next(one["value"] for one in found if one["name"] == "TaskDuration"))

    def open(self, file: Path) -> None:
        """Load a page and wait until its script has run."""
        self.call("Page.navigate", url="about:blank")
        self.complaints.clear()
        self.requests.clear()
        self.call("Page.navigate", url=file.resolve().as_uri())
        self.wait("document.documentElement?.dataset.ready === 'yes'")

    def point(self, selector: str) -> tuple[float, float]:
        """Move the mouse to the middle of an element."""
        self.evaluate(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
        place = f"document.querySelector({json.dumps(selector)}).getBoundingClientRect()"
        x, y = self.evaluate(f"(box => [box.x + box.width / 2, box.y + box.height / 2])({place})")
        for aside in (9, 0):
            self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + aside, y=y)
        return x, y

    def click(self, selector: str) -> None:
        """A real click in the middle of an element."""
        x, y = self.point(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str) -> None:
        """A key, down and up."""
        text = {"Enter": "\r"}.get(key, "")
        code = {"Enter": 13, "Escape": 27, "ArrowRight": 39}.get(key, 0)
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, text=text, windowsVirtualKeyCode=code)

    def view(self, width: int, height: int, scheme: str = "light") -> None:
        """The size of the window, and what the user prefers."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def screenshot(self, file: Path, whole: bool = False) -> None:
        """What is seen, or the page in its whole length."""
        found = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(found["data"]))


@contextmanager
def chromium(program: str, folder: Path) -> Iterator[Browser]:
    """Start a browser with a profile of its own; it ends with the block."""
    arguments = [program, "--headless", *QUIET, "--remote-debugging-port=0", f"--user-data-dir={folder}", "about:blank"]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        socket = create_connection(tab(folder / "DevToolsActivePort"), timeout=60)
        yield Browser(socket)
        socket.close()
    finally:
        process.terminate()
        process.wait(20)


def tab(file: Path) -> str:
    """The address of the first tab, once the browser has said on which port it listens."""
    from urllib.request import urlopen

    end = time.monotonic() + 40
    while not (file.exists() and len(file.read_text().splitlines()) == 2):
        assert time.monotonic() < end, "Chromium did not start"
        time.sleep(0.05)
    with urlopen(f"http://127.0.0.1:{file.read_text().splitlines()[0]}/json") as answer:
        tabs = json.load(answer)
    return next(str(one["webSocketDebuggerUrl"]) for one in tabs if one["type"] == "page")
