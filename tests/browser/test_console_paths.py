"""What an operator does every day, in a real browser. make test-console runs all checks."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser.cdp import Page, browser
from phoneprov_core.inventory.phones.model import CreatePhone
from phoneprov_core.inventory.profiles.model import CreateProfile
from phoneprov_core.people.users.model import CreateUser, Registration
from support.served import Served, served

# make test installs one where it can.
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
PASSWORD = "correct horse battery"
FIRST = "00:1B:D4:00:00:01"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Served]:
    """Three phones, two profiles of a superadmin, and an account without a level."""
    with served(tmp_path) as running:
        use_cases = running.container.use_cases()
        actor = use_cases.system_actor()
        ada = Registration(
            first_name="Ada", last_name="Lovelace", username="ada", email="ada@example.com",
            password=PASSWORD,
        )  # fmt: skip
        grace = CreateUser(
            first_name="Grace", last_name="Hopper", username="grace", email="grace@example.com",
            password=PASSWORD,
        )  # fmt: skip
        owner = running.run(use_cases.create_admin(ada)).user.uuid
        running.run(use_cases.users.create(actor, grace))
        for number, place in ((11, "Annex"), (1, "Hall"), (2, "Hall")):
            phone = CreatePhone(
                mac=f"00:1B:D4:00:00:{number:02}", name=f"Desk {number}", location=place,
                model="CP-7945G", phone_ip=f"10.0.0.{number}",
            )  # fmt: skip
            running.run(use_cases.phones.create(actor, phone))
        for name in ("Front desk", "Night"):
            xml = f"<device>\n  <name>{name}</name>\n</device>\n"
            profile = CreateProfile(user_uuid=owner, name=name, cnf_xml=xml)
            running.run(use_cases.profiles.create(actor, profile))
        yield running


@pytest.fixture
def page(service: Served, tmp_path: Path) -> Iterator[Page]:
    """Signed in as the superadmin; nothing logs an error or asks another host."""
    assert CHROMIUM is not None
    with browser(CHROMIUM, tmp_path / "profile") as opened:
        opened.call("Page.navigate", url=f"{service.url}/console")
        sign_in(opened, "ada")
        opened.see_heading("Overview")
        yield opened
        if folder := os.environ.get("SCREENSHOTS"):
            opened.screenshot(Path(folder) / "last-page.png")
        # The drawing in a field for a time is a data URL of the browser.
        own = (f"{service.url}/", "data:")
        assert [one for one in opened.asked if not one.startswith(own)] == []
        assert opened.complaints == []


def sign_in(page: Page, username: str) -> None:
    page.fill("Username", username)
    page.fill("Password", PASSWORD)
    page.press("Sign in")


def test_console_takes_an_operator_through_the_day(page: Page) -> None:
    _find_a_phone(page)
    _switch_it(page, "Front desk")
    _switch_it(page, "Night")
    _roll_it_back(page)
    _switch_a_floor(page)
    _import_a_table(page)
    page.press("Sign out")
    sign_in(page, "grace")
    page.see_heading("Overview")
    page.see("Logged in at no phone.")
    links = page.evaluate(
        "[...document.querySelectorAll('nav a')].map(one => one.innerText).join()"
    )
    assert links == "Overview,Phones,Profiles,People,Directory"


def _find_a_phone(page: Page) -> None:
    page.type(".finder input", "desk 1")
    page.evaluate("document.querySelector('.finder').requestSubmit()")
    page.see_heading(f"Desk 1 ({FIRST})")
    page.see("has put no profile on this phone yet")
    page.press("Switch this phone")


def _switch_it(page: Page, profile: str) -> None:
    page.choose("Profile", profile)
    page.press("Switch")
    page.see(f"Switch Desk 1 ({FIRST}) to {profile}?")
    page.press("Switch")
    page.until("document.querySelector('h2')?.innerText === 'Deployed'")


def _roll_it_back(page: Page) -> None:
    page.press("Phone")
    page.see("Night, revision 1")
    page.press("Roll back")
    page.see(f"Put the previous configuration back onto Desk 1 ({FIRST})?")
    page.press("Roll back")
    page.see_heading(f"Rollback: Desk 1 ({FIRST})")
    page.see("Front desk, revision 1")
    page.see("Deployed")


def _switch_a_floor(page: Page) -> None:
    page.press("Batches")
    page.press("New batch")
    page.choose("Profile", "Night")
    page.choose("Location", "Hall (2)")
    page.see("2 phones chosen.")
    page.press("Start batch")
    page.see("Switch 2 phones?")
    page.press("Start batch")
    page.see("2 of 2 done, 0 failed, 0 skipped")


def _import_a_table(page: Page) -> None:
    page.press("People")
    page.press("Import")
    page.choose("Kind of records", "Company directory")
    page.fill("CSV text", "name,work\nMary Shelley,2010\n,2012\n")
    page.press("Dry run")
    page.see("Dry run: nothing was written")
    page.see("Name is required")
    page.fill("CSV text", "name,work\nMary Shelley,2010\n")
    page.press("Dry run")
    page.press("Import")
    page.see_heading("Import a table")
    page.see("Imported")
    page.press("Directory")
    page.see("Mary Shelley")
