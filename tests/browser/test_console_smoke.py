"""The console starts in a real browser, if one is installed. make test-console runs all checks."""

import shutil
from pathlib import Path

import httpx
import pytest

from browser.cdp import browser
from phoneprov_core.users.model import CreateUser
from support.served import served

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
PASSWORD = "correct horse battery"


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
def test_console_signs_in_and_shows_the_phones(tmp_path: Path) -> None:
    with served(tmp_path) as service:
        use_cases = service.container.use_cases()
        ada = CreateUser(
            first_name="Ada", last_name="Lovelace", username="ada", email="ada@example.com",
            password=PASSWORD,
        )  # fmt: skip
        service.run(use_cases.users.create(use_cases.system_actor(), ada))
        assert CHROMIUM is not None
        with browser(CHROMIUM, tmp_path / "profile") as page:
            page.call("Page.navigate", url=f"{service.url}/console")
            page.type("[name=username]", "ada")
            page.type("[name=password]", PASSWORD)
            page.click("[type=submit]")
            page.until("document.querySelector('h1')?.textContent === 'Phones'")
            page.until("document.querySelector('[role=status].count')?.textContent !== 'Loading…'")
            links = page.evaluate(
                "[...document.querySelectorAll('nav a')].map(one => one.textContent).join()"
            )
            assert links == "Phones,Profiles,People,Directory"
            assert {httpx.URL(one).netloc.decode() for one in page.asked} == {
                service.url.removeprefix("http://")
            }
            assert page.complaints == []
