"""After an act the next step; notes, PIN locks, labels, ends of logins and the phone's own page."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.console_rig import Console, Service, axe_finds

MAC, NEW = "00:1B:D4:00:00:02", "00:1B:D4:00:0A:01"


def is_sound(page: Page) -> None:
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert axe_finds(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
    page.set_viewport_size({"width": 1280, "height": 900})


@pytest.fixture
def new_phone(service: Service) -> Iterator[str]:
    yield NEW
    service.api("DELETE", f"phones/{NEW}")


def test_new_phone_leads_to_the_next_steps_and_its_label(
    console: Console, new_phone: str, screenshots: Path
) -> None:
    page = console.page
    console.open("#/phones")
    page.get_by_role("button", name="New phone").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("MAC", exact=False).first.fill(new_phone)
    dialog.get_by_label("Name", exact=True).fill("Reception")
    dialog.get_by_role("button", name="Create").click()
    steps = page.get_by_role("group", name="Next")
    expect(steps.get_by_role("link", name="Switch")).to_be_visible()
    is_sound(page)
    steps.get_by_role("link", name="Label").click()
    expect(page.get_by_role("img", name=f"QR code of {new_phone}")).to_be_visible()
    expect(page.get_by_role("button", name="Print")).to_be_visible()
    is_sound(page)
    page.screenshot(path=screenshots / "label.png", full_page=True)
    page.emulate_media(media="print")
    expect(page.get_by_role("button", name="Print")).to_be_hidden()
    expect(page.locator("header")).to_be_hidden()
    page.screenshot(path=screenshots / "label-printed.png")
    page.emulate_media(media="screen")


def test_import_leads_to_the_list_of_its_records(console: Console) -> None:
    page = console.page
    console.open("#/import?kind=locations")
    page.get_by_label("CSV", exact=False).last.fill("name\nNext Hall\n")
    page.get_by_role("button", name="Dry run").click()
    page.get_by_role("button", name="Import").last.click()
    steps = page.get_by_role("group", name="Next")
    steps.get_by_role("link", name="Locations").click()
    expect(page.get_by_text("Next Hall")).to_be_visible()


def test_note_is_written_at_phone_and_person_and_found(console: Console, service: Service) -> None:
    page = console.page
    [user] = [one for one in service.api("GET", "users") if one["username"] == "ada"]
    for path, place in ((f"phones/{MAC}", "phones"), (f"people/{user['uuid']}", "people")):
        console.open(f"#/{path}")
        page.get_by_role("button", name="Add a note").click()
        page.get_by_role("dialog").get_by_label("Note").fill("cabinet seventeen")
        page.get_by_role("dialog").get_by_role("button", name="Save").click()
        expect(page.get_by_text("cabinet seventeen")).to_be_visible()
        expect(page.get_by_role("button", name="Change the note")).to_be_visible()
        is_sound(page)
        console.open(f"#/{place}?q=cabinet+seventeen")
        expect(
            page.get_by_role("link").filter(has_text=re.compile("ada|Ada|00:1B"))
        ).not_to_have_count(0)
    service.api("PUT", f"phones/{MAC}/note", {"note": None})
    service.api("PUT", f"users/{user['uuid']}/note", {"note": None})


def test_desk_has_an_end_of_its_own_and_shows_its_lock(console: Console, service: Service) -> None:
    page = console.page
    console.open(f"#/phones/{MAC}?tab=desk")
    expect(page.get_by_text("None.", exact=True)).to_be_visible()
    page.get_by_label(re.compile("^Logins end at")).fill("25:00 UTC")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label(re.compile("^Logins end at"))).to_have_attribute(
        "aria-invalid", "true"
    )
    page.get_by_label(re.compile("^Logins end at")).fill("06:00 Europe/Berlin")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text(re.compile("saved", re.IGNORECASE)).first).to_be_visible()
    assert service.api("GET", f"phones/{MAC}/desk")["ends_at"] == "06:00 Europe/Berlin"
    is_sound(page)
    service.api("PUT", f"phones/{MAC}/desk", {"ends_at": None})


def test_pin_of_a_person_is_said_and_never_shown(console: Console, service: Service) -> None:
    page = console.page
    [user] = [one for one in service.api("GET", "users") if one["username"] == "ada"]
    console.open(f"#/people/{user['uuid']}?tab=pin")
    expect(page.get_by_text("Is not set: no phone accepts a login.")).to_be_visible()
    service.api("PUT", f"vendor-users/{user['uuid']}", {"pin_code": "730516"})
    page.reload()
    expect(page.get_by_text("Is set.")).to_be_visible()
    assert "730516" not in page.content()
    assert "argon2" not in page.content()
    is_sound(page)
    service.api("DELETE", f"vendor-users/{user['uuid']}")


def test_link_to_the_page_of_a_phone_gives_nothing_away(console: Console, service: Service) -> None:
    page = console.page
    address = service.api("GET", f"phones/{MAC}")["phone_ip"]
    console.open(f"#/phones/{MAC}")
    link = page.get_by_role("link", name=address, exact=True)
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    expect(link).to_have_attribute("href", f"http://{address}/")
    service.api("PUT", f"phones/{MAC}", {"phone_ip": "203.0.113.9"})
    page.reload()
    expect(page.get_by_text("203.0.113.9")).to_be_visible()
    expect(page.get_by_role("link", name="203.0.113.9")).to_have_count(0)
    service.api("PUT", f"phones/{MAC}", {"phone_ip": address})


OLD = "00:1B:D4:00:0B:01"


@pytest.fixture
def replaced(console: Console, service: Service, new_phone: str) -> Iterator[str]:
    """The page of a phone with a default profile, about to be replaced."""
    [profile] = service.api("GET", "phone-profiles?q=Front%20desk")
    phone = {"mac": OLD, "model": "7945", "software_type": "SCCP", "name": "Porter"}
    service.api("POST", "phones", phone)
    service.api("PUT", f"phones/{OLD}/desk", {"default_profile_uuid": profile["uuid"]})
    console.open(f"#/phones/{OLD}")
    expect(console.page.get_by_text("This service has put no profile")).to_be_visible()
    console.page.get_by_role("button", name="Replace").click()
    dialog = console.page.get_by_role("dialog")
    dialog.get_by_label(re.compile("^MAC address of the")).fill(new_phone)
    yield new_phone
    service.api("DELETE", f"phones/{OLD}")


def test_replacement_without_an_address_says_what_it_waits_for_and_why(
    console: Console, replaced: str, screenshots: Path
) -> None:
    page = console.page
    page.get_by_role("dialog").get_by_role("button", name="Replace").click()
    expect(page.get_by_role("heading", name=f"Porter ({replaced})")).to_be_visible()
    expect(page.get_by_text("Front desk is not on this phone yet")).to_be_visible()
    expect(page.get_by_text("This service has put no profile")).to_have_count(0)
    expect(page.get_by_text("The last change failed")).to_be_visible()
    expect(page.get_by_text(re.compile("^The phone has no recorded address: set"))).to_be_visible()
    expect(
        page.get_by_text(re.compile("^It did not succeed. The service tries again"))
    ).to_be_visible()
    expect(page.locator(".on-phone").get_by_role("link", name="Desk")).to_be_visible()
    is_sound(page)
    page.screenshot(path=screenshots / "replacement-waits.png", full_page=True)


def test_replacement_with_an_address_is_filled_while_its_page_is_open(
    console: Console, replaced: str
) -> None:
    page = console.page
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("IP address").fill("127.0.1.3")
    dialog.get_by_role("button", name="Replace").click()
    expect(page.get_by_role("heading", name=f"Porter ({replaced})")).to_be_visible()
    expect(page.get_by_text("This service has put no profile")).to_have_count(0)
    expect(page.get_by_role("link", name="Front desk, revision 1")).to_be_visible(timeout=60_000)
    expect(page.get_by_text("is not on this phone yet")).to_have_count(0)
