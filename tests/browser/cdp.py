"""A headless Chromium, controlled over a pipe."""

import json
import os
import subprocess
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from support.polling import wait_for

QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--remote-debugging-pipe", "--window-size=1280,1600", "--disable-dev-shm-usage",
)  # fmt: skip

_FIND = """((selector, name) => {
  if (document.querySelector("[aria-busy=true]")) return undefined;
  const nameOf = (one) => one.ariaLabel ?? one.labels?.[0]?.innerText ?? one.innerText;
  const within = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document;
  return [...within.querySelectorAll(selector)].find((one) => one.checkVisibility()
    && !one.disabled && nameOf(one).replace(" (required)", "").trim() === name);
})"""


class Page:
    """One page. ``asked`` are the URLs it requested, ``complaints`` the errors of the
    browser, including violations of the content policy."""

    def __init__(self, to_browser: BinaryIO, from_browser: BinaryIO) -> None:
        self.asked: list[str] = []
        self.complaints: list[str] = []
        self._write = to_browser
        self._read = from_browser
        self._rest = b""
        self._number = 0
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command to the browser, and wait for its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._write.write(json.dumps(message).encode() + b"\0")
        while True:
            reply = self._next()
            if reply.get("id") == self._number:
                assert "error" not in reply, reply
                result: dict[str, Any] = reply["result"]
                return result
            self._handle_event(reply.get("method", ""), reply.get("params", {}))

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            piece = self._read.read(1 << 16)
            assert piece, "the browser is gone"
            self._rest += piece
        message, self._rest = self._rest.split(b"\0", 1)
        parsed: dict[str, Any] = json.loads(message)
        return parsed

    def _handle_event(self, what: str, details: dict[str, Any]) -> None:
        if what == "Network.requestWillBeSent":
            self.asked.append(details["request"]["url"])
        elif what == "Log.entryAdded" and details["entry"]["level"] in {"error", "warning"}:
            self.complaints.append(details["entry"]["text"])
        elif what == "Runtime.exceptionThrown":
            self.complaints.append(details["exceptionDetails"]["text"])

    def evaluate(self, script: str) -> Any:
        """The value of a JavaScript expression."""
        details = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in details, details
        return details["result"].get("value")

    def until(self, script: str, seconds: float = 60, *, shown: bool = False) -> Any:
        """Wait until a JavaScript expression is true; its value. A failure may name what is
        ``shown``."""

        def log() -> str:
            text = self.evaluate("document.body.innerText") if shown else ""
            return f"never true: {script}\n{text}"

        return wait_for(lambda: self.evaluate(script), log=log, seconds=seconds)

    def click(self, selector: str) -> None:
        self.until(f"!!document.querySelector({selector!r})")
        self.evaluate(f"document.querySelector({selector!r}).click()")

    def type(self, selector: str, text: str) -> None:
        self.until(f"!!document.querySelector({selector!r})")
        self.evaluate(f"document.querySelector({selector!r}).focus()")
        self.call("Input.insertText", text=text)

    def press(self, name: str) -> None:
        """Click the link, button or tab with this accessible name; in a dialog if one is open."""
        self._act("a, button, [role=tab]", name, "found.click()")

    def fill(self, label: str, text: str) -> None:
        """Replace the text of the field with this label, as the keyboard does."""
        self._act("input, textarea", label, "(found.focus(), found.select())")
        self.call("Input.insertText", text=text)

    def choose(self, label: str, option: str) -> None:
        """Select the option with this text; more may follow after a comma."""
        begin = json.dumps(f"{option},")
        chosen = f"[...found.options].find(one => `${{one.textContent}},`.startsWith({begin}))"
        self._act(
            "select", label,
            f"{chosen} && ({chosen}.selected = true, ['input', 'change'].forEach("
            "kind => found.dispatchEvent(new Event(kind, {bubbles: true}))))",
            condition=f"found && {chosen}",
        )  # fmt: skip

    def see(self, text: str) -> None:
        """Wait until the page shows this text."""
        self.until(f"document.body.innerText.includes({json.dumps(text)})", shown=True)

    def see_heading(self, text: str) -> None:
        self.until(f"document.querySelector('h1')?.innerText === {json.dumps(text)}", shown=True)

    def _act(self, selector: str, name: str, action: str, condition: str = "found") -> None:
        """Wait until the page is loaded and has a visible, enabled element with this name, and run
        JavaScript with it."""
        find = f"{_FIND}({json.dumps(selector)}, {json.dumps(name)})"
        self.until(f"(found => {condition} ? (({action}), true) : false)({find})", shown=True)

    def screenshot(self, path: Path) -> None:
        path.write_bytes(b64decode(self.call("Page.captureScreenshot")["data"]))


@contextmanager
def browser(program: str, profile: Path) -> Iterator[Page]:
    """A page of a new browser with its own profile."""
    commands, to_browser = os.pipe()
    from_browser, replies = os.pipe()

    def as_3_and_4() -> None:
        spare = os.dup(commands), os.dup(replies)
        os.dup2(spare[0], 3)
        os.dup2(spare[1], 4)

    process = subprocess.Popen(
        [program, *QUIET, f"--user-data-dir={profile}", "about:blank"],
        preexec_fn=as_3_and_4,  # noqa: PLW1509 - the browser reads 3 and writes 4
        close_fds=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(commands)
    os.close(replies)
    try:
        with os.fdopen(to_browser, "wb", 0) as write, os.fdopen(from_browser, "rb", 0) as read:
            yield Page(write, read)
    finally:
        process.terminate()
        process.wait(10)
