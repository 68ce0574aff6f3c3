"""Phones, switches and batches in the console."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from browser.console_rig import XML, Console, Service, choose

# Phones and switches


def confirmed_switch(page: Page, phone: str, profile: str) -> None:
    page.get_by_role("button", name="Switch", exact=True).click()
    dialog = page.get_by_role("dialog", name=f"Switch {phone} to {profile}?")
    dialog.get_by_role("button", name="Switch").click()


def test_phone_is_switched_watched_and_rolled_back(
    console: Console, service: Service, screenshots: Path
) -> None:
    page = console.page
    page.get_by_role("link", name="Desk 1").click()
    expect(page.get_by_text("has put no profile on this phone yet")).to_be_visible()
    page.get_by_role("link", name="Switch this phone").click()
    choose(page, "Profile", "Front desk")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("The profile fits this phone.")).to_be_visible()
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()
    page.screenshot(path=screenshots / "preview.png", full_page=True)

    confirmed_switch(page, "Desk 1 (00:1B:D4:00:00:01)", "Front desk")
    expect(page.get_by_role("heading", name="Deployed")).to_be_visible()
    expect(page.get_by_text("Confirmation: Confirmed")).to_be_visible(timeout=40_000)
    assert page.locator(".timeline li.done").count() == 4
    page.screenshot(path=screenshots / "switched.png", full_page=True)

    profile = next(
        one for one in service.api("GET", "phone-profiles") if one["name"] == "Front desk"
    )
    service.api("PUT", f"phone-profiles/{profile['uuid']}", {
        "cnf_xml": "<device>\n  <loadInformation>SCCP45.9-4-2SR3-1S</loadInformation>\n"
        "  <sshPassword>secret of the phone</sshPassword>\n</device>\n",
    })  # fmt: skip
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("region", name="Changes")).to_contain_text("sshPassword")
    expect(page.get_by_role("region", name="Changes")).not_to_contain_text("secret of the phone")
    page.screenshot(path=screenshots / "preview-diff.png", full_page=True)
    confirmed_switch(page, "Desk 1 (00:1B:D4:00:00:01)", "Front desk")
    expect(page.get_by_text("Confirmation: Confirmed")).to_be_visible(timeout=40_000)

    page.locator("main").get_by_role("link", name="Phone", exact=True).click()
    on_phone = page.get_by_role("link", name="Front desk, revision 2")
    expect(on_phone).to_be_visible()
    page.screenshot(path=screenshots / "phone.png", full_page=True)
    page.get_by_role("button", name="Roll back").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Front desk, revision 2")
    expect(dialog).to_contain_text("Front desk, revision 1")
    page.screenshot(path=screenshots / "roll-back.png")
    dialog.get_by_role("button", name="Roll back").click()
    expect(page.get_by_role("button", name="Roll back")).to_have_count(0)  # or disabled until then
    expect(page.get_by_role("heading", name=re.compile("Rollback"))).to_be_visible()
    expect(page.get_by_text("Confirmation: Confirmed")).to_be_visible(timeout=40_000)
    page.screenshot(path=screenshots / "rollback.png", full_page=True)


def test_search_and_filters_are_kept_in_the_address(console: Console) -> None:
    page = console.page
    page.get_by_label("Search").fill("00:00:02")
    expect(page.get_by_text("1 row", exact=True)).to_be_visible()
    page.get_by_label("Search").fill("")
    page.get_by_label("Location").select_option(label="Hall (2)")
    expect(page.get_by_text("2 rows")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Location")).to_have_value("Hall")
    expect(page.get_by_text("2 rows")).to_be_visible()


def test_phones_are_filtered_by_login_and_last_outcome(console: Console, service: Service) -> None:
    page = console.page
    profile = next(
        one for one in service.api("GET", "phone-profiles") if one["name"] == "Front desk"
    )
    order = {"profile_uuid": profile["uuid"], "mac": "00:1B:D4:00:00:03"}
    service.api("POST", "phone-profiles/switch", order)
    page.get_by_label("Last outcome").select_option(label="Deployed")
    expect(page.get_by_role("link", name="Desk 3")).to_be_visible()
    page.get_by_label("Last outcome").select_option(label="Never deployed")
    expect(page.get_by_role("link", name="Desk 3")).to_have_count(0)
    expect(page.get_by_role("link", name="Desk 4")).to_be_visible()
    page.get_by_label("Last outcome").select_option(label="Any")

    page.get_by_label("Logged-in user").fill("gra")
    expect(page.get_by_text("Nothing matches")).to_be_visible()
    assert page.locator("datalist option").evaluate_all("all => all.map(e => e.value)") == ["grace"]
    page.get_by_label("Logged-in user").fill("ADA")
    expect(page.get_by_role("link", name="Desk 3")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Logged-in user")).to_have_value("ADA")
    expect(page.get_by_role("link", name="Desk 4")).to_have_count(0)


def test_lists_are_sorted_by_the_head_of_a_column(console: Console, service: Service) -> None:
    page = console.page
    for view, path, key, title, field in (
        ("phones", "phones/summaries", "mac", "Profile", "profile_name"),
        ("phones", "phones/summaries", "mac", "Name", "name"),
        ("desks", "phones/summaries", "mac", "Location", "location"),
        ("people", "users", "username", "Username", "username"),
        ("profiles", "phone-profiles", "name", "Changed", "updated_at"),
        ("extensions", "extensions", "extension", "Extension", "extension"),
        ("directory", "company-directory", "name", "Name", "name"),
    ):
        console.open(f"#/{view}")
        console.settled()
        for direction, sort in ("ascending", field), ("descending", f"-{field}"):
            header = page.get_by_role("columnheader", name=title, exact=True).first
            header.get_by_role("button").click()
            expect(header).to_have_attribute("aria-sort", direction)
            expected = service.api("GET", f"{path}?sort={sort}")[0][key]
            expect(page.locator("tbody tr:not(.spacer)").first).to_contain_text(expected)
            assert page.url.endswith(f"sort={sort}")
    for number in (10, 2):
        service.api("POST", "configuration-templates", {"name": f"Floor {number}", "body": XML})
    console.open("#/templates")
    page.get_by_role("columnheader", name="Name").get_by_role("button").click()
    expect(page.locator("tbody tr:not(.spacer)")).to_contain_text(["Floor 2", "Floor 10"])
    for one in service.api("GET", "configuration-templates"):
        service.api("DELETE", f"configuration-templates/{one['uuid']}")
    console.open("#/people?sort=-username")
    expect(page.get_by_role("columnheader", name="Username")).to_have_attribute(
        "aria-sort", "descending"
    )


def test_chosen_column_is_shown_at_any_width(console: Console) -> None:
    page = console.page
    header = page.get_by_role("columnheader", name="Logged-in user")
    expect(header).to_have_count(0)
    page.get_by_role("button", name="Columns").click()
    page.get_by_role("checkbox", name="Logged-in user").check()
    expect(header).to_be_visible()


def test_failed_switch_shows_the_reason(
    console: Console, service: Service, screenshots: Path
) -> None:
    service.api("POST", "phones", {
        "mac": "00:1B:D4:00:00:99", "model": "CP-7945G", "phone_ip": "127.0.1.99",
        "name": "Unplugged",
    })  # fmt: skip
    page = console.page
    console.open("#/switch?mac=00:1B:D4:00:00:99")
    choose(page, "Profile", "Front desk")
    confirmed_switch(page, "Unplugged (00:1B:D4:00:00:99)", "Front desk")

    expect(page.get_by_role("heading", name="Failed")).to_be_visible(timeout=40_000)
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.locator(".timeline li.failed")).to_have_count(1)
    reason = page.get_by_role("alert").inner_text()
    assert page.locator("main").inner_text().count(reason) == 1
    page.screenshot(path=screenshots / "switch-failed.png", full_page=True)
    page.locator("main").get_by_role("link", name="Phone", exact=True).click()
    expect(page.get_by_text("The last change failed")).to_be_visible()
    expect(page.get_by_text("has put no profile on this phone yet")).to_be_visible()
    page.screenshot(path=screenshots / "phone-failed.png", full_page=True)
    service.api("DELETE", "phones/00:1B:D4:00:00:99")


def test_phone_create_update_and_delete_are_shown(console: Console) -> None:
    page = console.page
    page.get_by_role("button", name="New phone").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("MAC address").fill("nonsense")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_label("MAC address")).to_have_attribute("aria-invalid", "true")
    expect(dialog.get_by_label("MAC address")).to_be_focused()
    dialog.get_by_label("MAC address").fill("001bd4ffff01")
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="00:1B:D4:FF:FF:01")).to_be_visible()
    page.get_by_role("button", name="Edit").click()
    dialog.get_by_label("Location").fill("Basement")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Basement")).to_be_visible()
    page.get_by_role("button", name="Delete").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="Phones")).to_be_visible()


# Batches


def test_selected_phones_are_those_of_a_new_batch_also_after_a_reload(console: Console) -> None:
    page = console.page
    macs = ["00:1B:D4:00:00:02", "00:1B:D4:00:00:03"]
    for mac in macs:
        page.get_by_role("checkbox", name=mac).check()
    page.get_by_role("button", name="New batch for 2 phones").click()
    expect(page.get_by_label("MAC addresses")).to_have_value("\n".join(macs))
    page.reload()
    expect(page.get_by_label("MAC addresses")).to_have_value("\n".join(macs))


def test_batch_runs_with_progress_and_is_repeated_for_failed_phones(
    console: Console, service: Service, screenshots: Path
) -> None:
    service.api("POST", "phones", {
        "mac": "00:1B:D4:00:00:98", "model": "CP-7945G", "phone_ip": "127.0.1.98",
        "location": "Hall", "software_type": "SCCP",
    })  # fmt: skip
    page = console.page
    console.go("Batches")
    page.get_by_role("link", name="New batch").click()
    choose(page, "Profile", "Front desk")
    page.get_by_label("Location").select_option(label="Hall (3)")
    expect(page.get_by_text("3 phones chosen.")).to_be_visible()
    page.get_by_text("Technical settings").click()
    page.get_by_label("Stop after this percentage of failures").fill("")
    page.screenshot(path=screenshots / "new-batch.png", full_page=True)
    page.get_by_role("button", name="Start batch").click()
    dialog = page.get_by_role("dialog", name="Switch 3 phones?")
    expect(dialog).to_contain_text("All active phones with location Hall")
    expect(dialog).to_contain_text("Front desk")
    dialog.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("alert")).to_have_count(0)  # to say no is no error
    page.get_by_role("button", name="Start batch").click()
    dialog.get_by_role("button", name="Start batch").click()
    expect(page.get_by_role("heading", name="Switch of 3 phones")).to_be_visible()
    page.screenshot(path=screenshots / "batch-running.png", full_page=True)
    expect(page.get_by_text("2 of 3 done, 1 failed, 0 skipped")).to_be_visible(timeout=60_000)
    page.screenshot(path=screenshots / "batch.png", full_page=True)

    page.get_by_role("link", name="Repeat for failed phones").click()
    expect(page.get_by_label("MAC addresses")).to_have_value("00:1B:D4:00:00:98")
    chosen = page.get_by_label("Profile", exact=True).locator(":checked")
    expect(chosen).to_contain_text("Front desk")
    page.get_by_role("button", name="Start batch").click()
    page.get_by_role("dialog").get_by_role("button", name="Start batch").click()
    expect(page.get_by_text("0 of 1 done, 1 failed, 0 skipped")).to_be_visible(timeout=60_000)
    console.go("Batches")
    expect(page.get_by_role("row").nth(1)).to_contain_text("Switch")
    service.api("DELETE", "phones/00:1B:D4:00:00:98")
