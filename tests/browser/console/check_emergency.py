"""What an emergency call from a desk presents, on the desk's page, and the question before a desk
without an emergency number is opened for logins."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from browser.console_rig import Console, Service

MAC = "00:1B:D4:00:00:02"
NUMBER, PLACE = "+493012345", "Hauptstr. 1; <b>third</b> floor & Küche"


@pytest.fixture(autouse=True)
def closed(service: Service) -> Iterator[None]:
    """A phone at which no user may log in, without a location that is known."""
    service.api("PUT", f"phones/{MAC}", {"location": "Berlin/3"})
    service.api("PUT", f"phones/{MAC}/desk", {"hotdesk": False})
    yield
    service.api("PUT", f"phones/{MAC}/desk", {"hotdesk": True})
    for one in service.api("GET", "locations"):
        service.api("DELETE", f"locations/{one['uuid']}")


def is_open(service: Service) -> bool:
    return bool(service.api("GET", f"phones/{MAC}/desk")["hotdesk"])


def test_desk_without_an_emergency_number_is_opened_after_a_question(
    console: Console, service: Service
) -> None:
    page = console.page
    console.open(f"#/phones/{MAC}?tab=desk")
    expect(page.get_by_text("None: emergency calls present the number of the line")).to_be_visible()
    page.get_by_label("Users may log in").check()
    page.get_by_role("button", name="Save").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("without an emergency number?")
    expect(dialog.get_by_role("link", name="Locations")).to_have_attribute("href", "#/locations")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    assert not is_open(service)
    expect(page.get_by_label("Users may log in")).to_be_checked()

    page.get_by_role("button", name="Save").click()
    dialog.get_by_role("button", name="Let users log in").click()
    expect(page.get_by_text("saved.")).to_be_visible()
    assert is_open(service)

    # A desk is closed, and other settings are saved, without a question.
    page.get_by_label("Users may log in").uncheck()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Users may log in")).not_to_be_checked()
    expect(dialog).to_have_count(0)


def test_desk_with_an_emergency_number_shows_it_and_is_opened_without_a_question(
    console: Console, service: Service
) -> None:
    page = console.page
    console.open("#/locations")
    page.get_by_role("button", name="New location").click()
    form = page.get_by_role("dialog")
    form.get_by_label("Name").fill("berlin")
    form.get_by_label("Emergency number").fill(NUMBER)
    form.get_by_label("Emergency place").fill(PLACE)
    form.get_by_role("button", name="Create").click()
    expect(page.get_by_role("cell", name=NUMBER)).to_be_visible()
    expect(page.get_by_text("1 phone shows it after the next restart.")).to_be_visible()

    console.open(f"#/phones/{MAC}?tab=desk")
    expect(page.get_by_text(NUMBER, exact=True)).to_be_visible()
    expect(page.get_by_text(PLACE, exact=True)).to_be_visible()
    page.get_by_label("Users may log in").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("saved.")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert is_open(service)
