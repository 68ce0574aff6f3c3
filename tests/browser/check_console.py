"""The console in a real browser: make test-console. SCREENSHOTS names a folder for its pictures."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

from browser.console_rig import (
    ORDINARY,
    ORDINARY_PASSWORD,
    Console,
    Phones,
    Service,
    chromium,
    fill,
)

expect.set_options(timeout=20_000)
PAGES = {
    "Phones": "#/phones", "Phone": "#/phones/00:1B:D4:00:00:01", "Switch": "#/switch",
    "Batches": "#/batches", "New batch": "#/batches/new", "Profiles": "#/profiles",
    "New profile": "#/profiles/new", "People": "#/people", "Import": "#/import",
    "Extensions": "#/extensions", "Levels": "#/permissions", "Services": "#/services",
    "Modules": "#/modules", "Directory": "#/directory", "Audit": "#/audit", "Account": "#/about",
}  # fmt: skip
WCAG = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


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


@pytest.fixture(scope="module")
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
    """Signed in as the superadmin. No page may complain or ask another host."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = Console(context, service.url)
    opened.open()
    opened.sign_in()
    opened.settled()
    yield opened
    context.close()
    assert opened.complaints == []
    assert opened.hosts == {service.url.removeprefix("http://")}


# Signing in


def test_wrong_password_is_shown_and_the_form_stays(browser: Browser, service: Service) -> None:
    console = Console(browser.new_context(), service.url)
    console.open()
    console.page.get_by_label("Username").fill("ada")
    console.page.get_by_label("Password").fill("wrong password")
    console.page.get_by_role("button", name="Sign in").click()

    expect(console.page.get_by_role("alert")).to_contain_text("wrong")
    expect(console.page.get_by_label("Password")).to_be_focused()
    console.context.close()


def test_reload_keeps_the_session_and_sign_out_ends_it(console: Console) -> None:
    page = console.page
    page.reload()
    expect(page.get_by_role("heading", name="Phones")).to_be_visible()
    assert page.evaluate("document.cookie") == ""
    assert page.evaluate("localStorage.length + sessionStorage.length") == 0

    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Username")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Username")).to_be_visible()


def test_account_without_level_0_sees_what_the_api_allows(
    browser: Browser, service: Service, screenshots: Path
) -> None:
    console = Console(browser.new_context(viewport={"width": 1280, "height": 900}), service.url)
    refused: list[str] = []
    console.page.on(
        "response", lambda reply: refused.append(reply.url) if reply.status == 403 else None
    )
    console.open()
    console.sign_in(ORDINARY, ORDINARY_PASSWORD)
    navigation = console.page.get_by_role("navigation")
    assert navigation.get_by_role("link").all_inner_texts() == [
        "Phones", "Profiles", "People", "Directory",
    ]  # fmt: skip
    for link in ("Phones", "Profiles", "People", "Directory"):
        console.go(link)
        console.page.screenshot(path=screenshots / f"plain-{link.lower()}.png")
    for place in ("#/phones/00:1B:D4:00:00:01", "#/about", "#/switch"):
        console.open(place)
        console.settled()
    assert refused == []
    assert console.complaints == []
    console.context.close()


# Phones and switches


def test_phone_is_switched_watched_and_rolled_back(
    console: Console, service: Service, screenshots: Path
) -> None:
    page = console.page
    page.get_by_role("link", name="00:1B:D4:00:00:01").click()
    expect(page.get_by_text("No deployment is known.").first).to_be_visible()
    page.get_by_role("link", name="Switch this phone").click()
    page.get_by_label("Profile", exact=True).select_option(label="Front desk")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("The profile fits this phone.")).to_be_visible()
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()
    page.screenshot(path=screenshots / "preview.png", full_page=True)

    page.get_by_role("button", name="Switch", exact=True).click()
    expect(page.get_by_role("heading", name="Deployed")).to_be_visible()
    expect(page.get_by_text("Confirmation: Confirmed")).to_be_visible(timeout=40_000)
    assert page.locator(".timeline li.done").count() == 4
    page.screenshot(path=screenshots / "switched.png", full_page=True)

    profile = next(
        one for one in service.api("GET", "phone-profiles") if one["name"] == "Front desk"
    )
    service.api("PUT", f"phone-profiles/{profile['uuid']}", {
        "cnf_xml": "<device>\n  <loadInformation>SCCP45.9-4-2SR3-1S</loadInformation>\n"
        "  <sshPassword>secret of the phone</sshPassword>\n</device>\n",
    })  # fmt: skip
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("region", name="Changes")).to_contain_text("sshPassword")
    expect(page.get_by_role("region", name="Changes")).not_to_contain_text("secret of the phone")
    page.screenshot(path=screenshots / "preview-diff.png", full_page=True)
    page.get_by_role("button", name="Switch", exact=True).click()
    expect(page.get_by_text("Confirmation: Confirmed")).to_be_visible(timeout=40_000)

    page.locator("main").get_by_role("link", name="Phone", exact=True).click()
    expect(page.get_by_text("Front desk, revision 2")).to_be_visible()
    page.screenshot(path=screenshots / "phone.png", full_page=True)
    page.get_by_role("button", name="Roll back").click()
    page.get_by_role("dialog").get_by_role("button", name="Roll back").click()
    expect(page.get_by_role("heading", name=re.compile("Rollback"))).to_be_visible()
    expect(page.get_by_text("Confirmation: Confirmed")).to_be_visible(timeout=40_000)
    page.screenshot(path=screenshots / "rollback.png", full_page=True)


def test_search_and_filters_are_kept_in_the_address(console: Console) -> None:
    page = console.page
    page.get_by_label("Search").fill("00:00:02")
    expect(page.get_by_text("1 row", exact=True)).to_be_visible()
    page.get_by_label("Search").fill("")
    page.get_by_label("Location").fill("Hall")
    expect(page.get_by_text("2 rows")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Location")).to_have_value("Hall")
    expect(page.get_by_text("2 rows")).to_be_visible()


def test_phones_are_filtered_by_login_and_last_outcome(console: Console, service: Service) -> None:
    page = console.page
    profile = next(
        one for one in service.api("GET", "phone-profiles") if one["name"] == "Front desk"
    )
    order = {"profile_uuid": profile["uuid"], "mac": "00:1B:D4:00:00:03"}
    service.api("POST", "phone-profiles/switch", order)
    page.get_by_label("Last outcome").select_option(label="Deployed")
    expect(page.get_by_role("link", name="00:1B:D4:00:00:03")).to_be_visible()
    page.get_by_label("Last outcome").select_option(label="Never deployed")
    expect(page.get_by_role("link", name="00:1B:D4:00:00:03")).to_have_count(0)
    expect(page.get_by_role("link", name="00:1B:D4:00:00:04")).to_be_visible()
    page.get_by_label("Last outcome").select_option(label="Any")

    page.get_by_label("Logged-in user").fill("gra")
    expect(page.get_by_text("Nothing found.")).to_be_visible()
    assert page.locator("datalist option").evaluate_all("all => all.map(e => e.value)") == ["grace"]
    page.get_by_label("Logged-in user").fill("ADA")
    expect(page.get_by_role("link", name="00:1B:D4:00:00:03")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Logged-in user")).to_have_value("ADA")
    expect(page.get_by_role("link", name="00:1B:D4:00:00:04")).to_have_count(0)


def test_failed_switch_shows_the_reason(
    console: Console, service: Service, screenshots: Path
) -> None:
    service.api("POST", "phones", {
        "mac": "00:1B:D4:00:00:99", "model": "CP-7945G", "phone_ip": "127.0.1.99",
        "name": "Unplugged",
    })  # fmt: skip
    page = console.page
    console.open("#/switch?mac=00:1B:D4:00:00:99")
    page.get_by_label("Profile", exact=True).select_option(label="Front desk")
    page.get_by_role("button", name="Switch", exact=True).click()

    expect(page.get_by_role("heading", name="Failed")).to_be_visible(timeout=40_000)
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.locator(".timeline li.failed")).to_have_count(1)
    page.screenshot(path=screenshots / "switch-failed.png", full_page=True)
    service.api("DELETE", "phones/00:1B:D4:00:00:99")


def test_phone_create_update_and_delete_are_shown(console: Console) -> None:
    page = console.page
    page.get_by_role("button", name="New phone").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("MAC address").fill("nonsense")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_label("MAC address")).to_have_attribute("aria-invalid", "true")
    expect(dialog.get_by_label("MAC address")).to_be_focused()
    dialog.get_by_label("MAC address").fill("001bd4ffff01")
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="00:1B:D4:FF:FF:01")).to_be_visible()
    page.get_by_role("button", name="Edit").click()
    dialog.get_by_label("Location").fill("Basement")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Basement")).to_be_visible()
    page.get_by_role("button", name="Delete").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="Phones")).to_be_visible()


# Batches


def test_batch_runs_with_progress_and_is_repeated_for_failed_phones(
    console: Console, service: Service, screenshots: Path
) -> None:
    service.api("POST", "phones", {
        "mac": "00:1B:D4:00:00:98", "model": "CP-7945G", "phone_ip": "127.0.1.98",
        "location": "Hall", "software_type": "SCCP",
    })  # fmt: skip
    page = console.page
    console.go("Batches")
    page.get_by_role("link", name="New batch").click()
    page.get_by_label("Profile", exact=True).select_option(label="Front desk")
    page.get_by_label("Location").fill("Hall")
    page.get_by_label("Stop after this percentage of failures").fill("")
    page.screenshot(path=screenshots / "new-batch.png", full_page=True)
    page.get_by_role("button", name="Start batch").click()
    page.get_by_role("dialog").get_by_role("button", name="Start batch").click()
    expect(page.get_by_role("heading", name="Batch")).to_be_visible()
    page.screenshot(path=screenshots / "batch-running.png", full_page=True)
    expect(page.get_by_text("2 of 3 done, 1 failed, 0 skipped")).to_be_visible(timeout=60_000)
    page.screenshot(path=screenshots / "batch.png", full_page=True)

    page.get_by_role("link", name="Repeat for failed phones").click()
    expect(page.get_by_label("MAC addresses")).to_have_value("00:1B:D4:00:00:98")
    expect(page.get_by_label("Profile", exact=True).locator(":checked")).to_have_text("Front desk")
    page.get_by_role("button", name="Start batch").click()
    page.get_by_role("dialog").get_by_role("button", name="Start batch").click()
    expect(page.get_by_text("0 of 1 done, 1 failed, 0 skipped")).to_be_visible(timeout=60_000)
    console.go("Batches")
    expect(page.get_by_role("row").nth(1)).to_contain_text("Switch")
    service.api("DELETE", "phones/00:1B:D4:00:00:98")


# Profiles


def test_editor_marks_findings_and_jumps_to_their_lines(
    console: Console, screenshots: Path
) -> None:
    page = console.page
    console.go("Profiles")
    page.get_by_role("link", name="New profile").click()
    page.get_by_label("Name").fill("Night service")
    editor = page.get_by_label("Configuration")
    editor.fill("<device>\n" + "  <!-- nothing -->\n" * 60 + "  <loadInformation>x</device>\n")
    finding = page.get_by_role("button", name=re.compile("Line 62"))
    expect(finding).to_be_visible()
    finding.click()
    expect(editor).to_be_focused()
    selected = page.evaluate(
        "(e => e.value.slice(0, e.selectionStart).split('\\n').length)(document.activeElement)"
    )
    assert selected == 62
    expect(page.locator(".gutter .error")).to_have_text("62")
    page.screenshot(path=screenshots / "editor.png", full_page=True)
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("alert")).to_be_visible()

    editor.fill("<device>\n  <loadInformation>SCCP45.9-4-2SR3-1S</loadInformation>\n</device>\n")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="Night service")).to_be_visible()
    editor.fill("<device>\n  <loadInformation>SCCP45.9-3-1-1S</loadInformation>\n</device>\n")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("region", name="Changes")).to_contain_text("SCCP45.9-3-1-1S")
    page.screenshot(path=screenshots / "revisions.png", full_page=True)


def test_text_survives_the_end_of_the_session(
    console: Console, service: Service, screenshots: Path
) -> None:
    page = console.page
    console.open("#/profiles/new")
    page.get_by_label("Name").fill("Typed for an hour")
    page.get_by_label("Configuration").fill("<device>\n  <name>hour</name>\n</device>\n")
    service.api("POST", "auth/logout")  # ends all sessions of the account
    service.log_in()
    page.get_by_role("button", name="Create").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Your session has ended")
    page.screenshot(path=screenshots / "session-ended.png")
    expect(dialog.get_by_label("Username")).to_have_value("ada")
    expect(dialog.get_by_label("Password")).to_be_focused()
    dialog.get_by_label("Password").fill("analytical engine 1843")
    dialog.get_by_role("button", name="Sign in").click()

    expect(page.get_by_role("heading", name="Typed for an hour")).to_be_visible()
    expect(page.get_by_label("Configuration")).to_have_value(re.compile("hour"))


def test_unsaved_text_is_left_only_after_confirmation(console: Console) -> None:
    page = console.page
    questions: list[str] = []
    answers = [False, True]

    def answer(dialog: Any) -> None:
        questions.append(dialog.message)
        if answers.pop(0):
            dialog.accept()
        else:
            dialog.dismiss()

    page.on("dialog", answer)
    console.open("#/profiles/new")
    page.get_by_label("Name").fill("Not saved")
    page.get_by_role("navigation").get_by_role("link", name="Phones").click()
    expect(page.get_by_label("Name")).to_have_value("Not saved")
    page.get_by_role("navigation").get_by_role("link", name="Phones").click()
    expect(page.get_by_role("heading", name="Phones")).to_be_visible()
    assert questions == ["Discard your unsaved changes?"] * 2


# People, directory, import


def test_user_gets_extension_level_and_pin(console: Console, screenshots: Path) -> None:
    page = console.page
    console.go("People")
    page.get_by_role("link", name="Grace Hopper").click()
    page.get_by_label("Extension", exact=True).select_option(label="2001 Reception")
    page.get_by_role("button", name="Link extension").click()
    expect(page.get_by_role("cell", name="Reception")).to_be_visible()
    page.get_by_label("New PIN").fill("12")
    page.locator("section", has=page.get_by_role("heading", name="PIN")).get_by_role(
        "button", name="Save"
    ).click()
    expect(page.get_by_label("New PIN")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("New PIN").fill("2468")
    page.locator("section", has=page.get_by_role("heading", name="PIN")).get_by_role(
        "button", name="Save"
    ).click()
    expect(page.locator("#notices")).to_contain_text("Vendor user saved")
    page.screenshot(path=screenshots / "person.png", full_page=True)
    page.get_by_role("button", name="Remove link").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove link").click()
    expect(page.get_by_role("cell", name="Reception")).to_have_count(0)


def test_contact_is_created_and_deleted(console: Console, screenshots: Path) -> None:
    page = console.page
    console.go("Directory")
    page.get_by_role("button", name="New contact").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Annabella Milbanke")
    dialog.get_by_label("Work").fill("2002")
    dialog.get_by_role("button", name="Create").click()
    contact = page.get_by_role("button", name="Annabella Milbanke")
    expect(contact).to_be_visible()
    page.screenshot(path=screenshots / "directory.png")
    contact.click()
    dialog.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").last.get_by_role("button", name="Delete").click()
    expect(contact).to_have_count(0)


def test_extension_and_kem_are_created_updated_and_deleted(
    console: Console, service: Service, screenshots: Path
) -> None:
    page = console.page
    dialog = page.get_by_role("dialog")
    console.go("People")
    page.get_by_role("link", name="Extensions").click()
    page.get_by_role("button", name="New extension").click()
    dialog.get_by_label("Extension").fill("2002")
    dialog.get_by_label("Name").fill("Workshop")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_label("Password")).to_have_attribute("aria-invalid", "true")
    dialog.get_by_label("Password").fill("line secret two")
    dialog.get_by_role("button", name="Create").click()
    page.get_by_role("button", name="2002").click()
    dialog.get_by_label("Voicemail", exact=True).check()
    page.screenshot(path=screenshots / "extension.png")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    (extension,) = service.api("GET", "extensions?q=2002")
    assert (extension["name"], extension["voicemail"]) == ("Workshop", True)
    page.get_by_label("Search").fill("2002")
    page.get_by_role("button", name="2002").click()
    dialog.get_by_role("button", name="Delete").click()
    dialog.last.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Nothing found.")).to_be_visible()

    console.go("Phones")
    page.get_by_role("link", name="Key expansion modules").click()
    page.get_by_role("button", name="New module").click()
    dialog.get_by_label("Model").fill("7916")
    dialog.get_by_label("Connected phone").fill("001bd4000004")
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("cell", name="00:1B:D4:00:00:04")).to_be_visible()
    console.open("#/phones/00:1B:D4:00:00:04")
    expect(page.get_by_role("rowheader", name="7916")).to_be_visible()
    (module,) = service.api("GET", "vendor-kem")
    service.api("DELETE", f"vendor-kem/{module['uuid']}")


def test_import_dry_run_shows_rows_before_anything_is_written(
    console: Console, screenshots: Path
) -> None:
    page = console.page
    console.go("People")
    page.get_by_role("link", name="Import").click()
    page.get_by_label("Kind of records").select_option(label="Company directory")
    table = "name,work\nMary Shelley,2010\nLord Byron,2011\n"
    page.get_by_label("CSV file").set_input_files(
        {"name": "contacts.csv", "mimeType": "text/csv", "buffer": (table + ",2012\n").encode()}
    )
    expect(page.get_by_label("CSV text")).to_have_value(re.compile("Lord Byron"))
    expect(page.get_by_role("button", name="Import")).to_be_disabled()
    page.get_by_role("button", name="Dry run").click()
    expect(page.get_by_role("heading", name="Dry run: nothing was written")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("^4 Wrong name"))).to_be_visible()
    expect(page.get_by_role("button", name="Import")).to_be_disabled()
    page.screenshot(path=screenshots / "import.png", full_page=True)
    page.get_by_label("CSV text").fill(table)
    page.get_by_role("button", name="Dry run").click()
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_role("heading", name="Imported")).to_be_visible()
    console.go("Directory")
    expect(page.get_by_role("button", name="Mary Shelley")).to_be_visible()


# Connection


def test_lost_connection_is_shown_and_restored(console: Console, screenshots: Path) -> None:
    page = console.page
    console.context.set_offline(True)
    page.get_by_role("navigation").get_by_role("link", name="Profiles").click()
    expect(page.locator("#connection")).to_contain_text("Connection lost")
    page.screenshot(path=screenshots / "connection-lost.png")
    console.context.set_offline(False)
    expect(page.locator("#connection")).to_be_empty()
    expect(page.get_by_role("link", name="Front desk")).to_be_visible()
    expect(page.locator("#notices")).to_contain_text("Connection restored")
    console.complaints.clear()


def test_text_survives_a_lost_connection(console: Console) -> None:
    page = console.page
    console.open("#/profiles/new")
    page.get_by_label("Name").fill("Typed in a tunnel")
    page.get_by_label("Configuration").fill("<device>\n  <name>tunnel</name>\n</device>\n")
    console.context.set_offline(True)
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("alert")).to_contain_text("not known whether the request arrived")
    console.context.set_offline(False)
    expect(page.locator("#connection")).to_be_empty()
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="Typed in a tunnel")).to_be_visible()
    expect(page.get_by_label("Configuration")).to_have_value(re.compile("tunnel"))
    console.complaints.clear()


# Keyboard, sizes, contrast


def focused(console: Console) -> str:
    text: str = console.page.evaluate(
        "(e => e === document.body ? '' : (e.labels?.[0]?.innerText || e.ariaLabel"
        " || e.innerText || e.id).trim())(document.activeElement)"
    )
    return text


def tabs(console: Console, count: int) -> list[str]:
    found = []
    for _ in range(count):
        console.page.keyboard.press("Tab")
        found.append(focused(console))
    return found


def test_keyboard_alone_signs_in_and_opens_a_phone(browser: Browser, service: Service) -> None:
    console = Console(browser.new_context(), service.url)
    console.open()
    console.page.get_by_label("Username").wait_for()
    keyboard = console.page.keyboard
    expect(console.page.get_by_label("Username")).to_be_focused()
    keyboard.type("ada")
    keyboard.press("Tab")
    keyboard.type("analytical engine 1843")
    keyboard.press("Enter")
    console.page.get_by_role("link", name="00:1B:D4:00:00:01").wait_for()
    console.settled()
    console.page.reload()
    console.page.get_by_role("link", name="00:1B:D4:00:00:01").wait_for()
    assert tabs(console, 20) == [
        "Skip to content", "phoneprov", "Phones", "Batches", "Profiles", "People", "Directory",
        "Audit", "ada", "Sign out", "New phone", "Key expansion modules", "Search", "Model",
        "Location", "Software type", "Logged-in user", "Last outcome", "Phones",
        "00:1B:D4:00:00:01",
    ]  # fmt: skip
    keyboard.press("ArrowDown")
    assert focused(console) == "00:1B:D4:00:00:02"
    keyboard.press("End")
    assert focused(console) == "00:1B:D4:00:00:04"
    keyboard.press("Home")
    keyboard.press("Enter")
    expect(console.page.get_by_role("heading", name="Desk 1")).to_be_visible()
    assert console.page.evaluate("document.activeElement.id") == "main"
    assert tabs(console, 1) == ["Switch this phone"]
    console.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_every_page_meets_wcag_and_fits_the_window(
    browser: Browser, service: Service, screenshots: Path, scheme: Any, width: int
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, bypass_csp=True
    )
    console = Console(context, service.url)
    console.open()
    console.page.get_by_label("Username").wait_for()
    found: dict[str, Any] = {}
    check(console, "Sign in", found, screenshots / f"sign-in-{scheme}-{width}.png")
    console.sign_in()
    for name, place in PAGES.items():
        console.open(place)
        console.settled()
        console.page.wait_for_load_state("networkidle")
        file = f"{name.lower().replace(' ', '-')}-{scheme}-{width}.png"
        check(console, name, found, screenshots / file)
    context.close()
    assert found == {}, json.dumps(found, indent=1)
    assert console.complaints == []


def check(console: Console, name: str, found: dict[str, Any], shot: Path) -> None:
    console.page.screenshot(path=shot, full_page=True)
    results = Axe().run(console.page, options=WCAG).response
    for violation in results["violations"]:
        nodes = [node["html"][:200] + " " + node["failureSummary"] for node in violation["nodes"]]
        found[f"{name}: {violation['id']}"] = nodes[:3]
    wide = console.page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    if wide > 0:
        found[f"{name}: wider than the window"] = wide


# Weight and speed


def measured(text: str) -> None:
    """A figure for the report of pytest -rP."""
    sys.stdout.write(text + "\n")


def test_first_load_is_small_and_interactive_within_a_second(
    browser: Browser, service: Service
) -> None:
    context = browser.new_context()
    console = Console(context, service.url)
    sizes: list[int] = []
    console.page.on("requestfinished", lambda one: sizes.append(one.sizes()["responseBodySize"]))
    began = time.perf_counter()
    console.open()
    console.page.get_by_label("Username").wait_for()
    seconds = time.perf_counter() - began
    measured(f"first load: {sum(sizes)} bytes in {len(sizes)} requests, {seconds:.2f} s")
    assert sum(sizes) <= 80 * 1024
    context.close()


def test_list_of_10000_phones_scrolls_without_long_tasks(
    browser: Browser, service: Service, screenshots: Path
) -> None:
    rows = "".join(
        f"00:1B:D5:{n >> 16:02X}:{n >> 8 & 255:02X}:{n & 255:02X},CP-7945G,Desk {n},Floor {n % 9}\n"
        for n in range(10_000)
    )
    service.api("POST", "imports/phones", {"csv": "mac,model,name,location\n" + rows})
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    console = Console(context, service.url)
    console.open()
    console.sign_in()
    console.settled()
    page = console.page
    expect(page.get_by_text(re.compile("10,00[0-9] rows"))).to_be_visible()
    scroller = page.locator(".scroller")
    tasks = tasks_of(browser, page, lambda: scrolled(scroller))
    longest = max(wall for wall, _ in tasks)
    busiest = max(processor for _, processor in tasks)
    measured(f"longest task while scrolling: {longest:.0f} ms, processor time {busiest:.0f} ms")
    page.screenshot(path=screenshots / "phones-10000.png")
    page.keyboard.press("End")
    expect(page.locator("[data-index]").last).to_contain_text("00:1B:D5:00:27:0F")
    assert len(tasks) > 100
    # The time that passes holds that of other processes of this machine, too.
    assert busiest <= 50
    context.close()


def tasks_of(browser: Browser, page: Page, work: Callable[[], None]) -> list[tuple[float, float]]:
    """The tasks of the page's main thread during ``work``: milliseconds that passed, and
    milliseconds of processor time."""
    browser.start_tracing(page=page, categories=["toplevel"])
    work()
    events = json.loads(browser.stop_tracing())["traceEvents"]
    threads = {
        (one["pid"], one["tid"]): one["args"]["name"]
        for one in events
        if one.get("name") == "thread_name"
    }
    return [
        (one["dur"] / 1000, one["tdur"] / 1000)
        for one in events
        if one.get("ph") == "X"
        and one["name"].endswith("RunTask")
        and "tdur" in one
        and threads.get((one["pid"], one["tid"])) == "CrRendererMain"
    ]


def scrolled(scroller: Locator) -> None:
    scroller.evaluate("e => e.scrollTo(0, 0)")
    scroller.hover()
    for _ in range(100):
        scroller.page.mouse.wheel(0, 900)
        scroller.page.wait_for_timeout(16)
    scroller.evaluate("e => e.scrollTo(0, e.scrollHeight)")
    scroller.page.wait_for_timeout(500)
    scroller.evaluate("e => e.focus()")
