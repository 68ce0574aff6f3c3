"""What the console says is so, and one click does nothing that cannot be taken back."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

from browser.console_rig import (
    ORDINARY,
    ORDINARY_PASSWORD,
    Console,
    Service,
    choose as choose_record,
)

# Import


def choose(page: Page, content: bytes, kind: str = "Company directory") -> None:
    page.get_by_label("Kind of records").select_option(label=kind)
    page.get_by_label("CSV or Excel file").set_input_files(
        {"name": "table.csv", "mimeType": "text/csv", "buffer": content}
    )


def test_import_of_a_latin_1_file_asks_for_the_encoding_and_keeps_its_letters(
    console: Console, screenshots: Path
) -> None:
    page = console.page
    console.open("#/import")
    choose(page, "name,work\nBröd & Smör,2010\n".encode("latin-1"))
    expect(page.get_by_role("alert")).to_contain_text("not UTF-8")
    expect(page.get_by_label("CSV text")).to_have_value(re.compile("Bröd & Smör"))
    page.screenshot(path=screenshots / "import-encoding.png")
    page.get_by_label("Encoding").select_option(label="Cyrillic (Windows-1251)")
    expect(page.get_by_label("CSV text")).to_have_value(re.compile("Brцd"))
    page.get_by_label("Encoding").select_option(value="windows-1252")
    expect(page.get_by_label("CSV text")).to_have_value(re.compile("Bröd & Smör"))

    choose(page, "name,work\nBröd,2010\n".encode())
    expect(page.get_by_label("Encoding")).to_be_hidden()
    choose(page, "name,work\nBröd,2010\n".encode("utf-16"))
    expect(page.get_by_label("CSV text")).to_have_value(re.compile("Bröd"))


@pytest.mark.parametrize(
    ("link", "kind"),
    [("#/phones", "Phones"), ("#/people", "Users"), ("#/directory", "Company directory"),
     ("#/extensions", "Extensions"), ("#/modules", "Key expansion modules"), ("#/desks", "Desks")],
)  # fmt: skip
def test_export_of_a_list_changes_nothing_when_it_is_imported(
    console: Console, service: Service, tmp_path: Path, link: str, kind: str
) -> None:
    for name, body in (
        ("company-directory", {"name": "=Ada;@x", "work": "+49 30 1"}),
        ("vendor-kem", {"mac": "00:1B:D7:00:00:02", "model": "CP-7916"}),
        ("extensions", {"type": "custom", "extension": "0301", "name": "Ü", "password": "x"}),
    ):
        if not service.api("GET", f"{name}?limit=1"):
            service.api("POST", name, body)
    page = console.page
    console.open(link)
    expect(page.get_by_role("rowheader").first).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Export CSV").first.click()
    download.value.save_as(tmp_path / "table.csv")

    console.open("#/import")
    choose(page, (tmp_path / "table.csv").read_bytes(), kind)
    page.get_by_role("button", name="Dry run").click()
    expect(page.get_by_role("heading", name="Dry run: nothing was written")).to_be_visible()
    outcomes = page.locator("dl.facts").inner_text().split("\n")
    assert outcomes[0] == "Rows"
    assert int(outcomes[1]) > 0
    assert outcomes[outcomes.index("No change") + 1] == outcomes[1], outcomes


def test_import_shows_the_wrong_row_of_1500_first_then_changes_with_both_values(
    console: Console, service: Service, screenshots: Path
) -> None:
    service.api("POST", "imports/phones", {"csv": "mac,name\n00:1B:D7:00:00:01,Old name\n"})
    page = console.page
    console.open("#/import")
    rows = [f"00:1B:D7:00:{n >> 8:02X}:{n & 255:02X},New name\n" for n in range(1, 1500)]
    choose(page, f"mac,name\n{''.join(rows)}nonsense,Wrong\n".encode(), "Phones")
    page.get_by_role("button", name="Dry run").click()
    table = page.get_by_role("region", name="Rows").get_by_role("row")
    expect(page.get_by_role("button", name="Import", exact=True)).to_be_disabled()
    expect(page.get_by_text("all rows or none")).to_be_visible()
    expect(table.nth(1)).to_contain_text("nonsense, Wrong")
    expect(table.nth(1)).to_contain_text("MAC address must have 12 hexadecimal digits")
    expect(table.nth(2)).to_contain_text("Name: Old name → New name")
    page.screenshot(path=screenshots / "import-wrong-first.png")
    service.api("DELETE", "phones/00:1B:D7:00:00:01")


# What is on a phone


def test_phone_after_21_failures_shows_what_is_on_it_and_that_the_last_change_failed(
    console: Console, service: Service, screenshots: Path
) -> None:
    mac = "00:1B:D4:00:00:02"
    profile = next(p for p in service.api("GET", "phone-profiles") if p["name"] == "Front desk")
    order = {"profile_uuid": profile["uuid"], "mac": mac}
    service.api("POST", "phone-profiles/switch", order)
    service.api("PUT", f"phones/{mac}", {"phone_ip": "127.0.1.98"})
    for _ in range(21):
        with pytest.raises(AssertionError):
            service.api("POST", "phone-profiles/switch", order)
    service.api("PUT", f"phones/{mac}", {"phone_ip": "127.0.1.2"})
    page = console.page
    console.open(f"#/phones/{mac}")
    state = page.locator(".on-phone")
    expect(state).to_contain_text("The last change failed")
    expect(state).to_contain_text("still on the phone")
    expect(state.get_by_role("link", name="Front desk, revision")).to_be_visible()
    assert page.get_by_text("Done", exact=True).count() == 0
    assert page.locator(".on-phone + *, .tabs").count() > 0
    page.screenshot(path=screenshots / "phone-21-failures.png")

    page.get_by_role("tab", name="Deployments").click()
    page.get_by_role("button", name="Show older rows").click()
    expect(page.get_by_role("tabpanel").get_by_text("Deployed")).to_have_count(1)


def test_phone_of_others_says_that_it_is_not_shown(browser: Browser, service: Service) -> None:
    console = Console(browser.new_context(), service.url)
    console.open()
    console.sign_in(ORDINARY, ORDINARY_PASSWORD)
    console.open("#/phones/00:1B:D4:00:00:02")
    expect(console.page.get_by_text("shown to its owner and to level 0 only")).to_be_visible()
    assert console.refusals == []
    console.context.close()


# Questions


def test_switch_chooses_nothing_at_first_and_does_nothing_without_a_choice(
    console: Console,
) -> None:
    page = console.page
    sent: list[str] = []
    page.on("request", lambda one: sent.append(one.url) if "/switch" in one.url else None)
    console.open("#/switch")
    console.settled()
    for name in ("Phone", "Profile"):
        expect(page.get_by_label(name, exact=True)).to_have_value("")
    page.get_by_role("button", name="Switch", exact=True).click()
    expect(page.get_by_text("Choose a profile first.")).to_be_visible()
    choose_record(page, "Profile", "Front desk")
    page.get_by_role("button", name="Switch", exact=True).click()
    expect(page.get_by_text("Choose a phone first.")).to_be_visible()
    page.get_by_label("Phone", exact=True).select_option(index=1)
    page.get_by_role("button", name="Switch", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("to Front desk?")
    dialog.get_by_role("button", name="Cancel").click()
    assert sent == []


def test_input_in_a_dialog_is_left_only_after_a_question(console: Console) -> None:
    page = console.page
    asked: list[str] = []

    def answer(question: Dialog) -> None:
        asked.append(question.message)
        (question.accept if len(asked) > 1 else question.dismiss)()

    page.on("dialog", answer)
    page.get_by_role("button", name="New phone").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("Typed")
    dialog.get_by_role("button", name="Close").click()
    expect(dialog.get_by_label("Name", exact=True)).to_have_value("Typed")
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)
    assert asked == ["Discard your unsaved changes?"] * 2


# Two tabs, the keyboard


def test_two_tabs_do_not_overwrite_each_others_profile(
    console: Console, service: Service, screenshots: Path
) -> None:
    me = service.api("GET", "me")
    profile = service.api("POST", "phone-profiles", {
        "user_uuid": me["uuid"], "name": "Two tabs", "cnf_xml": "<device>\n</device>\n",
    })  # fmt: skip
    place = f"#/profiles/{profile['uuid']}"
    page = console.page
    console.open(place)
    console.settled()
    other = console.context.new_page()
    other.goto(page.url)
    other.get_by_label("Configuration").fill("<device>\n  <!-- theirs -->\n</device>\n")
    other.get_by_role("button", name="Save").click()
    expect(other.locator("#notices")).to_contain_text("Two tabs saved.")

    page.get_by_label("Configuration").fill("<device>\n  <!-- mine -->\n</device>\n")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("changed meanwhile")
    page.get_by_role("button", name="Compare with the stored one").click()
    expect(page.get_by_role("region", name="Changes")).to_contain_text("theirs")
    expect(page.get_by_role("region", name="Changes")).to_contain_text("mine")
    page.screenshot(path=screenshots / "profile-conflict.png")
    assert "theirs" in service.api("GET", f"phone-profiles/{profile['uuid']}")["cnf_xml"]
    expect(page.get_by_label("Configuration")).to_have_value(re.compile("mine"))
    page.get_by_role("button", name="Save mine over it").click()
    expect(page.locator("#notices")).to_contain_text("Two tabs saved.")
    assert "mine" in service.api("GET", f"phone-profiles/{profile['uuid']}")["cnf_xml"]
    service.api("DELETE", f"phone-profiles/{profile['uuid']}")


def test_two_tabs_change_different_settings_of_a_desk(console: Console, service: Service) -> None:
    page = console.page
    path = "phones/00:1B:D4:00:00:04/desk"
    console.open("#/phones/00:1B:D4:00:00:04?tab=desk")
    console.settled()
    profile = next(p for p in service.api("GET", "phone-profiles") if p["name"] == "Front desk")
    service.api("PUT", path, {"default_profile_uuid": profile["uuid"]})
    page.get_by_label("Users may log in").uncheck()
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#notices")).to_contain_text("saved.")
    desk = service.api("GET", path)
    assert (desk["hotdesk"], desk["default_profile_uuid"]) == (False, profile["uuid"])
    service.api("PUT", path, {"default_profile_uuid": None, "hotdesk": True})


@pytest.mark.parametrize("place", ["nowhere", "people/%", "phones/%E0%A4%A"])
def test_address_without_a_page_is_named(console: Console, place: str) -> None:
    console.open(f"#/{place}")
    expect(console.page.get_by_role("heading", name="Page not found")).to_be_visible()


def test_skip_link_leads_to_the_content(console: Console) -> None:
    page = console.page
    page.keyboard.press("Tab")
    page.get_by_role("link", name="Skip to content").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    expect(page.get_by_role("heading", name="Phones", level=1)).to_be_visible()


def test_polling_keeps_focus_and_selection(console: Console, service: Service) -> None:
    mac = "00:1B:D4:00:00:03"
    profile = next(p for p in service.api("GET", "phone-profiles") if p["name"] == "Front desk")
    service.api("POST", "phone-profiles/switch", {"profile_uuid": profile["uuid"], "mac": mac})
    last: dict[str, Any] = service.api("GET", f"phones/{mac}/deployments")[-1]
    page = console.page
    polls: list[str] = []

    def pending(route: Any) -> None:
        """The phone is waited for, also if it came back meanwhile."""
        polls.append(route.request.url)
        reply = route.fetch()
        body = reply.json()
        body["data"] |= {"confirmation": "pending", "confirmation_message": f"{len(polls)} looks"}
        route.fulfill(response=reply, json=body)

    page.route(f"**/deployments/{last['uuid']}", pending)
    console.open(f"#/deployments/{last['uuid']}")
    link = page.locator(".facts").get_by_role("link").first
    link.focus()
    page.evaluate("getSelection().selectAllChildren(document.querySelector('h1'))")
    expect(page.get_by_text("3 looks")).to_be_visible()
    expect(link).to_be_focused()
    assert page.evaluate("getSelection().toString()").startswith("Switch")
