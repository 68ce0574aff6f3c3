"""Numbers in lists and choices, and the search of the header."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from browser.console.check_accessibility import check
from browser.console_rig import ORDINARY, ORDINARY_PASSWORD, Console, Service
from support.polling import wait_for

FIRST = "00:1B:D4:00:00:01"


@pytest.fixture(scope="module", autouse=True)
def numbered(service: Service) -> None:
    """Grace has 101 and a profile with the name of another; her configuration is on Desk 1."""
    [grace] = service.api("GET", f"users?q={ORDINARY}")
    zoe = service.api("POST", "users", {
        "first_name": "Zoë", "last_name": "Müller", "username": "zoe", "email": "z@example.com",
        "password": "a long way to the sea",
    })  # fmt: skip
    for user, number in ((grace, "101"), (zoe, "102")):
        line = {"type": "chan_sccp", "extension": number, "name": "Line", "password": "secret"}
        extension = service.api("POST", "extensions", line)
        link = {"user_uuid": user["uuid"], "extension_uuid": extension["uuid"]}
        service.api("POST", "user-extensions", link)
        profile = {"user_uuid": user["uuid"], "name": "At the desk", "cnf_xml": "<device/>"}
        made = service.api("POST", "phone-profiles", profile)
        if user is grace:
            order = {"profile_uuid": made["uuid"], "mac": FIRST}
            service.api("POST", "phone-profiles/switch", order)


@pytest.fixture(params=[1280, 390])
def console(
    browser: Browser, service: Service, request: pytest.FixtureRequest
) -> Iterator[Console]:
    context = browser.new_context(viewport={"width": request.param, "height": 800})
    opened = Console(context, service.url)
    opened.open()
    opened.sign_in()
    opened.settled()
    yield opened
    context.close()
    assert opened.complaints == []


def finder(page: Page) -> Any:
    return page.get_by_role("combobox", name="Find a phone or person")


def fits(page: Page) -> None:
    """Nothing is wider than the window."""
    wide = "document.documentElement.scrollWidth <= innerWidth"
    box = page.get_by_role("listbox", name="Suggestions").bounding_box()
    assert page.evaluate(wide)
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= page.evaluate("innerWidth")


def test_typed_number_finds_its_user_and_enter_opens_the_person(
    console: Console, screenshots: Path
) -> None:
    page = console.page
    finder(page).press_sequentially("101")
    people = page.get_by_role("group", name="People")
    phones = page.get_by_role("group", name="Phones")
    expect(people.get_by_role("option").first).to_contain_text("Grace Hopper")
    expect(people.get_by_role("option").first).to_contain_text("101")
    expect(phones.get_by_role("option").first).to_contain_text("Desk 1")
    expect(finder(page)).to_have_attribute("aria-expanded", "true")
    fits(page)
    page.screenshot(path=screenshots / f"finder-{page.viewport_size['width']}.png")
    found: dict[str, Any] = {}
    check(console, "finder", found, screenshots / "finder-axe.png")
    assert found == {}
    finder(page).press("Enter")
    expect(page.get_by_role("heading", name="Grace Hopper")).to_be_visible()
    expect(page.get_by_text("101", exact=True)).to_be_visible()
    expect(page.get_by_role("listbox", name="Suggestions")).to_have_count(0)


def test_name_is_found_without_accents_and_at_once(console: Console) -> None:
    page = console.page
    for typed in ("mueller", "MULLER"):
        finder(page).fill(typed)
        finder(page).press("Enter")  # Before the suggestions are there.
        expect(page.get_by_role("heading", name="Zoë Müller")).to_be_visible()
        console.open("#/overview")


def test_arrow_keys_choose_and_escape_closes(console: Console) -> None:
    page = console.page
    finder(page).press_sequentially("desk")
    options = page.get_by_role("option")
    expect(options.first).to_be_visible()
    finder(page).press("ArrowUp")
    chosen = page.locator('[role="option"][aria-selected="true"]')
    expect(chosen).to_have_text("Phones with “desk”")
    active = finder(page).get_attribute("aria-activedescendant")
    assert chosen.get_attribute("id") == active
    finder(page).press("Escape")
    expect(page.get_by_role("listbox", name="Suggestions")).to_have_count(0)
    expect(finder(page)).to_be_focused()
    finder(page).press_sequentially(" ")
    finder(page).press_sequentially("2")
    expect(page.get_by_role("option", name="Desk 2 00:1B")).to_be_visible()
    finder(page).press("ArrowUp")
    finder(page).press("Enter")
    expect(page.get_by_role("heading", name="Phones", exact=True)).to_be_visible()
    expect(page.get_by_label("Search", exact=True)).to_have_value("desk 2")


def test_text_that_finds_nothing_leads_to_the_list(console: Console) -> None:
    page = console.page
    finder(page).fill("nowhere at all")
    finder(page).press("Enter")
    expect(page.get_by_role("heading", name="Phones", exact=True)).to_be_visible()
    expect(page.get_by_text("Nothing matches the search and the filters.")).to_be_visible()


def test_suggestions_follow_the_text_whichever_reply_comes_first(console: Console) -> None:
    page = console.page
    late: list[Route] = []
    page.route("**/search?q=desk", lambda route: late.append(route))
    finder(page).fill("desk")
    wait_for(lambda: late or page.wait_for_timeout(50))
    finder(page).fill("101")
    first = page.get_by_role("option").first
    expect(first).to_contain_text("Grace Hopper")
    status = page.get_by_role("search").get_by_role("status")
    expect(status).to_have_text("1 person, 1 phone. Enter opens Grace Hopper.")
    late[0].continue_()
    with page.expect_response("**/search?q=desk+1"):
        finder(page).fill("desk 1")
    expect(first).to_have_text("No people with “desk 1”")
    finder(page).press("ArrowDown")
    expect(page.locator('[role="option"][aria-selected="true"]')).to_contain_text("Desk 1")
    # The arrow keys bring suggestions back.
    finder(page).fill("xyz")
    expect(page.get_by_role("option")).to_have_text(
        ["No people with “xyz”", "No phones with “xyz”"]
    )
    finder(page).press("Escape")
    finder(page).press("ArrowDown")
    expect(page.get_by_role("option")).to_have_count(2)


def test_text_whose_request_failed_is_asked_for_again(console: Console) -> None:
    page = console.page
    problem = {"success": False, "message": "Busy", "data": None, "error": None}
    page.route("**/search?q=101", lambda route: route.fulfill(status=503, json=problem), times=1)
    with page.expect_response("**/search?q=101"):
        finder(page).fill("101")
    finder(page).press("Enter")
    expect(page.get_by_role("heading", name="Grace Hopper")).to_be_visible()


def test_lists_show_names_and_numbers(console: Console) -> None:
    page = console.page
    for place, link in (
        ("phones", "Desk 1"),
        ("desks", "Desk 1"),
        ("people", "Grace Hopper"),
        ("profiles", "At the desk"),
    ):
        console.open(f"#/{place}?number=101")
        console.settled()
        expect(page.get_by_text("1 row", exact=True)).to_be_visible()
        row = page.get_by_role("row").filter(has=page.get_by_role("link", name=link))
        expect(row).to_contain_text("101")
    console.open("#/extensions?q=hopper")
    row = page.get_by_role("row").filter(has_text="101")
    expect(row).to_contain_text("Grace Hopper")


def test_list_of_people_is_sorted_by_number(console: Console) -> None:
    console.open("#/people?sort=-number")
    console.settled()
    names = console.page.locator("tbody th[scope=row]")
    expect(names.nth(0)).to_have_text("Zoë Müller")
    expect(names.nth(1)).to_have_text("Grace Hopper")


def test_lists_of_phones_name_them_first_with_number_and_then_the_mac(
    console: Console, service: Service
) -> None:
    page = console.page
    if page.viewport_size["width"] < 1000:
        pytest.skip("Columns of the wide page.")
    title = f"Desk 1, 101 ({FIRST})"
    order = {"action": "restart", "macs": [FIRST]}
    batch = service.api("POST", "batches", order)["uuid"]
    console.open(f"#/batches/{batch}")
    row = page.get_by_role("row").filter(has_text=FIRST)
    expect(row.get_by_role("rowheader")).to_have_text("Desk 1")
    expect(row.get_by_role("cell").nth(1)).to_have_text("101")
    expect(row.get_by_role("cell").nth(2)).to_have_text("Grace Hopper")
    expect(row.get_by_role("cell").nth(3)).to_have_text(FIRST)
    service.api("PUT", f"vendor-phones/{FIRST}", {"vendor": True})
    kem = {"mac": "00:1B:D4:00:00:90", "model": "7914", "connected_phone": FIRST}
    service.api("POST", "vendor-kem", kem)
    for place, text in (
        ("flags", title), ("modules", title), ("audit?resource=vendor_phone", "Desk 1, 101"),
        ("deployments", "Desk 1, 101"),
    ):  # fmt: skip
        console.open(f"#/{place}")
        expect(page.get_by_text(text, exact=True).first).to_be_visible()
    console.open("#/phones?number=101")
    page.get_by_role("checkbox", name=FIRST).check()
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Location", exact=True).fill("Attic")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text(title, exact=True)).to_be_visible()
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("link", name="Batches").click()
    page.get_by_role("link", name="New batch").click()
    page.get_by_label("MAC addresses").fill(FIRST)
    page.get_by_label("Choose a first phone", exact=True).select_option(value=FIRST)
    expect(page.get_by_role("button", name=f"Not first: {title}")).to_be_visible()
    page.get_by_role("button", name="Rehearse").click()
    expect(page.get_by_role("heading", name="Rehearsal as of")).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="Plan", exact=True).click()
    expect(page.get_by_text(f"First phones: {title}")).to_be_visible()


def test_choice_of_a_profile_names_owner_and_number(console: Console) -> None:
    page = console.page
    console.open("#/switch")
    options = page.get_by_label("Profile", exact=True).get_by_role("option")
    for text in ("At the desk, Grace Hopper, 101", "At the desk, Zoë Müller, 102"):
        expect(options.filter(has_text=text)).to_have_count(1)
    phone = page.get_by_label("Phone", exact=True).get_by_role("option")
    expect(phone.filter(has_text="Grace")).to_contain_text(f"Desk 1, 101, Grace Hopper, {FIRST}")


def test_account_without_level_0_sees_its_own_number_and_finds_phones(
    browser: Browser, service: Service
) -> None:
    own = Console(browser.new_context(), service.url)
    own.open()
    own.sign_in(ORDINARY, ORDINARY_PASSWORD)
    page = own.page
    expect(page.get_by_text("Your number: 101.")).to_be_visible()
    field = page.get_by_role("combobox", name="Find a phone")
    field.press_sequentially("desk")
    expect(page.get_by_role("option").first).to_be_visible()
    expect(page.get_by_role("group", name="People")).to_have_count(0)
    field.press("Enter")
    expect(page.get_by_role("heading", name="Desk 1")).to_be_visible()
    page.context.close()
    assert own.complaints == []
