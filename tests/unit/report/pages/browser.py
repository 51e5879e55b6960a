"""A real Chromium, driven over the pipe of its DevTools protocol: no driver, no library, no port."""

import json
import os
import select
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from typing import Any

PATIENCE = 60
"""Seconds to wait for an answer."""
FLAGS = (
    *(
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-dev-shm-usage",
        "--mute-audio",
    ),
    *("--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe"),
)


def program() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next(filter(None, map(shutil.which, names)), None)


class Tab:
    """One page. ``events`` holds what the browser reported: requests, errors of the script, lines of the console."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from, self._count, self._session, self._rest = (
            to_browser,
            from_browser,
            0,
            "",
            b"",
        )
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **given: Any) -> dict[str, Any]:
        self._count += 1
        message = {"id": self._count, "method": method, "params": given}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return dict(answer["result"])
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            answers, _, _ = select.select([self._from], [], [], PATIENCE)
            received = os.read(self._from, 1 << 20) if answers else b""
            if not received:
                raise RuntimeError(f"the browser is gone, or says nothing for {PATIENCE} seconds")
            self._rest += received
        message, self._rest = self._rest.split(b"\0", 1)
        return dict(json.loads(message))

    def open(self, address: str) -> None:
        """Load a page from the start, and wait until it is there."""
        self.call("Page.navigate", url="about:blank")
        self.events.clear()
        self.call("Page.navigate", url=address)
        while self.run("document.readyState + location.protocol") != "completefile:":
            pass

    def run(self, script: str) -> Any:
        """The value of an expression of JavaScript; a promise is awaited."""
        done = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in done:
            raise RuntimeError(done["exceptionDetails"]["exception"]["description"])
        return done["result"].get("value")

    def settle(self) -> None:
        """Wait until the page has answered to what was done."""
        self.run("new Promise((done) => setTimeout(() => requestAnimationFrame(() => done()), 30))")

    def click(self, selector: str) -> None:
        self.run(f"document.querySelector({json.dumps(selector)}).click()")
        self.settle()

    def press(self, key: str) -> None:
        """Press a key: ``Tab`` or ``Enter``."""
        text = {"text": "\r"} if key == "Enter" else {}
        event = {"key": key, "code": key, "windowsVirtualKeyCode": {"Tab": 9, "Enter": 13}[key]}
        self.call("Input.dispatchKeyEvent", type="keyDown", **event, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)
        self.settle()

    def resize(self, width: int) -> None:
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.settle()

    def media(self, kind: str = "", scheme: str = "light") -> None:
        """Pretend a medium (``print``) and a scheme (``dark``)."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=kind, features=features)
        self.settle()


def tab() -> Iterator[Tab]:
    """A page of a browser of its own, whose profile is thrown away."""
    found = program()
    assert found is not None
    commands, to_browser = os.pipe()
    from_browser, answers = os.pipe()
    with tempfile.TemporaryDirectory(
        prefix="hypersphere-browser-", ignore_cleanup_errors=True
    ) as profile:
        # Chromium reads commands from file 3 and answers on file 4; ``answers`` was opened fourth, and is neither.
        wired = f'exec "$@" 3<&{commands} 4>&{answers} </dev/null >/dev/null 2>&1'
        program_and_flags = [found, *FLAGS, f"--user-data-dir={profile}"]
        process = subprocess.Popen(
            ["bash", "-c", wired, "bash", *program_and_flags], pass_fds=(commands, answers)
        )
        os.close(commands)
        os.close(answers)
        try:
            yield Tab(to_browser, from_browser)
        finally:
            os.close(to_browser)
            os.close(from_browser)
            process.terminate()
            process.wait(timeout=20)
