"""Answers that arrive late, and clicks that come twice."""

from typing import Any

from playwright.sync_api import Dialog, expect

from browser.console_rig import Console, Service, choose

LATE_MS = 1_500


def test_double_click_on_an_action_sends_it_once(console: Console, service: Service) -> None:
    me = service.api("GET", "me")
    extension = service.api("POST", "extensions", {
        "type": "chan_sccp", "extension": "3007", "name": "Twice", "password": "line secret",
    })  # fmt: skip
    page = console.page
    sent: list[str] = []
    page.on("request", lambda one: sent.append(one.url) if one.method == "POST" else None)
    console.open(f"#/people/{me['uuid']}?tab=extensions")
    choose(page, "Extension", "3007 Twice")
    page.get_by_role("button", name="Link", exact=False).dblclick()
    expect(page.get_by_role("table", name="Extensions")).to_contain_text("3007")
    changes = [url.rpartition("/")[2] for url in sent if not url.endswith("/numbers")]
    assert changes == ["user-extensions"]
    service.api("DELETE", f"extensions/{extension['uuid']}")


def test_answer_after_its_view_was_left_does_not_bring_it_back(
    console: Console, service: Service
) -> None:
    page = console.page

    def late(route: Any) -> None:
        page.wait_for_timeout(LATE_MS)
        route.continue_()

    console.open("#/profiles/new")
    page.get_by_label("Name").fill("Made late")
    page.route("**/api/v1/phone-profiles", late)
    page.once("dialog", lambda dialog: dialog.accept())
    with page.expect_response("**/api/v1/phone-profiles"):
        page.get_by_role("button", name="Create").click()
        page.get_by_role("navigation").get_by_role("link", name="Desks").click()
    expect(page.locator("#notices")).to_contain_text("Made late created.")
    expect(page.get_by_role("heading", name="Desks", level=1)).to_be_visible()
    made = next(p for p in service.api("GET", "phone-profiles?q=made+late"))
    service.api("DELETE", f"phone-profiles/{made['uuid']}")


def test_token_is_lost_only_after_a_question(console: Console, service: Service) -> None:
    page = console.page
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    def late(route: Any) -> None:
        page.wait_for_timeout(LATE_MS)
        route.continue_()

    console.open("#/about")
    page.on("dialog", stay)
    page.route("**/api/v1/me/tokens", late)
    page.get_by_role("button", name="New token").click()
    page.get_by_role("dialog").get_by_label("Name").fill("nightly")
    with page.expect_response("**/api/v1/me/tokens"):
        page.get_by_role("dialog").get_by_role("button", name="Create").click()
        page.evaluate("location.hash = '#/phones'")
    page.unroute("**/api/v1/me/tokens")
    field = page.get_by_role("textbox", name="API token")
    expect(field).to_be_visible()
    page.evaluate("location.hash = '#/desks'")
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    page.close(run_before_unload=True)
    page.wait_for_timeout(200)
    assert asked == ["confirm", "confirm", "confirm", "beforeunload"]
    field.press("Control+c")
    page.keyboard.press("Escape")
    expect(field).to_have_count(0)
    assert len(asked) == 4
    for token in service.api("GET", "me/tokens"):
        service.api("DELETE", f"me/tokens/{token['uuid']}")


def test_answer_to_an_earlier_filter_is_not_shown(console: Console) -> None:
    page = console.page
    delayed: list[str] = []

    def late(route: Any) -> None:
        delayed.append(route.request.url)
        page.wait_for_timeout(LATE_MS)
        route.continue_()

    for place, label, early in (
        ("deployments", "MAC address", "mac"),
        ("audit", "Action", "action"),
    ):
        console.open(f"#/{place}")
        console.settled()
        rows = page.get_by_role("row")
        everything = rows.count()
        page.route(f"**/api/v1/{place}?*{early}=*", late)
        page.get_by_label(label, exact=True).fill("001bd4ffffff")
        with page.expect_response(f"**/api/v1/{place}?*{early}=*"):
            page.wait_for_timeout(500)
            page.get_by_role("button", name="Clear").click()
        expect(rows).to_have_count(everything)
        page.wait_for_timeout(300)
        expect(rows).to_have_count(everything)
    assert len(delayed) == 2
