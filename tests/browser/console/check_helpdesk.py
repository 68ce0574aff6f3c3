"""The console of a helpdesk: a start page of its own, what it may do, and nothing else."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from browser.console_rig import ORDINARY, Console, Service, axe_finds

HELPER, PASSWORD = "helper", "a password of the helpdesk"
HALL, ANNEX = "00:1B:D4:00:00:01", "00:1B:D4:00:00:02"


@pytest.fixture
def helper(browser: Browser, console: Console, service: Service) -> Iterator[Console]:
    """A helpdesk for the hall, by a right that level 0 gave in the console; Grace is there."""
    user = service.api("POST", "users", {
        "first_name": "Henry", "last_name": "Help", "username": HELPER,
        "email": "help@example.com", "password": PASSWORD,
    })  # fmt: skip
    [grace] = service.api("GET", f"users?q={ORDINARY}")
    profile = service.api("POST", "phone-profiles", {
        "user_uuid": grace["uuid"], "name": "Grace in the hall", "cnf_xml": "<device/>",
    })  # fmt: skip
    service.api("POST", "phone-profiles/switch", {"profile_uuid": profile["uuid"], "mac": HALL})
    console.open(f"#/people/{user['uuid']}")
    console.page.get_by_label("Right", exact=True).select_option(label="Helpdesk")
    console.page.get_by_label("Locations of the right").fill("Hall")
    console.page.get_by_role("button", name="Save").last.click()
    expect(console.page.locator("#notices")).to_contain_text("Right of Henry Help")
    own = Console(browser.new_context(), service.url)
    own.open()
    own.sign_in(HELPER, PASSWORD)
    yield own
    own.page.context.close()
    service.api("DELETE", f"users/{user['uuid']}")
    service.api("DELETE", f"phone-profiles/{profile['uuid']}")


def test_helpdesk_finds_a_person_sets_a_pin_restarts_and_logs_out_a_desk(
    helper: Console, service: Service
) -> None:
    page = helper.page
    expect(page.get_by_role("heading", name="Helpdesk")).to_be_visible()
    expect(page.get_by_text("You help at phones in Hall.")).to_be_visible()
    links = page.get_by_role("navigation", name="Main").get_by_role("link")
    expect(links).to_have_text(
        ["Overview", "Phones", "Deployments", "Profiles", "People", "Directory"]
    )
    in_use = page.get_by_role("region", name="Phones in use").get_by_role("row")
    expect(in_use.filter(has_text=ORDINARY)).to_contain_text("Hall")

    page.get_by_role("searchbox", name="Find a person").fill("hopper")
    page.get_by_role("searchbox", name="Find a person").press("Enter")
    page.get_by_role("link", name="PIN").wait_for()
    assert axe_finds(page) == []
    page.get_by_role("link", name="PIN").click()
    page.get_by_label("New PIN").fill("826491")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#notices")).to_contain_text("PIN of Grace Hopper")
    for name in ("Account", "Access", "Contacts", "Personal directory"):
        expect(page.get_by_role("tab", name=name)).to_have_count(0)
    page.get_by_role("tab", name="Profiles").click()
    link = page.get_by_role("link", name="Grace in the hall")
    expect(link).to_have_attribute("href", re.compile("#/switch"))

    helper.open(f"#/phones/{HALL}?tab=desk")
    for name in ("Edit", "Delete", "Replace"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    # Guesses come from phones, which this service has none of: the count is made up.
    lock = {"failures": 5, "wait_seconds": 30, "is_locked": False}
    reply = {"success": True, "message": "", "data": lock, "metadata": {}}
    page.route("**/desk/lock", lambda route: route.fulfill(json=reply), times=1)
    page.reload()
    expect(page.get_by_text("5 in a row, locked for 30 s.")).to_be_visible()
    page.get_by_role("button", name="Open the lock after wrong PINs").click()
    expect(page.get_by_text("None.", exact=True)).to_be_visible()
    expect(page.locator("#notices")).to_contain_text("The lock is open.")
    page.get_by_role("button", name="Restart").click()
    page.get_by_role("dialog", name=re.compile("^Restart ")).get_by_role(
        "button", name="Restart"
    ).click()
    expect(page.locator("#notices")).to_contain_text("accepted the restart.")
    page.get_by_role("button", name="Log out").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Log out").click()
    expect(page.get_by_text("No user is logged in.")).to_be_visible()
    assert service.api("GET", f"phones/{HALL}/desk")["user_uuid"] is None


def test_helpdesk_opens_no_page_of_level_0_and_a_phone_elsewhere_without_its_use(
    helper: Console,
) -> None:
    page = helper.page
    for place in ("audit", "batches", "templates", "permissions", "import", "desks"):
        helper.open(f"#/{place}")
        expect(page.get_by_text("needs permission level 0")).to_be_visible()
    helper.open(f"#/phones/{ANNEX}")
    expect(page.get_by_role("heading", name="Desk 2")).to_be_visible()
    expect(page.get_by_role("tab", name="Lines")).to_have_count(0)
    expect(page.get_by_role("button", name="Restart")).to_have_count(0)


def test_helpdesk_sees_the_number_of_each_phone(helper: Console, service: Service) -> None:
    [grace] = service.api("GET", f"users?q={ORDINARY}")
    line = {"type": "chan_sccp", "extension": "2044", "name": "Hall", "password": "secret"}
    extension = service.api("POST", "extensions", line)["uuid"]
    link = {"user_uuid": grace["uuid"], "extension_uuid": extension}
    linked = service.api("POST", "user-extensions", link)["uuid"]
    helper.go("Phones")
    expect(helper.page.get_by_role("row").filter(has_text=HALL)).to_contain_text("2044")
    service.api("DELETE", f"user-extensions/{linked}")
    service.api("DELETE", f"extensions/{extension}")
