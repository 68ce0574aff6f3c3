"""Signing in, and lost sessions and connections."""

import re
from pathlib import Path

import httpx
from playwright.sync_api import Browser, Route, expect

from browser.console_rig import ORDINARY, ORDINARY_PASSWORD, Console, Service

# Signing in


def test_wrong_password_is_shown_and_the_form_stays(browser: Browser, service: Service) -> None:
    console = Console(browser.new_context(), service.url)
    console.open()
    console.page.get_by_label("Username").fill("ada")
    console.page.get_by_label("Password").fill("wrong password")
    console.page.get_by_role("button", name="Sign in").click()

    expect(console.page.get_by_role("alert")).to_contain_text("wrong")
    expect(console.page.get_by_label("Password")).to_be_focused()
    console.context.close()


def test_reload_keeps_the_session_and_sign_out_ends_it(console: Console) -> None:
    page = console.page
    page.reload()
    expect(page.get_by_role("heading", name="Phones", level=1)).to_be_visible()
    assert page.evaluate("document.cookie") == ""
    assert page.evaluate("localStorage.length + sessionStorage.length") == 0

    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Username")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Username")).to_be_visible()


def test_account_without_level_0_sees_what_the_api_allows(
    browser: Browser, service: Service, screenshots: Path
) -> None:
    console = Console(browser.new_context(viewport={"width": 1280, "height": 900}), service.url)
    refused: list[str] = []
    console.page.on(
        "response", lambda reply: refused.append(reply.url) if reply.status == 403 else None
    )
    console.open()
    console.sign_in(ORDINARY, ORDINARY_PASSWORD)
    navigation = console.page.get_by_role("navigation")
    assert navigation.get_by_role("link").all_inner_texts() == [
        "Overview", "Phones", "Profiles", "People", "Directory",
    ]  # fmt: skip
    for link in ("Overview", "Phones", "Profiles", "People", "Directory"):
        console.go(link)
        console.page.screenshot(path=screenshots / f"plain-{link.lower()}.png")
    for place in ("#/phones/00:1B:D4:00:00:01", "#/about", "#/switch", "#/deployments"):
        console.open(place)
        console.settled()
    someone = service.api("GET", "me")["uuid"]
    for place in (
        "audit", "templates", "templates/new", "discovered", "desks", "batches", "batches/new",
        "batches/1", "import", "extensions", "permissions", f"people/{someone}",
    ):  # fmt: skip
        console.open(f"#/{place}")
        console.settled()
        main = console.page.get_by_role("main")
        assert main.inner_text().split("\n\n")[1:] == ["This page needs permission level 0."]
    assert refused == []
    assert console.complaints == []
    console.context.close()


def test_text_survives_the_end_of_the_session(
    console: Console, service: Service, screenshots: Path
) -> None:
    page = console.page
    console.open("#/profiles/new")
    page.get_by_label("Name").fill("Typed for an hour")
    page.get_by_label("Configuration").fill("<device>\n  <name>hour</name>\n</device>\n")
    service.api("POST", "auth/logout")  # ends all sessions of the account
    service.log_in()
    # Not with the mouse: the check of the text may have found the end of the session before.
    page.get_by_role("button", name="Create").dispatch_event("click")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Your session has ended")
    page.screenshot(path=screenshots / "session-ended.png")
    expect(dialog.get_by_label("Username")).to_have_value("ada")
    expect(dialog.get_by_label("Password")).to_be_focused()
    dialog.get_by_label("Password").fill("analytical engine 1843")
    dialog.get_by_role("button", name="Sign in").click()

    expect(page.get_by_role("heading", name="Typed for an hour")).to_be_visible()
    expect(page.get_by_label("Configuration")).to_have_value(re.compile("hour"))


def test_reload_during_a_slow_refresh_keeps_the_session(console: Console) -> None:
    page = console.page
    held: list[str] = []

    def hold(route: Route) -> None:
        """The server answers the first two; their responses never arrive."""
        if len(held) >= 2:
            route.continue_()
            return
        (cookie,) = console.context.cookies()
        asked = route.request
        headers = asked.headers | {"cookie": f"{cookie['name']}={cookie['value']}"}
        held.append(httpx.post(asked.url, headers=headers, trust_env=False).json()["message"])

    page.route("**/session/refresh", hold)
    for count in (1, 2):
        page.evaluate("location.reload()")
        while len(held) < count:
            page.wait_for_timeout(50)
    page.evaluate("location.reload()")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    assert held == ["Token refreshed"] * 2


def test_first_visit_logs_no_error(browser: Browser, service: Service) -> None:
    console = Console(browser.new_context(), service.url)
    console.open()
    expect(console.page.get_by_label("Username")).to_be_visible()
    assert console.refusals + console.complaints == []
    console.context.close()


# Connection


def test_lost_connection_is_shown_and_restored(console: Console, screenshots: Path) -> None:
    page = console.page
    console.context.set_offline(True)
    page.get_by_role("navigation").get_by_role("link", name="Profiles").click()
    expect(page.locator("#connection")).to_contain_text("Connection lost")
    page.screenshot(path=screenshots / "connection-lost.png")
    console.context.set_offline(False)
    expect(page.locator("#connection")).to_be_empty()
    expect(page.get_by_role("link", name="Front desk")).to_be_visible()
    expect(page.locator("#notices")).to_contain_text("Connection restored")
    console.complaints.clear()


def test_view_whose_module_did_not_arrive_is_shown_later(console: Console) -> None:
    asked: list[str] = []

    def lose(route: Route) -> None:
        asked.append(route.request.url)
        route.abort() if len(asked) <= 2 else route.continue_()

    console.page.route("**/views/desks.js", lose)
    console.page.reload()
    console.page.get_by_role("navigation").get_by_role("link", name="Desks").click()
    expect(console.page.get_by_role("link", name="Desk 1")).to_be_visible()
    assert len(asked) > 2


def test_text_survives_a_lost_connection(console: Console) -> None:
    page = console.page
    console.open("#/profiles/new")
    page.get_by_label("Name").fill("Typed in a tunnel")
    page.get_by_label("Configuration").fill("<device>\n  <name>tunnel</name>\n</device>\n")
    console.context.set_offline(True)
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("alert")).to_contain_text("not known whether the request arrived")
    console.context.set_offline(False)
    expect(page.locator("#connection")).to_be_empty()
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="Typed in a tunnel")).to_be_visible()
    expect(page.get_by_label("Configuration")).to_have_value(re.compile("tunnel"))
    console.complaints.clear()
