"""Keyboard, window sizes and WCAG on every page of the console."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from browser.console_rig import Console, Service, choose

PAGES = {
    "Overview": "#/overview", "Deployments": "#/deployments", "Desks": "#/desks",
    "Discovered": "#/discovered", "Flags": "#/flags",
    "Phones": "#/phones", "Phone": "#/phones/00:1B:D4:00:00:01", "Switch": "#/switch",
    "Batches": "#/batches", "New batch": "#/batches/new", "Profiles": "#/profiles",
    "New profile": "#/profiles/new", "People": "#/people", "Import": "#/import",
    "Extensions": "#/extensions", "Levels": "#/permissions", "Services": "#/services",
    "Modules": "#/modules", "Directory": "#/directory", "Audit": "#/audit", "Account": "#/about",
    "Templates": "#/templates", "New template": "#/templates/new",
    "Phone of no one": "#/phones/00:1B:D4:77:77:77", "No page": "#/nothing",
    "Nothing found": "#/phones?q=nothing-of-the-kind", "Help": "#/help/reference/templates",
    "Joiner": "#/people/join", "Leaver": "#/people/leave?username=grace",
    "Earlier": "#/history?at=1999-01-01T00:00", "Locations": "#/locations",
}  # fmt: skip
# A page, and what opens a state of it.
STATES = {
    "Dialog of a phone": ("#/phones", "New phone"), "Columns": ("#/phones", "Columns"),
    "Saved filters": ("#/phones", "Saved filters"), "Selected": ("#/phones", "Select all"),
    "Desk": ("#/phones/00:1B:D4:00:00:01", "Desk"),
    "Fetches": ("#/phones/00:1B:D4:00:00:01", "Fetches"),
    "Lines": ("#/phones/00:1B:D4:00:00:01", "Lines"),
    "Drills": ("#/phones/00:1B:D4:00:00:01", "Drills"),
    "Question of a deletion": ("#/phones/00:1B:D4:00:00:01", "Delete"),
    "Nothing chosen": ("#/switch", "Switch"), "Wrong input": ("#/profiles/new", "Create"),
    "New extension": ("#/extensions", "New extension"),
    "Replace": ("#/phones/00:1B:D4:00:00:01", "Replace"), "New token": ("#/about", "New token"),
    "Adopt": ("#/discovered", "Adopt"),
}  # fmt: skip
WCAG = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


def focused(console: Console) -> str:
    text: str = console.page.evaluate(
        "(e => e === document.body ? '' : (e.labels?.[0]?.innerText || e.ariaLabel"
        " || e.innerText || e.id).trim())(document.activeElement)"
    )
    return text


def tabs(console: Console, count: int) -> list[str]:
    found = []
    for _ in range(count):
        console.page.keyboard.press("Tab")
        found.append(focused(console))
    return found


def test_keyboard_alone_signs_in_and_opens_a_phone(browser: Browser, service: Service) -> None:
    console = Console(browser.new_context(), service.url)
    console.open()
    console.page.get_by_label("Username").wait_for()
    keyboard = console.page.keyboard
    expect(console.page.get_by_label("Username")).to_be_focused()
    keyboard.type("ada")
    keyboard.press("Tab")
    keyboard.type("analytical engine 1843")
    keyboard.press("Enter")
    expect(console.page.get_by_role("heading", name="Overview")).to_be_visible()
    keyboard.press("g")
    keyboard.press("p")
    console.page.get_by_role("link", name="Desk 1").wait_for()
    console.settled()
    console.page.reload()
    console.page.get_by_role("link", name="Desk 1").wait_for()
    assert tabs(console, 47) == [
        "Skip to content", "phoneprov", "Find a phone or person", "Overview", "Phones",
        "Deployments", "Desks", "Batches", "Profiles", "People", "Directory", "Audit", "ada",
        "Keyboard shortcuts", "Sign out",
        "New phone", "Discovered phones", "Phones of an earlier moment", "Key expansion modules",
        "Locations", "Vendor flags", "Documentation",
        "Search", "Model", "Location", "Software type", "Logged-in user", "Number", "Last outcome",
        "Emergency drill", "State", "Active", "Saved filters", "Select all", "Refresh", "Columns",
        "Export CSV", "Phones",
        "Name", "MAC address", "Model", "Location", "Number", "Last outcome", "Profile",
        "IP address", "Desk 1",
    ]  # fmt: skip
    keyboard.press("ArrowDown")
    assert focused(console) == "Desk 2"
    keyboard.press("End")
    assert focused(console) == "Desk 4"
    keyboard.press("Home")
    keyboard.press("Enter")
    expect(console.page.get_by_role("heading", name="Desk 1")).to_be_visible()
    assert console.page.evaluate("document.activeElement.id") == "main"
    assert tabs(console, 2) == ["Phones", "Switch this phone"]
    console.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark", "forced"])
@pytest.mark.parametrize("width", [1920, 1280, 360])
def test_every_page_meets_wcag_and_fits_the_window(
    browser: Browser, service: Service, work: dict[str, str], screenshots: Path, scheme: Any,
    width: int,
) -> None:  # fmt: skip
    assert work
    context = context_of(browser, scheme, width)
    console = Console(context, service.url)
    console.open()
    console.page.get_by_label("Username").wait_for()
    found: dict[str, Any] = {}
    check(console, "Sign in", found, screenshots / f"sign-in-{scheme}-{width}.png")
    console.sign_in()
    for name, place in PAGES.items():
        console.open(place)
        console.settled()
        console.page.wait_for_load_state("networkidle")
        file = f"{name.lower().replace(' ', '-')}-{scheme}-{width}.png"
        check(console, name, found, screenshots / file)
    for name, (place, button) in STATES.items():
        console.open(place)
        console.page.reload()
        console.settled()
        opener = console.page.get_by_role("button", name=button, exact=True)
        opener.or_(console.page.get_by_role("tab", name=button)).first.evaluate("e => e.click()")
        console.page.wait_for_load_state("networkidle")
        file = f"{name.lower().replace(' ', '-')}-{scheme}-{width}.png"
        check(console, name, found, screenshots / file)
    context.close()
    assert found == {}, json.dumps(found, indent=1)
    assert console.complaints == []


def plan(page: Page) -> None:
    page.get_by_label("MAC addresses").fill("00:1B:D4:00:00:01")
    choose(page, "Profile", "Of a template")
    page.get_by_role("button", name="Plan", exact=True).click()
    page.get_by_role("heading", name=re.compile("^Plan:")).wait_for()


def rehearsal(page: Page) -> None:
    page.get_by_label("MAC addresses").fill("00:1B:D4:00:00:01")
    choose(page, "Profile", "Of a template")
    page.get_by_role("button", name="Rehearse", exact=True).click()
    page.get_by_role("heading", name=re.compile("^Rehearsal")).wait_for()


def trial(page: Page) -> None:
    choose(page, "Profile", "Of a template")
    page.get_by_label("Phone", exact=True).select_option(value="00:1B:D4:00:00:01")
    page.get_by_role("region", name="Configuration").wait_for()


def which_change(page: Page) -> None:
    page.get_by_role("button", name="Which phones would change").click()
    page.get_by_role("heading", name=re.compile("^Plan:")).wait_for()


def preview(page: Page) -> None:
    page.get_by_label("Preview on phone", exact=True).select_option(value="00:1B:D4:00:00:01")
    page.get_by_role("heading", name="Changes").wait_for()


# A window of 640 px is one of 1280 px at 200 %.
@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1280), ("dark", 360), ("forced", 1280), ("light", 640)]
)
def test_states_of_work_meet_wcag_and_fit_the_window(
    browser: Browser, service: Service, work: dict[str, str], screenshots: Path, scheme: Any,
    width: int,
) -> None:  # fmt: skip
    states: dict[str, tuple[str, Callable[[Page], None]]] = {
        "Plan": ("#/batches/new", plan),
        "Rehearsal": ("#/batches/new", rehearsal),
        "Trial": (f"#/templates/{work['template']}", trial),
        "Revisions": (f"#/templates/{work['template']}?tab=revisions", lambda _: None),
        "Phones that change": (f"#/templates/{work['template']}", which_change),
        "Templated profile": (f"#/profiles/{work['profile']}", preview),
        "Foreign phone": (f"#/phones/{work['foreign']}", lambda _: None),
        "Failed batch": (f"#/batches/{work['batch']}", lambda _: None),
        "Deployment": (f"#/deployments/{work['deployment']}", lambda _: None),
        "Person": (f"#/people/{work['user']}?tab=extensions", lambda _: None),
        "Sessions and tokens": (f"#/people/{work['user']}?tab=access", lambda _: None),
        "Shortcuts": ("#/overview", lambda page: page.keyboard.press("?")),
        "Menu": ("#/phones", lambda page: page.locator("header .opener").dispatch_event("click")),
    }
    context = context_of(browser, scheme, width)
    console = Console(context, service.url)
    console.page.on("dialog", lambda question: question.accept())  # about the unsaved batch
    console.open()
    console.sign_in()
    found: dict[str, Any] = {}
    for name, (place, act) in states.items():
        console.open(place)
        console.page.reload()
        console.settled()
        act(console.page)
        console.page.wait_for_load_state("networkidle")
        file = f"{name.lower().replace(' ', '-')}-{scheme}-{width}.png"
        check(console, name, found, screenshots / file)
    context.close()
    assert found == {}, json.dumps(found, indent=1)
    assert console.complaints == []


def context_of(browser: Browser, scheme: Any, width: int) -> BrowserContext:
    return browser.new_context(
        viewport={"width": width, "height": 800}, bypass_csp=True,
        color_scheme="light" if scheme == "forced" else scheme,
        forced_colors="active" if scheme == "forced" else "none",
    )  # fmt: skip


def check(console: Console, name: str, found: dict[str, Any], shot: Path) -> None:
    console.page.screenshot(path=shot, full_page=True)
    results = Axe().run(console.page, options=WCAG).response
    for violation in results["violations"]:
        nodes = [node["html"][:200] + " " + node["failureSummary"] for node in violation["nodes"]]
        found[f"{name}: {violation['id']}"] = nodes[:3]
    wide = console.page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    if wide > 0:
        found[f"{name}: wider than the window"] = wide
