"""The console in a real browser: make test-console. SCREENSHOTS names a folder for its pictures."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from browser.console_rig import Console, Phones, Service, chromium, fill

expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def phones() -> Iterator[Phones]:
    with Phones(4) as running:
        yield running


@pytest.fixture(scope="module")
def service(phones: Phones, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    settings = {**phones.settings, "PHONEPROV_CONFIRM_TIMEOUT": "20"}
    with Service(tmp_path_factory.mktemp("service"), settings) as running:
        fill(running, phones)
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture
def screenshots(tmp_path: Path) -> Path:
    folder = Path(os.environ.get("SCREENSHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def console(browser: Browser, service: Service) -> Iterator[Console]:
    """Signed in as the superadmin; no page logs an error or sends a request to another host."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = Console(context, service.url)
    opened.open()
    opened.sign_in()
    opened.settled()
    opened.go("Phones")
    yield opened
    context.close()
    assert opened.complaints == []
    assert opened.hosts == {service.url.removeprefix("http://")}
