"""Pages stay where they are while they load, no page is wider than its window, and each has one
action that stands out."""

from typing import Any

import pytest
from playwright.sync_api import Browser

from browser.console.check_accessibility import PAGES
from browser.console_rig import Console, Service

# What moved without an input of the user, as Chromium counts it.
COUNT_SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => list.getEntries().forEach((one) => {
  if (!one.hadRecentInput) window.shifts.push([one.value, one.sources[0]?.node?.outerHTML]);
})).observe({ type: "layout-shift", buffered: true });
"""
# Text of configurations keeps its lines; everything else fits.
WIDE = """() => [document.documentElement, ...document.querySelectorAll("body *")].filter((one) =>
  (one === document.documentElement || /auto|scroll/.test(getComputedStyle(one).overflowX)) &&
  one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1 &&
  !one.closest(".editor, .code, .diff")).map((one) => one.outerHTML.slice(0, 90))"""
# What stands out as the action of the page: white letters on the strong colour.
PRIMARY = """() => [...document.querySelectorAll("main .primary")].filter((one) =>
  one.checkVisibility() && getComputedStyle(one).color === "rgb(255, 255, 255)")
  .map((one) => one.innerText)"""
WITH_ACTION = {"Overview", "Phones", "Phone", "Batches", "Profiles", "People", "Services", "Flags"}
MOST_SHIFT = 0.02


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_page_moves_by_less_than_a_fiftieth_fits_the_window_and_has_one_action(
    browser: Browser, service: Service, work: dict[str, str], width: int, height: int
) -> None:
    service.api("POST", "users", {
        "first_name": "Maximiliane-Charlotte", "last_name": "von Hohenlohe-Schillingsfuerst",
        "username": f"maximiliane-charlotte.hohenlohe-schillingsfuerst{width}",
        "email": f"maximiliane-charlotte.hohenlohe{width}@a-very-long-name.example.com",
        "password": "a password of 2026", "location": "Headquarters, building 12, 3rd floor",
    })  # fmt: skip
    pages = PAGES | {
        "Template": f"#/templates/{work['template']}", "Profile": f"#/profiles/{work['profile']}",
        "Foreign phone": f"#/phones/{work['foreign']}", "Batch": f"#/batches/{work['batch']}",
        "Deployment": f"#/deployments/{work['deployment']}", "Person": f"#/people/{work['user']}",
    }  # fmt: skip
    context = browser.new_context(viewport={"width": width, "height": height})
    context.add_init_script(COUNT_SHIFTS)
    console = Console(context, service.url)
    console.open()
    console.sign_in()
    found: dict[str, Any] = {}
    for name, place in pages.items():
        console.page.goto("about:blank")  # the whole page is loaded anew
        console.open(place)
        console.settled()
        console.page.wait_for_load_state("networkidle")
        shifts = console.page.evaluate("window.shifts")
        if sum(value for value, _ in shifts) >= MOST_SHIFT:
            found[name] = [(value, str(html)[:120]) for value, html in shifts]
        if wide := console.page.evaluate(WIDE):
            found[f"{name}: too wide"] = wide
        actions = console.page.evaluate(PRIMARY)
        if len(actions) > 1 or (name in WITH_ACTION and not actions):
            found[f"{name}: actions"] = actions
    context.close()
    assert found == {}


def test_action_for_selected_rows_takes_the_place_of_the_one_of_the_page(
    browser: Browser, service: Service
) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    console = Console(context, service.url)
    console.open("#/phones")
    console.sign_in()
    console.settled()
    assert console.page.evaluate(PRIMARY) == ["New phone"]
    console.page.get_by_role("button", name="Select all").click()
    console.page.get_by_role("button", name="New batch for").wait_for()
    (action,) = console.page.evaluate(PRIMARY)
    assert action.startswith("New batch for")
    context.close()
