"""Templates, API tokens, numbers of desks and replaced phones in the console."""

import re
from pathlib import Path

import httpx
from playwright.sync_api import expect

from browser.console_rig import Console, Service, choose


def test_template_is_checked_while_typing_and_saved(console: Console, screenshots: Path) -> None:
    page = console.page
    console.go("Profiles")
    page.get_by_role("link", name="Templates").click()
    page.get_by_role("link", name="New template").click()
    page.get_by_label("Name", exact=False).first.fill("office")
    editor = page.get_by_label("Template", exact=True)
    editor.fill("<device>\n  <name>{{ phone.nmae }}</name>\n</device>\n")
    expect(page.get_by_role("button", name=re.compile("Line 2: Error"))).to_be_visible()
    page.screenshot(path=screenshots / "template-wrong.png")
    editor.fill("<device>\n  <name>{{ phone.name }}</name>\n</device>\n")
    expect(page.get_by_text("No findings")).to_be_visible()
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="office", exact=True)).to_be_visible()

    page.get_by_role("link", name="New variant").click()
    page.get_by_label("Model").fill("7945")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="office (7945)")).to_be_visible()
    expect(page.get_by_role("link", name="office", exact=True)).to_be_visible()
    page.screenshot(path=screenshots / "template.png")
    for _ in range(2):
        page.get_by_role("button", name="Delete").click()
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(page.get_by_role("heading", name="Templates")).to_be_visible()
        console.settled()
        link = page.get_by_role("link", name="office")
        if link.count():
            link.click()


def test_api_token_is_shown_once_and_works_until_it_is_deleted(
    console: Console, service: Service, screenshots: Path
) -> None:
    page = console.page
    page.get_by_role("link", name="ada").click()
    page.get_by_role("button", name="New token").click()
    page.get_by_role("dialog").get_by_label("Name").fill("nightly export")
    page.get_by_role("dialog").get_by_role("button", name="Create").click()
    token = page.get_by_role("textbox", name="API token").input_value()
    page.screenshot(path=screenshots / "token.png")
    headers = {"Authorization": f"Bearer {token}"}
    read = f"{service.url}/api/v1/phones"
    assert httpx.get(read, headers=headers, trust_env=False).status_code == 200
    page.get_by_role("textbox", name="API token").press("Control+c")
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    assert page.get_by_text(token).count() == 0
    page.get_by_role("row", name=re.compile("nightly export")).get_by_role("button").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("There are no API tokens.")).to_be_visible()
    assert httpx.get(read, headers=headers, trust_env=False).status_code == 401


def test_desk_gets_a_number_which_is_its_line(console: Console, service: Service) -> None:
    page = console.page
    console.open("#/phones/00:1B:D4:00:00:04?tab=desk")
    choose(page, "Number of the desk", "2001 Reception")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#notices")).to_contain_text("saved.")
    page.get_by_role("tab", name="Lines").click()
    expect(page.get_by_role("rowheader", name="2001")).to_be_visible()
    service.api("PUT", "phones/00:1B:D4:00:00:04/desk", {"extension_uuid": None})


def test_phone_is_replaced_by_another_device(console: Console, service: Service) -> None:
    service.api("POST", "phones", {"mac": "001bd4000060", "name": "Broken", "location": "Hall"})
    page = console.page
    console.open("#/phones/00:1B:D4:00:00:60")
    page.get_by_role("button", name="Replace").click()
    dialog = page.get_by_role("dialog", name="Replace Broken")
    dialog.get_by_label("MAC address of the new phone").fill("001bd4000060")
    dialog.get_by_role("button", name="Replace").click()
    expect(dialog.get_by_text("must be another phone")).to_be_visible()
    dialog.get_by_label("MAC address of the new phone").fill("001bd4000061")
    dialog.get_by_role("button", name="Replace").click()
    expect(page.get_by_role("heading", name="Broken (00:1B:D4:00:00:61)")).to_be_visible()
    assert service.api("GET", "phones/00:1B:D4:00:00:60")["is_active"] is False
    for mac in ("00:1B:D4:00:00:60", "00:1B:D4:00:00:61"):
        service.api("DELETE", f"phones/{mac}")
