"""A headless Chromium for tests, spoken to over its own pipe: no driver, no port, no network."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
KEYS = {
    "ArrowDown": 40,
    "ArrowUp": 38,
    "End": 35,
    "Enter": 13,
    "Escape": 27,
    "Home": 36,
    "PageDown": 34,
    "PageUp": 33,
    "Tab": 9,
}


def browser() -> str | None:
    """A browser that can be run here, or None."""
    found = os.environ.get("PAGEMIND_BROWSER") or next(
        filter(None, map(shutil.which, _NAMES)), None
    )
    return found if os.name == "posix" else None


def _as_3_and_4(commands: int, answers: int) -> None:
    """Where a browser looks for its pipe."""
    high = [fcntl.fcntl(each, fcntl.F_DUPFD, 10) for each in (commands, answers)]
    os.dup2(high[0], 3)
    os.dup2(high[1], 4)


class Browser:
    """One tab. `complaints` is what it wrote to its console and what went wrong in it, `asked` the
    addresses it wanted to load."""

    def __init__(self, folder: Path) -> None:
        program = browser()
        assert program is not None
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        self._process = subprocess.Popen(
            [
                program,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--remote-debugging-pipe",
                f"--user-data-dir={folder}",
                "about:blank",
            ],
            pass_fds=(3, 4),
            preexec_fn=lambda: _as_3_and_4(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._number = 0
        self._rest = b""
        self._session = ""
        self.complaints: list[str] = []
        self.asked: list[str] = []
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self._ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._ask(f"{domain}.enable")

    # --- the wire -----------------------------------------------------------------------------

    def _ask(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        sent: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            sent["sessionId"] = self._session
        os.write(self._out, json.dumps(sent).encode() + b"\0")
        while True:
            told = self._read()
            if told.get("id") == self._number:
                assert "error" not in told, (method, told["error"])
                return told["result"]
            self._note(told)

    def _read(self, seconds: float = 120.0) -> Any:
        end = time.monotonic() + seconds
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], max(0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            read = os.read(self._in, 1 << 20)
            assert read, "the browser has left"
            self._rest += read
        told, _, self._rest = self._rest.partition(b"\0")
        return json.loads(told)

    def _note(self, told: Any) -> None:
        method, parameters = told.get("method", ""), told.get("params", {})
        if method == "Runtime.consoleAPICalled":
            self.complaints.append(str(parameters["args"]))
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(parameters["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.complaints.append(str(parameters["entry"]))
        elif method == "Network.requestWillBeSent":
            self.asked.append(parameters["request"]["url"])

    # --- what a person does -------------------------------------------------------------------

    def open(self, page: Path, view: str = "") -> None:
        """Load a page and wait until all of it is there."""
        # An address that differs in its hash only would not load anything.
        self._ask("Page.navigate", url="about:blank")
        self._ask("Page.navigate", url=f"{page.as_uri()}#{view}")
        self.wait("document.documentElement?.dataset.ready === 'yes'")

    def look(self, *, wide: int = 1280, high: int = 860, scheme: str = "light") -> None:
        """The size of the window and the colours that a person prefers."""
        self._ask(
            "Emulation.setDeviceMetricsOverride",
            width=wide,
            height=high,
            deviceScaleFactor=1,
            mobile=False,
        )
        self._ask(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )

    def press(self, *keys: str) -> None:
        for key in keys:
            text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
            code = KEYS.get(key, ord(key[0].upper()))
            given: dict[str, Any] = {"key": key, "windowsVirtualKeyCode": code}
            kind = "keyDown" if text else "rawKeyDown"
            self._ask("Input.dispatchKeyEvent", type=kind, text=text, **given)
            self._ask("Input.dispatchKeyEvent", type="keyUp", **given)

    def write(self, text: str) -> None:
        self._ask("Input.insertText", text=text)

    def ask(self, expression: str) -> Any:
        """What an expression comes to in the page."""
        answer = self._ask(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, expression: str, seconds: float = 60.0) -> None:
        """Until it is true."""
        end = time.monotonic() + seconds
        while not self.ask(expression):
            assert time.monotonic() < end, f"never true: {expression}"
            time.sleep(0.02)

    def screenshot(self, path: Path) -> bytes:
        """A picture of the window as it is now."""
        data = base64.b64decode(self._ask("Page.captureScreenshot", format="png")["data"])
        path.write_bytes(data)
        return data

    def __enter__(self) -> "Browser":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)
