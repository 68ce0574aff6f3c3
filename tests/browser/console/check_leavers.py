"""A SIP phone that keeps number and password of a user who left, and phones of a template."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from browser.console_rig import Console, Service

MAC = "00:1B:D4:00:00:03"


@pytest.fixture
def leaver(service: Service) -> Iterator[str]:
    """A user whose profile is on a SIP phone."""
    person = {
        "first_name": "Lea", "last_name": "Ver", "username": "lea", "email": "lea@example.com",
        "password": "nanoseconds of wires",
    }  # fmt: skip
    uuid: str = service.api("POST", "users", person)["uuid"]
    new = {"user_uuid": uuid, "name": "Lea", "cnf_xml": "<device/>", "software_type": "SIP"}
    profile = service.api("POST", "phone-profiles", new)["uuid"]
    service.api("PUT", f"phones/{MAC}", {"software_type": "SIP"})
    service.api("POST", "phone-profiles/switch", {"profile_uuid": profile, "mac": MAC})
    yield uuid
    service.api("PUT", f"phones/{MAC}", {"software_type": "SCCP"})
    service.api("DELETE", f"users/{uuid}")


def test_phone_of_a_user_who_left_says_so_and_where_its_lines_are(
    console: Console, service: Service, leaver: str
) -> None:
    page = console.page
    console.open(f"#/phones/{MAC}?tab=lines")
    expect(page.get_by_text("The lines of a SIP phone are in its configuration")).to_be_visible()
    expect(page.get_by_text("This phone has no line")).to_have_count(0)
    expect(page.locator(".on-phone")).to_contain_text("Lea")
    expect(page.get_by_text("is inactive or deleted")).to_have_count(0)

    service.api("PUT", f"users/{leaver}", {"is_active": False})
    page.reload()

    state = page.locator(".on-phone")
    expect(state).to_contain_text("number and password are still on the phone")
    expect(state).to_contain_text("Switch the phone to another profile")


def test_summary_of_a_batch_names_every_filter(console: Console, service: Service) -> None:
    template = service.api("POST", "configuration-templates", {"name": "desks", "body": "<a/>"})
    page = console.page
    console.open("#/batches/new")
    page.get_by_label("Template", exact=True).select_option(value="desks")
    page.get_by_label("Location", exact=True).select_option(value="Hall")
    summary = page.locator(".summary")
    expect(summary).to_contain_text(re.compile("location Hall, template desks"))
    expect(summary).not_to_contain_text("All phones")
    service.api("DELETE", f"configuration-templates/{template['uuid']}")
