"""Own password, sessions and tokens; addresses that are not confirmed; numbers taken away."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from browser.console_rig import ORDINARY, ORDINARY_PASSWORD, Console, Service, choose
from support.polling import wait_for

MAC = "00:1B:D4:00:00:03"
NEW = "compilers are for people"
Picture = Callable[[Page, str], None]


@pytest.fixture
def picture(screenshots: Path) -> Picture:
    """Pictures of a state, wide and narrow, light and dark; no state is wider than the window."""

    def taken(page: Page, name: str) -> None:
        for scheme in ("light", "dark"):
            for width in (1440, 390):
                page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
                page.set_viewport_size({"width": width, "height": 900})
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                page.screenshot(path=screenshots / f"{name}-{scheme}-{width}.png", full_page=True)
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": 1280, "height": 900})

    return taken


@pytest.fixture
def grace(service: Service) -> Iterator[str]:
    """The uuid of the account without level 0; with its old password afterwards."""
    (one,) = [u for u in service.api("GET", "users") if u["username"] == ORDINARY]
    yield one["uuid"]
    service.api("PUT", f"users/{one['uuid']}", {"password": ORDINARY_PASSWORD})


@contextmanager
def client_of(service: Service, password: str = ORDINARY_PASSWORD) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{service.url}/api/v1/", trust_env=False) as client:
        reply = client.post("auth/login", json={"username": ORDINARY, "password": password}).json()
        client.headers["Authorization"] = f"Bearer {reply['data']['accessToken']}"
        yield client


def row_with(page: Page, region: str, text: str) -> Locator:
    return page.get_by_role("region", name=region).get_by_role("row", name=re.compile(text))


def test_own_password_ends_other_sessions_and_tokens_where_asked(
    browser: Browser, service: Service, grace: str, picture: Picture
) -> None:
    assert grace
    with client_of(service) as other:
        made = other.post("me/tokens", json={"name": "nightly", "read_only": True}).json()["data"]
        console = Console(browser.new_context(), service.url)
        console.open("#/about")
        console.sign_in(ORDINARY, ORDINARY_PASSWORD)
        page = console.page
        console.open("#/about")
        console.settled()
        sessions = page.get_by_role("region", name="Sessions", exact=True)
        expect(sessions.get_by_role("row")).to_have_count(3)
        expect(sessions).to_contain_text("This session")
        picture(page, "account")
        page.get_by_label("Current password").fill("wrong password")
        page.get_by_label("New password").fill(NEW)
        save = page.get_by_role("button", name="Save").first
        save.click()
        expect(page.get_by_text("Current password is not the current password")).to_be_visible()
        page.get_by_label("Current password").fill(ORDINARY_PASSWORD)
        page.get_by_label("New password").fill(NEW)
        page.get_by_label("End my API tokens, too").check()
        save.click()
        expect(page.locator("#notices")).to_contain_text("your API tokens have ended")
        expect(sessions.get_by_role("row")).to_have_count(2)
        expect(page.get_by_text("There are no API tokens.")).to_be_visible()
        assert other.get("me").status_code == 401
        with_token = {"Authorization": f"Bearer {made['token']}"}
        assert other.get("me", headers=with_token).status_code == 401
    with client_of(service, NEW) as other:
        page.reload()
        expect(sessions.get_by_role("row")).to_have_count(3)
        sessions.get_by_role("button", name="End").click()
        page.get_by_role("dialog").get_by_role("button", name="End").click()
        expect(sessions.get_by_role("row")).to_have_count(2)
        assert other.get("me").status_code == 401
    assert console.complaints == []
    console.context.close()


def test_level_0_ends_sessions_and_tokens_of_a_person(
    console: Console, service: Service, grace: str, picture: Picture
) -> None:
    page = console.page
    with client_of(service) as other:
        made = other.post("me/tokens", json={"name": "export", "read_only": True}).json()["data"]
        console.open(f"#/people/{grace}?tab=access")
        token = row_with(page, "API tokens", "export")
        expect(token).to_be_visible()
        expect(page.get_by_role("button", name="New token")).to_have_count(0)
        picture(page, "person-access")
        token.get_by_role("button", name="Delete").click()
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(page.get_by_text("There are no API tokens.")).to_be_visible()
        with_token = {"Authorization": f"Bearer {made['token']}"}
        assert other.get("me", headers=with_token).status_code == 401
        assert other.get("me").status_code == 200
        ends = page.get_by_role("region", name="Sessions").get_by_role("button", name="End")
        while count := ends.count():
            ends.last.click()
            page.get_by_role("dialog").get_by_role("button", name="End").click()
            expect(ends).to_have_count(count - 1)
        expect(page.get_by_text("No session is open.")).to_be_visible()
        assert other.get("me").status_code == 401


def test_address_that_is_not_confirmed_is_explained_and_confirmed(
    console: Console, service: Service, picture: Picture
) -> None:
    service.api("PUT", f"phones/{MAC}", {"address_confirmed": False})
    page = console.page
    console.open("#/phones?q=Desk 3")
    expect(page.get_by_text("127.0.1.3 (not confirmed)")).to_be_visible()
    console.open(f"#/switch?mac={MAC}")
    choose(page, "Profile", "Front desk")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("Nothing is uploaded to the phone's own FTP server")).to_be_visible()
    expect(page.get_by_text("no recorded address")).to_have_count(0)
    picture(page, "preview-unconfirmed")
    console.open(f"#/phones/{MAC}")
    label = page.get_by_text("The address of this phone is not confirmed")
    expect(label).to_be_visible()
    picture(page, "phone-unconfirmed")
    of_one = re.compile(r"/api/v1/phones/[^/]+$")
    page.route(of_one, as_adopted_with_pin)
    page.reload()
    expect(page.get_by_text("A user adopted the phone with a PIN.")).to_contain_text(
        "The phone gets only profiles that were made by level 0 or from a shared template."
    )
    picture(page, "phone-with-pin")
    page.unroute(of_one)
    page.get_by_role("button", name="Confirm the address").click()
    dialog = page.get_by_role("dialog", name="Is 127.0.1.3 the address of Desk 3")
    picture(page, "confirm-address")
    dialog.get_by_role("button", name="Confirm the address").click()
    expect(label).to_have_count(0)
    assert "address_confirmed" not in service.api("GET", f"phones/{MAC}")


def test_number_that_was_taken_away_comes_back_by_force_only(
    console: Console, service: Service, grace: str, picture: Picture
) -> None:
    (extension,) = [x for x in service.api("GET", "extensions") if x["extension"] == "2001"]
    link = service.api(
        "POST", "user-extensions", {"user_uuid": grace, "extension_uuid": extension["uuid"]}
    )
    body = "<d>{% for l in lines %}<authPassword>{{ l.password }}</authPassword>{% endfor %}</d>"
    template = service.api("POST", "configuration-templates", {"name": "lines", "body": body})
    new = {"user_uuid": grace, "name": "With her line", "template": "lines"}
    profile = service.api("POST", "phone-profiles", new)["uuid"]
    switch = {"profile_uuid": profile, "mac": MAC}
    service.api("POST", "phone-profiles/switch", switch)
    service.api("DELETE", f"user-extensions/{link['uuid']}")
    service.api("POST", "phone-profiles/switch", switch)
    page = console.page
    console.open(f"#/phones/{MAC}")
    page.get_by_role("button", name="Roll back").click()
    page.get_by_role("dialog").get_by_role("button", name="Roll back").click()
    force = page.get_by_role("dialog").get_by_role("button", name="Roll back anyway")
    expect(force).to_be_visible()
    expect(page.get_by_role("dialog")).to_contain_text("2001")
    picture(page, "rights-changed")
    force.click()
    expect(page.get_by_role("heading", name=re.compile("Rollback"))).to_be_visible()
    expect(page.get_by_text("Confirmation: Confirmed")).to_be_visible(timeout=40_000)
    service.api("DELETE", f"phone-profiles/{profile}?force=true")
    service.api("DELETE", f"configuration-templates/{template['uuid']}")


def test_adopt_and_replace_ask_for_one_of_several_addresses(
    console: Console, service: Service, picture: Picture
) -> None:
    for client in ("127.0.1.71", "127.0.1.72"):
        service.ask_for_file("SEP001BD4000071.cnf.xml", client)
    wait_for(lambda: service.api("GET", "discovered-phones"))
    page = console.page
    console.open("#/phones/00:1B:D4:00:00:04")
    page.get_by_role("button", name="Replace").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("MAC address of the new phone").fill("001bd4000071")
    dialog.get_by_role("button", name="Replace").click()
    expect(dialog.get_by_role("alert")).to_contain_text("127.0.1.71")
    picture(page, "replace-several")
    page.once("dialog", lambda question: question.accept())
    dialog.get_by_role("button", name="Close").click()
    console.open("#/discovered")
    page.get_by_role("button", name="Adopt").click()
    dialog.get_by_role("button", name="Adopt").click()
    expect(dialog.get_by_role("alert")).to_contain_text("127.0.1.72")
    picture(page, "adopt-several")
    dialog.get_by_label("IP address").fill("127.0.1.71")
    dialog.get_by_role("button", name="Adopt").click()
    expect(page.get_by_role("heading", name="00:1B:D4:00:00:71", level=1)).to_be_visible()
    assert service.api("GET", "phones/00:1B:D4:00:00:71")["phone_ip"] == "127.0.1.71"
    service.api("DELETE", "phones/00:1B:D4:00:00:71")


def test_state_of_firmware_sharing_and_newest_are_shown(
    console: Console, service: Service, picture: Picture
) -> None:
    page = console.page
    body = {"name": "shared office", "body": "<device/>", "shared": True}
    template = service.api("POST", "configuration-templates", body)["uuid"]
    console.open("#/templates")
    expect(page.get_by_role("row", name="shared office").get_by_text("Yes")).to_be_visible()
    console.open(f"#/templates/{template}")
    expect(page.get_by_label("Shared with users")).to_be_checked()
    picture(page, "template-shared")
    service.api("DELETE", f"configuration-templates/{template}")

    (profile,) = [p for p in service.api("GET", "phone-profiles") if p["name"] == "Front desk"]
    order = {"action": "switch", "profile_uuid": profile["uuid"], "macs": [MAC], "newest": True}
    batch = service.api("POST", "batches", order)["uuid"]
    console.open(f"#/batches/{batch}")
    expect(page.locator(".summary, .view").first).to_contain_text("Later changes too")
    expect(page.get_by_text("1 of 1 done").first).to_be_visible(timeout=40_000)
    picture(page, "batch-newest")

    service.look_at_phones()
    page.route(re.compile("/state$"), with_an_old_load)
    console.open(f"#/phones/{MAC}")
    expect(page.get_by_text("Firmware did not arrive").first).to_be_visible()
    expect(page.get_by_text("CP-7945G, SCCP45.9-3-1S")).to_be_visible()
    picture(page, "phone-load")


def test_desk_that_differs_needs_attention_and_shows_its_drills(
    console: Console, picture: Picture
) -> None:
    page = console.page
    page.route(re.compile("/fleet\\?"), with_a_desk_that_differs)
    page.route(re.compile("/drills\\?"), with_a_drill)
    console.open("#/overview")
    link = page.get_by_role("link", name="1 phone: an emergency call presents something else")
    expect(link).to_have_attribute("href", "#/phones?last_drill=differs&is_active=true")
    link.click()
    expect(page.get_by_label("Emergency drill")).to_have_value("differs")
    console.open(f"#/phones/{MAC}?tab=drills")
    for text in ("Differs", "+4930112, Hof 1", "+4930", 'presents "+4930"'):
        expect(page.get_by_role("cell", name=text, exact=True)).to_be_visible()
    picture(page, "phone-drills")


def with_a_desk_that_differs(route: Route) -> None:
    """The numbers of a fleet in which a drill found a desk that differs."""
    reply = route.fetch()
    fleet = reply.json()
    fleet["data"]["drills"] = {"differs": 1}
    route.fulfill(response=reply, json=fleet)


def with_a_drill(route: Route) -> None:
    """The drills of a phone that differs; drills without an exchange find nothing."""
    reply = route.fetch()
    body = reply.json()
    assert body["data"] == []
    body["data"] = [{
        "uuid": "00000000-0000-4000-8000-000000000001", "mac": MAC, "location": "Berlin",
        "line": "101", "recorded_number": "+4930112", "recorded_place": "Hof 1",
        "presented_number": "+4930", "presented_place": None, "result": "differs",
        "message": 'presents "+4930"', "created_at": "2026-01-31T08:15:30.250Z",
    }]  # fmt: skip
    route.fulfill(response=reply, json=body)


def with_an_old_load(route: Route) -> None:
    """The answer of the API once the phone had the time to fetch its firmware."""
    reply = route.fetch()
    state = reply.json()
    state["data"] |= {
        "state": "wrong_load", "states": ["wrong_load"], "reported_load": "SCCP45.9-3-1S",
        "expected_load": "SCCP45.9-4-2SR3-1S", "message": "The load did not arrive.",
    }  # fmt: skip
    route.fulfill(response=reply, json=state)


def as_adopted_with_pin(route: Route) -> None:
    """The answer of the API for a phone that a user adopted."""
    reply = route.fetch()
    body = reply.json()
    body["data"]["adopted_with_pin"] = True
    route.fulfill(response=reply, json=body)
