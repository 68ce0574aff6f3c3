"""Sign-in with providers of others, in Chromium and on another site: ``make test-oidc``."""

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from browser.console.check_nginx import NGINX, configuration
from browser.console_rig import ORDINARY, PASSWORD, Console, Service, chromium
from support.ftp_cut import free_ports
from support.oidc_stub import CLIENT, SECRET, oidc_stub
from support.polling import wait_for

INSTALLED = Path(os.environ["PHONEPROV_TEST_OIDC"])
CALLBACK = "/console/session/oidc/callback"
REFUSED = "The sign-in was refused."

expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


class Provider:
    """npm oidc-provider, whose page takes any name and password. ``options`` are those of
    ``provider.mjs``; each start has new keys."""

    def __init__(self, folder: Path, redirect: str) -> None:
        (port,) = free_ports(1, "127.0.0.1")
        self.options = {
            "port": port, "path": "/realms/office", "redirect": redirect, "algorithm": "RS256",
            "clock": 0,
        }  # fmt: skip
        self.issuer = f"http://localhost:{port}/realms/office"
        self._log = folder / "provider.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, **options: object) -> None:
        self.options |= options
        # Node finds the package beside the script.
        script = INSTALLED / "provider.mjs"
        script.write_bytes((Path(__file__).parent / "provider.mjs").read_bytes())
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                ["node", script, json.dumps(self.options)], stdout=log, stderr=log
            )
        wait_for(lambda: b"listening" in self._log.read_bytes(), self._process)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(20)
            self._process = None


@contextmanager
def served(
    folder: Path, port: int, issuer: str, workers: int = 1, **more: str
) -> Iterator[Service]:
    """The service with an account of Grace."""
    settings = {
        "PHONEPROV_OIDC_ISSUER": issuer,
        "PHONEPROV_OIDC_CLIENT_ID": CLIENT,
        "PHONEPROV_OIDC_CLIENT_SECRET": SECRET,
        "PHONEPROV_OIDC_LABEL": "Office account",
        "PHONEPROV_PUBLIC_URL": f"http://127.0.0.1:{port}",
        "PHONEPROV_TRUSTED_PROXIES": "127.0.0.1",
        **more,
    }
    with Service(folder, settings) as service:
        service.stop()
        service.start(port, workers)
        service.log_in()
        service.api("POST", "users", {
            "first_name": "Grace", "last_name": "Hopper", "username": ORDINARY,
            "email": "grace@example.com", "password": PASSWORD,
        })  # fmt: skip
        yield service


@pytest.fixture
def ports() -> list[int]:
    return list(free_ports(2, "127.0.0.1"))


@pytest.fixture
def provider(tmp_path: Path, ports: list[int]) -> Iterator[Provider]:
    running = Provider(tmp_path, f"http://127.0.0.1:{ports[0]}{CALLBACK}")
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture
def office(tmp_path: Path, ports: list[int], provider: Provider) -> Iterator[Service]:
    with served(tmp_path, ports[0], provider.issuer) as service:
        yield service


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    opened = browser.new_context()
    opened.set_default_timeout(20_000)
    # The page of oidc-provider asks a host of fonts.
    elsewhere = re.compile(r"https?://(?!127\.0\.0\.1|localhost)")
    opened.route(elsewhere, lambda route: route.fulfill(body=""))
    yield opened
    opened.close()


def at_provider(page: Page) -> None:
    """Press the button, and be at the provider."""
    page.get_by_role("button", name="Office account").click()
    page.wait_for_url("http://localhost:*/**")


def enter(page: Page, name: str = ORDINARY) -> None:
    """Log in and consent at oidc-provider, as often as it asks."""
    if page.get_by_placeholder("Enter any login").is_visible():
        page.get_by_placeholder("Enter any login").fill(name)
        page.get_by_placeholder("and password").fill("x")
        page.get_by_role("button", name="Sign-in").click()
    go_on = page.get_by_role("button", name="Continue")
    back = page.get_by_role("searchbox").or_(page.get_by_role("alert"))
    go_on.or_(back).first.wait_for()
    if go_on.is_visible():
        go_on.click()


def is_in(page: Page) -> None:
    page.get_by_role("banner").get_by_role("searchbox").wait_for()


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "EdDSA"])
def test_oidc_provider_signs_in_from_another_site(
    context: BrowserContext, office: Service, provider: Provider, algorithm: str
) -> None:
    provider.start(algorithm=algorithm)
    console = Console(context, office.url)
    console.open()
    at_provider(console.page)
    enter(console.page)
    is_in(console.page)

    assert {"127.0.0.1", "localhost"} <= {one.partition(":")[0] for one in console.hosts}
    own = [one for one in context.cookies() if one["domain"] == "127.0.0.1"]
    assert [(one["name"], one["sameSite"]) for one in own] == [("phoneprov_session", "Strict")]
    console.page.reload()
    is_in(console.page)
    assert console.complaints == []


def test_two_tabs_sign_in_and_a_replayed_callback_does_not(
    context: BrowserContext, office: Service, provider: Provider
) -> None:
    provider.start()
    first, second = context.new_page(), context.new_page()
    callbacks: list[str] = []
    first.on("request", lambda one: callbacks.append(one.url) if CALLBACK in one.url else None)
    for page in (first, second):
        page.goto(f"{office.url}/console")
        at_provider(page)
    kept = [one for one in context.cookies() if one["name"] == "phoneprov_signin"]
    for page in (second, first):
        enter(page)
        is_in(page)

    (callback,) = callbacks
    # With the cookie that the browser had then, the state is used up; the session stays.
    context.add_cookies(kept)
    third = context.new_page()
    third.goto(callback)
    is_in(third)
    cookies = {"Cookie": f"phoneprov_signin={kept[0]['value']}"}
    reply = httpx.get(callback, headers=cookies, trust_env=False)
    assert reply.headers["location"].endswith("/console/?sign_in=sign_in_expired")


def test_one_state_on_two_workers_is_used_once(tmp_path: Path, ports: list[int]) -> None:
    with (
        oidc_stub() as stub,
        served(tmp_path, ports[0], stub.issuer, workers=2) as office,
        ThreadPoolExecutor(12) as pool,
    ):
        stub.person = {"sub": "g-1", "preferred_username": ORDINARY}
        for _ in range(10):
            begun = httpx.get(f"{office.url}/console/session/oidc", trust_env=False)
            cookie = begun.headers["set-cookie"].partition(";")[0]
            address = stub.authorize(begun.headers["location"])

            def come_back(_: int, address: str = address, cookie: str = cookie) -> str:
                # Each has a connection of its own, which either worker accepts.
                reply = httpx.get(address, headers={"Cookie": cookie}, trust_env=False)
                return reply.headers["location"].partition("?")[2]

            ends = sorted(pool.map(come_back, range(12)))
            assert ends == ["", *["sign_in=sign_in_expired"] * 11]


def test_keys_that_the_provider_replaced_are_fetched(
    context: BrowserContext, office: Service, provider: Provider
) -> None:
    provider.start()
    page = context.new_page()
    page.goto(f"{office.url}/console")
    at_provider(page)
    enter(page)
    is_in(page)
    page.get_by_role("button", name="Sign out").click()
    provider.stop()
    provider.start(algorithm="ES256")
    time.sleep(61)  # once a minute at most
    at_provider(page)
    enter(page)
    is_in(page)


@pytest.mark.parametrize("clock", [-300, 300])
def test_token_of_another_time_is_refused(
    context: BrowserContext, office: Service, provider: Provider, clock: int
) -> None:
    provider.start(clock=clock)
    page = context.new_page()
    page.goto(f"{office.url}/console")
    at_provider(page)
    enter(page)

    expect(page.get_by_role("alert")).to_have_text(REFUSED)


def test_person_without_account_is_refused(
    context: BrowserContext, office: Service, provider: Provider
) -> None:
    provider.start()
    page = context.new_page()
    page.goto(f"{office.url}/console")
    at_provider(page)
    enter(page, "stranger")

    expect(page.get_by_role("alert")).to_contain_text("No account here is connected")


def test_provider_that_goes_away_leaves_the_password(
    context: BrowserContext, office: Service, provider: Provider
) -> None:
    console = Console(context, office.url)
    console.open()
    console.page.get_by_role("button", name="Office account").click()

    expect(console.page.get_by_role("alert")).to_contain_text("cannot be reached")
    console.sign_in()


@pytest.mark.skipif(NGINX is None, reason="no nginx is installed")
def test_console_below_a_prefix_of_nginx_signs_in(
    context: BrowserContext, tmp_path: Path, ports: list[int]
) -> None:
    port, front = ports
    public = f"http://127.0.0.1:{front}/telephony"
    provider = Provider(tmp_path, public + CALLBACK)
    provider.start()
    (tmp_path / "nginx.conf").write_text(configuration(tmp_path, front, f"http://127.0.0.1:{port}"))
    assert NGINX
    nginx = subprocess.Popen([NGINX, "-p", tmp_path, "-c", tmp_path / "nginx.conf"])
    try:
        with served(tmp_path, port, provider.issuer, PHONEPROV_PUBLIC_URL=public):
            page = context.new_page()
            page.goto(f"{public}/console")
            at_provider(page)
            (kept,) = [one for one in context.cookies() if one["name"] == "phoneprov_signin"]
            assert (kept["path"], kept["sameSite"]) == ("/telephony/console/session/oidc", "Lax")
            enter(page)
            is_in(page)
            assert urlsplit(page.url).path == "/telephony/console/"
            page.reload()
            is_in(page)
    finally:
        nginx.terminate()
        nginx.wait(20)
        provider.stop()


@pytest.fixture
def mock(tmp_path: Path, ports: list[int]) -> Iterator[Service]:
    """The service with PyPI oidc-provider-mock."""
    person = {
        "sub": "g-1", "preferred_username": ORDINARY, "groups": ["staff", "phones"],
        "email": "grace@example.com",
    }  # fmt: skip
    with (tmp_path / "mock.log").open("wb") as log:
        process = subprocess.Popen(
            [INSTALLED / "venv/bin/oidc-provider-mock", "--port", str(ports[1]),
             "--user-claims", json.dumps(person), "--require-nonce", "true"],
            stdout=log, stderr=log,
        )  # fmt: skip
    issuer = f"http://localhost:{ports[1]}"
    try:
        wait_for(lambda: _answers(f"{issuer}/.well-known/openid-configuration"), process)
        with served(
            tmp_path, ports[0], issuer, PHONEPROV_OIDC_GROUP="phones",
            # It does not decode a client's identifier as RFC 6749 demands.
            PHONEPROV_OIDC_CLIENT_ID="phones", PHONEPROV_OIDC_CLIENT_SECRET="secret",
        ) as service:  # fmt: skip
            yield service
    finally:
        process.terminate()
        process.wait(20)


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, trust_env=False).is_success
    except httpx.TransportError:
        return False


def test_mock_signs_a_member_in(context: BrowserContext, mock: Service) -> None:
    page = context.new_page()
    page.goto(f"{mock.url}/console")
    at_provider(page)
    page.get_by_role("button", name="g-1").click()
    is_in(page)


def test_mock_that_denies_is_said_in_our_words(context: BrowserContext, mock: Service) -> None:
    """Its refusal has no state: that of an unknown sign-in."""
    page = context.new_page()
    page.goto(f"{mock.url}/console")
    at_provider(page)
    page.get_by_role("button", name="Deny").click()

    expect(page.get_by_role("alert")).to_contain_text("This sign-in has expired")


def test_mock_of_a_person_without_the_group_is_refused(
    context: BrowserContext, mock: Service
) -> None:
    page = context.new_page()
    page.goto(f"{mock.url}/console")
    at_provider(page)
    page.get_by_placeholder("sub").fill("otto@example.com")
    page.get_by_role("button", name="Authorize").click()

    expect(page.get_by_role("alert")).to_contain_text("not a member")
