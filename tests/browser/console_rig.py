"""The console in a real browser: the service in its own process, simulated phones, Chromium."""

import asyncio
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

import httpx
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from phoneprov_adapters.composition.lifecycle import prepare, running
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.simulator.phone import SimulatedPhone
from support.command_line import without_settings
from support.polling import wait_for

USERNAME, PASSWORD = "ada", "analytical engine 1843"
ORDINARY, ORDINARY_PASSWORD = "grace", "nanoseconds of wire"
XML = "<device>\n  <loadInformation>SCCP45.9-4-2SR3-1S</loadInformation>\n</device>\n"

# Chromium's own services are unreachable from here.
QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


def axe_finds(page: Page) -> list[str]:
    """The rules that the page breaks."""
    return [one["id"] for one in Axe().run(page).response["violations"]]


class Phones:
    """Simulated phones on loopback addresses, in a thread."""

    def __init__(self, count: int) -> None:
        self.phones = [
            SimulatedPhone(
                host=f"127.0.1.{number}",
                mac=f"00:1B:D4:00:00:{number:02X}",
                ftp_password="secret",
                away_seconds=1.0,
            )
            for number in range(1, count + 1)
        ]
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._stack = AsyncExitStack()

    def __enter__(self) -> Self:
        self._thread.start()
        self._run(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        self._run(self._stack.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _start(self) -> None:
        first = self.phones[0]
        await self._stack.enter_async_context(first)
        for phone in self.phones[1:]:
            phone.ftp_port, phone.http_port = first.ftp_port, first.http_port
            await self._stack.enter_async_context(phone)

    def _run(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    @property
    def settings(self) -> dict[str, str]:
        first = self.phones[0]
        return {
            "PHONEPROV_FTP_PORT": str(first.ftp_port),
            "PHONEPROV_FTP_USER": "phoneprov",
            "PHONEPROV_FTP_PASSWORD": "secret",
            "PHONEPROV_PHONE_HTTP_PORT": str(first.http_port),
            "PHONEPROV_PHONE_NETWORKS": "127.0.1.0/24",
        }


class Service:
    """``phoneprov serve`` in a process, and a client of its API as the superadmin."""

    def __init__(self, folder: Path, settings: dict[str, str]) -> None:
        self._environment = without_settings(PHONEPROV_DATA_DIR=str(folder / "data"), **settings)
        self._log = folder / "service.log"
        self._process: subprocess.Popen[bytes] | None = None
        self.url = ""
        self._client = httpx.Client(timeout=60, trust_env=False)

    def __enter__(self) -> Self:
        arguments = ["create-admin", "--username", USERNAME, "--email", "ada@example.com"]
        subprocess.run(
            [sys.executable, "-m", "phoneprov_http.main", *arguments, "--password-stdin"],
            input=PASSWORD.encode(), env=self._environment, check=True, timeout=60,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()
        self.stop()

    def start(self, port: int = 0, workers: int = 1) -> None:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "phoneprov_http.main", "serve", "--port", str(port),
                 "--workers", str(workers)],
                env=self._environment, stdout=log, stderr=log,
            )  # fmt: skip
        self.url = wait_for(self._served_url, self._process, log=self._log_text)

    def _log_text(self) -> str:
        return self._log.read_text("utf-8")

    def _served_url(self) -> str:
        found = re.search(r"http://\S+:\d+", self._log_text())
        return found[0] if found else ""

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(40)
            self._process = None

    def look_at_phones(self) -> None:
        """One round of ``phoneprov watch``, which begins a minute after its start."""

        async def look() -> None:
            container = prepare(read_settings(self._environment))
            async with running(container):
                await container.watch_fleet().round(0)

        with ThreadPoolExecutor(1) as pool:  # Playwright has a loop in this thread.
            pool.submit(asyncio.run, look()).result(60)

    def ask_for_file(self, name: str, client: str) -> int:
        """The status of a file from ``phoneprov provision``, asked for by a phone at an address."""
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = str(probe.getsockname()[1])
        arguments = ["--host", "127.0.0.1", "--http-port", port, "--tftp-port", "0"]
        log = self._log.with_name("provision.log")
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "phoneprov_http.main", "provision", *arguments],
                env=self._environment, stdout=output, stderr=output,
            )  # fmt: skip
        try:
            wait_for(lambda: b"serves on" in log.read_bytes(), process)
            with httpx.Client(transport=httpx.HTTPTransport(local_address=client)) as phone:
                return phone.get(f"http://127.0.0.1:{port}/{name}", timeout=20).status_code
        finally:
            process.terminate()
            process.wait(40)

    def log_in(self, username: str = USERNAME, password: str = PASSWORD) -> None:
        data = self.api("POST", "auth/login", {"username": username, "password": password})
        self._client.headers["Authorization"] = f"Bearer {data['accessToken']}"

    def api(self, method: str, path: str, body: object = None) -> Any:
        reply = self._client.request(method, f"{self.url}/api/v1/{path}", json=body)
        envelope = reply.json()
        assert envelope["success"], envelope
        return envelope["data"]


def fill(service: Service, phones: Phones) -> None:
    """Phones, a profile, a second account without level 0, an extension, contacts."""
    service.log_in()
    me = service.api("GET", "me")
    for number, phone in enumerate(phones.phones, 1):
        service.api("POST", "phones", {
            "mac": phone.mac, "model": phone.model, "phone_ip": phone.host, "software_type": "SCCP",
            "name": f"Desk {number}", "location": "Hall" if number % 2 else "Annex",
        })  # fmt: skip
    service.api("POST", "phone-profiles", {
        "user_uuid": me["uuid"], "name": "Front desk", "cnf_xml": XML, "software_type": "SCCP",
        "compatible_models": ["7945"], "description": "The reception",
    })  # fmt: skip
    service.api("POST", "users", {
        "first_name": "Grace", "last_name": "Hopper", "username": ORDINARY,
        "email": "grace@example.com", "password": ORDINARY_PASSWORD, "location": "Annex",
    })  # fmt: skip
    service.api("POST", "extensions", {
        "type": "chan_sccp", "extension": "2001", "name": "Reception", "password": "line secret",
    })  # fmt: skip
    for name in ("Charles Babbage", "Mary Somerville"):
        service.api("POST", "company-directory", {"name": name, "work": "+44 20 7946 0001"})


@contextmanager
def chromium() -> Iterator[Browser]:
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or "chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield browser
        browser.close()


def choose(page: Page, label: str, record: str) -> None:
    """Choose a record by its name; its owner and number may follow."""
    option = page.get_by_label(label, exact=True).get_by_role("option")
    found = option.filter(has_text=re.compile(f"^{re.escape(record)}(,|$)")).first
    expect(found).to_be_attached()
    page.get_by_label(label, exact=True).select_option(value=found.get_attribute("value"))


class Console:
    """One browser context on the console. ``complaints`` are errors in the browser's log,
    ``refusals`` those that the browser logs for responses of 400 and above."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        """``url`` is the address below which ``/console`` is served."""
        self.context = context
        self.page: Page = context.new_page()
        self.page.set_default_timeout(20_000)
        self.complaints: list[str] = []
        self.refusals: list[str] = []
        self.hosts: set[str] = set()
        self._url = url
        self.page.on("console", self._record_message)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on(
            "request", lambda request: self.hosts.add(httpx.URL(request.url).netloc.decode())
        )

    def _record_message(self, message: Any) -> None:
        if message.type in {"error", "warning"}:
            is_refusal = "Failed to load resource" in message.text
            (self.refusals if is_refusal else self.complaints).append(message.text)

    def open(self, place: str = "") -> None:
        self.page.goto(f"{self._url}/console/{place}")

    def sign_in(self, username: str = USERNAME, password: str = PASSWORD) -> None:
        self.page.get_by_label("Username").fill(username)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.get_by_role("banner").get_by_role("combobox").wait_for()

    def go(self, link: str) -> None:
        self.page.get_by_role("navigation").get_by_role("link", name=link).click()
        self.settled()

    def settled(self) -> None:
        self.page.locator("h1").wait_for()
        expect(self.page.locator("[aria-busy=true]")).to_have_count(0, timeout=20_000)
