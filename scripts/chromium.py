"""A headless Chromium driven through its debugging pipe: no driver program and no package is needed."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

__all__ = ["CHROMIUM", "Tab", "chromium"]

CHROMIUM: Final = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))),
    None,
)
_FLAGS: Final = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars --remote-debugging-pipe"
)
_PATIENCE_S: Final = 120


class Tab:
    """One page of the browser."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, answers
        self._unread = b""
        self._number = 0
        self._session: str | None = None
        self.complaints: list[str] = []
        """What the console, the page's policy and uncaught errors said."""

    def attach(self) -> None:
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._call(f"{domain}.enable")

    def size(
        self, width: int, height: int, *, dark: bool = False, touch: bool = False, paper: bool = False
    ) -> None:
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=touch,
        )
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self._call("Emulation.setEmulatedMedia", media="print" if paper else "", features=scheme)

    def open(self, address: str, *, until: str = "document.readyState === 'complete'") -> None:
        """Load a page and wait until an expression is true in it."""
        self._call("Page.navigate", url="about:blank")
        self._call("Page.navigate", url=address)
        self.wait_for(f"location.protocol !== 'about:' && document.documentElement && ({until})")

    def wait_for(self, expression: str) -> None:
        for _ in range(_PATIENCE_S * 20):
            if self.value(expression):
                return
            time.sleep(0.05)
        raise TimeoutError(f"never true in the page: {expression}; complaints: {self.complaints}")

    def value(self, expression: str) -> Any:
        """What an expression (or the promise that it is) comes to in the page."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def key(self, key: str, letters: str = "") -> None:
        more = {"text": letters} if letters else {}
        self._call("Input.dispatchKeyEvent", type="keyDown", key=key, **more)
        self._call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """`kind` is Moved, Pressed, Released or Wheel."""
        self._call("Input.dispatchMouseEvent", type=f"mouse{kind}", x=x, y=y, **more)

    def click(self, x: float, y: float) -> None:
        self.mouse("Moved", x, y)
        for kind in ("Pressed", "Released"):
            self.mouse(kind, x, y, button="left", clickCount=1)

    def picture(self, path: Path, *, whole: bool = False) -> None:
        data = self._call(
            "Page.captureScreenshot", format="png", captureBeyondViewport=whole, **self._clip(whole)
        )
        path.write_bytes(base64.b64decode(data["data"]))

    def pdf(self) -> bytes:
        """The page as it is printed."""
        return base64.b64decode(self._call("Page.printToPDF")["data"])

    def _clip(self, whole: bool) -> dict[str, Any]:
        if not whole:
            return {}
        size = self._call("Page.getLayoutMetrics")["cssContentSize"]
        return {"clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}}

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        unsent = json.dumps(message).encode() + b"\0"
        while unsent:
            unsent = unsent[os.write(self._commands, unsent) :]
        while True:
            answer = self._next()
            if answer.get("id") != self._number:
                self._note(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            else:
                result: dict[str, Any] = answer["result"]
                return result

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._unread:
            more = os.read(self._answers, 1 << 20)
            if not more:
                raise EOFError("Chromium ended")
            self._unread += more
        one, _, self._unread = self._unread.partition(b"\0")
        parsed: dict[str, Any] = json.loads(one)
        return parsed

    def _note(self, event: dict[str, Any]) -> None:
        match event.get("method"):
            case "Runtime.consoleAPICalled":
                said = [one.get("value", one.get("description")) for one in event["params"]["args"]]
                self.complaints.append(f"console.{event['params']['type']}: {said}")
            case "Runtime.exceptionThrown":
                self.complaints.append(f"uncaught: {event['params']['exceptionDetails']}")
            case "Log.entryAdded":
                self.complaints.append(f"log: {event['params']['entry']['text']}")


@contextmanager
def chromium(*flags: str) -> Iterator[Tab]:
    """A tab of a browser with an empty profile, which ends with the block."""
    if CHROMIUM is None:
        raise FileNotFoundError("no chromium on this machine (apt install chromium)")
    with tempfile.TemporaryDirectory(prefix="overlap_lab_chromium_", ignore_cleanup_errors=True) as profile:
        commands_in, commands_out = os.pipe()
        answers_in, answers_out = os.pipe()
        # The browser reads descriptor 3 and writes 4; the shell puts ours there.
        line = f'exec "$@" 3<&{commands_in} 4>&{answers_out}'
        command = [
            "bash",
            "-c",
            line,
            "bash",
            CHROMIUM,
            *_FLAGS.split(),
            *flags,
            f"--user-data-dir={profile}",
        ]
        process = subprocess.Popen(  # noqa: S603
            command, pass_fds=(commands_in, answers_out), stderr=subprocess.DEVNULL
        )
        os.close(commands_in)
        os.close(answers_out)
        try:
            tab = Tab(commands_out, answers_in)
            tab.attach()
            yield tab
        finally:
            os.close(commands_out)
            process.terminate()
            process.wait(timeout=30)
            os.close(answers_in)
