"""The phones of an earlier moment, and the way back, in the console."""

import re
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from playwright.sync_api import expect

from browser.console_rig import Console, Service, axe_finds
from support.polling import wait_for

FIRST, SECOND = "00:1B:D4:00:00:01", "00:1B:D4:00:00:02"
FRIDAY, SATURDAY = "<device><a>Friday</a></device>", "<device><a>Saturday</a></device>"


@pytest.fixture
def friday(service: Service) -> Iterator[str]:
    """The moment, in the zone of the browser, at which one of two phones had its configuration."""
    for mac in (FIRST, SECOND):
        service.api("PUT", f"phones/{mac}", {"location": "floor 3"})
    user = service.api("GET", "users")[0]["uuid"]
    new = {"user_uuid": user, "name": "Floor", "cnf_xml": FRIDAY}
    profile = service.api("POST", "phone-profiles", new)["uuid"]
    switch = {"profile_uuid": profile, "mac": FIRST}
    service.api("POST", "phone-profiles/switch", switch)
    time.sleep(1.1)
    moment = datetime.now().astimezone().strftime("%Y-%m-%dT%H:%M:%S")
    service.api("PUT", f"phones/{SECOND}", {"location": None})
    service.api("PUT", f"phone-profiles/{profile}", {"cnf_xml": SATURDAY})
    service.api("POST", "phone-profiles/switch", switch)
    yield moment
    service.api("PUT", f"phones/{FIRST}", {"location": None})
    service.api("DELETE", f"phone-profiles/{profile}?force=true")


def test_floor_of_friday_is_shown_planned_and_restored(
    console: Console, service: Service, friday: str, screenshots: Path
) -> None:
    page = console.page
    console.go("Phones")
    page.get_by_role("link", name="Phones of an earlier moment").click()
    page.get_by_label("Moment", exact=True).fill(friday)
    page.get_by_label("Location").select_option(label="floor 3")
    table = page.get_by_role("region", name="Phones of an earlier moment")
    expect(table.get_by_role("row")).to_have_count(3)  # with the head
    expect(table).to_contain_text("Floor, 1")
    assert axe_finds(page) == []
    page.screenshot(path=screenshots / "earlier.png")

    page.get_by_role("button", name="Plan the way back").click()
    expect(page.get_by_text("<a>Friday</a>")).to_be_visible()
    expect(page.get_by_text("It is at another location now.")).to_be_visible()
    assert axe_finds(page) == []
    page.screenshot(path=screenshots / "way-back.png")
    page.get_by_role("button", name="Restore 1 phone").click()
    page.get_by_role("dialog").get_by_role("button", name="Start batch").click()
    expect(page).to_have_url(re.compile("#/batches/"))

    def is_restored() -> bool:
        (now,) = service.api("GET", f"history/phones?mac={FIRST}")
        return (now["profile_name"], now["revision"]) == ("Floor", 1)

    wait_for(is_restored)


def test_moment_that_is_not_kept_is_refused_with_the_oldest_one(console: Console) -> None:
    page = console.page
    console.open("#/history?at=1999-01-01T00:00")
    expect(page.get_by_text("the oldest moment that is kept").first).to_be_visible()
    expect(page.get_by_role("button", name="Plan the way back")).to_be_hidden()
