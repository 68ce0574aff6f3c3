"""People join and leave in one act: preview, PIN, undo; on wide and narrow screens, with axe."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from browser.console_rig import Console, Service, axe_finds

TABLE = "first_name,last_name,username,email\nHedy,Kiesler,hedy,hedy@office.example\n"


@pytest.fixture
def template(service: Service) -> Iterator[str]:
    body = "<device><user>{{ user.username }}</user></device>"
    made = service.api("POST", "configuration-templates", {"name": "joiners", "body": body})
    yield "joiners"
    service.api("DELETE", f"configuration-templates/{made['uuid']}")


def test_joiner_is_previewed_written_and_undone(
    console: Console, service: Service, template: str, screenshots: Path
) -> None:
    page = console.page
    console.open("#/people/join")
    for label, text in (
        ("First name", "Mary"),
        ("Last name", "Jackson"),
        ("Username", "maryj"),
        ("Email", "maryj@office.example"),
        ("Next free number of a block", "7300-7349"),
    ):
        page.get_by_label(re.compile(f"^{label}")).fill(text)
    page.get_by_label("Template", exact=True).select_option(value=template)
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="Preview: nothing was written")).to_be_visible()
    expect(page.get_by_text("The number is 7300: a new extension.")).to_be_visible()
    assert not any(one["username"] == "maryj" for one in service.api("GET", "users"))
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert axe_finds(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
        page.screenshot(path=screenshots / f"join-preview-{width}.png", full_page=True)
    page.set_viewport_size({"width": 1280, "height": 900})

    page.get_by_role("button", name="Let join").click()
    expect(page.get_by_text("The PINs are shown once.")).to_be_visible()
    assert len(page.locator("code").inner_text()) == 6
    assert axe_finds(page) == []

    page.get_by_role("link", name="Undo").click()
    expect(page.get_by_text("maryj is deleted, with links, profiles and PIN.")).to_be_visible()
    assert axe_finds(page) == []
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", name="1 person(s) restored")).to_be_visible()
    assert not any(one["username"] == "maryj" for one in service.api("GET", "users"))


def test_wrong_joiner_is_marked_at_the_field(console: Console) -> None:
    page = console.page
    console.open("#/people/join")
    for label, text in (("First name", "A"), ("Last name", "B"), ("Username", "a"), ("Email", "b")):
        page.get_by_label(re.compile(f"^{label}")).fill(text)
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_label(re.compile("^Email"))).to_have_attribute("aria-invalid", "true")


def test_table_joins_and_a_person_leaves_from_the_own_page(
    console: Console, service: Service, screenshots: Path
) -> None:
    page = console.page
    console.open("#/people/join")
    page.get_by_label("Next free number of a block").fill("7300-7349")
    page.get_by_text("Several people, from a file or a table").click()
    page.get_by_label("CSV text").fill(TABLE)
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Let join").click()
    expect(page.get_by_text("The PINs are shown once.")).to_be_visible()
    page.get_by_role("link", name="hedy", exact=True).click()
    page.get_by_role("link", name="Leaver").click()
    expect(page.get_by_label(re.compile("^Username"))).to_have_value("hedy")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("7300 is free: inactive, with another password.")).to_be_visible()
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert axe_finds(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
        page.screenshot(path=screenshots / f"leave-preview-{width}.png", full_page=True)
    page.get_by_role("button", name="Let leave").click()
    expect(page.get_by_role("heading", name="1 person(s) left")).to_be_visible()
    assert axe_finds(page) == []
    [hedy] = [one for one in service.api("GET", "users") if one["username"] == "hedy"]
    assert hedy["is_active"] is False
    for place in (f"#/people/{hedy['uuid']}", "#/audit?action=person.left"):
        console.open(place)
        page.get_by_role("link", name="Undo").first.click()
        expect(page.get_by_text("7300 is the person's again")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", name="1 person(s) restored")).to_be_visible()
    console.open(f"#/people/{hedy['uuid']}")
    expect(page.get_by_role("link", name="Leaver")).to_be_visible()
    expect(page.get_by_role("link", name="Undo")).to_have_count(0)
    service.api("DELETE", f"users/{hedy['uuid']}")


def test_switch_that_failed_after_a_leave_is_repeated_from_the_result(
    console: Console, service: Service, template: str
) -> None:
    page, mac = console.page, "00:1B:D4:00:00:04"
    phone = service.api("GET", f"phones/{mac}")
    joiner = {"first_name": "Dee", "last_name": "Goode", "username": "dee", "pin": False,
              "email": "dee@office.example", "template": template, "mac": mac}  # fmt: skip
    before = service.api("GET", f"phones/{mac}/desk")["default_profile_uuid"]
    service.api("PUT", f"phones/{mac}/desk", {"default_profile_uuid": None})
    service.api("POST", "people/join", {"people": [joiner]})
    service.api("PUT", f"phones/{mac}", {"phone_ip": None})
    console.open("#/people/leave?username=dee")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("has an empty configuration as default profile")).to_be_visible()
    page.get_by_role("button", name="Let leave").click()
    expect(page.get_by_text(f"({mac}): ")).to_be_visible()
    service.api("PUT", f"phones/{mac}", {"phone_ip": phone["phone_ip"]})
    page.wait_for_timeout(2500)  # the phone is away for a second after the restart of the join
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text(f"{mac} has the profile Empty.")).to_be_visible()
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    service.api("PUT", f"phones/{mac}/desk", {"default_profile_uuid": before})
    [dee] = [one for one in service.api("GET", "users") if one["username"] == "dee"]
    service.api("DELETE", f"users/{dee['uuid']}")
    for one in service.api("GET", "configuration-templates"):
        if one["name"] == "empty":
            service.api("DELETE", f"configuration-templates/{one['uuid']}")
