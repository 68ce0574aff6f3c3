"""The same change to many records: chosen in a list, previewed, changed, audited."""

from pathlib import Path

from playwright.sync_api import expect

from browser.console_rig import Console, Service, axe_finds

MACS = ["00:1B:D4:00:00:03", "00:1B:D4:00:00:01"]


def choose(console: Console, *names: str) -> None:
    for name in names:
        console.page.get_by_role("checkbox", name=f"Select {name}").check()
    console.page.get_by_role("status").get_by_role("button", name="Edit").click()


def test_selected_phones_are_previewed_and_changed_and_their_entries_are_one_group(
    console: Console, service: Service, screenshots: Path
) -> None:
    page = console.page
    service.api("PUT", f"phones/{MACS[0]}", {"location": "Attic"})
    console.open("#/phones")
    choose(console, *MACS)
    expect(page.get_by_role("heading", name="Edit 2 phones")).to_be_visible()
    expect(page.get_by_role("button", name="Change 0")).to_be_disabled()
    page.get_by_label("Location", exact=True).fill("Attic")
    page.get_by_role("button", name="Preview").click()

    expect(page.get_by_role("heading", name="Preview: nothing was written")).to_be_visible()
    table = page.get_by_role("table", name="Phones")
    expect(table.get_by_role("row").filter(has_text=MACS[0])).to_contain_text("No change")
    expect(table.get_by_role("row").filter(has_text=MACS[1])).to_contain_text("Would be changed")
    assert service.api("GET", f"phones/{MACS[1]}")["location"] != "Attic"
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert axe_finds(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
        page.screenshot(path=screenshots / f"edit-preview-{width}.png", full_page=True)
    page.get_by_role("button", name="Change 1").click()
    expect(page.get_by_role("heading", name="Changed", exact=True)).to_be_visible()
    assert service.api("GET", f"phones/{MACS[1]}")["location"] == "Attic"
    assert axe_finds(page) == []

    page.get_by_role("link", name="Audit entries of this edit").click()
    entries = page.get_by_role("table", name="Audit").get_by_role("row")
    expect(entries).to_have_count(2)
    expect(entries.nth(1)).to_contain_text("Attic")


def test_phone_changed_after_the_preview_is_named_and_kept(
    console: Console, service: Service
) -> None:
    page = console.page
    console.open("#/phones")
    choose(console, *MACS)
    page.get_by_label("Active").select_option("No")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("button", name="Change 2")).to_be_enabled()
    service.api("PUT", f"phones/{MACS[0]}", {"description": "being repaired"})
    page.get_by_role("button", name="Change 2").click()

    row = page.get_by_role("row").filter(has_text=MACS[0])
    expect(row).to_contain_text("It changed since the preview.")
    states = [service.api("GET", f"phones/{mac}")["is_active"] for mac in MACS]
    service.api("PUT", f"phones/{MACS[1]}", {"is_active": True})
    assert states == [True, False]


def test_restart_of_selected_phones_leads_to_the_batch(console: Console, service: Service) -> None:
    page = console.page
    console.open("#/phones")
    choose(console, MACS[1])
    page.get_by_label("Restart the phones afterwards").check()
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Restart 1").click()
    page.get_by_role("link", name="Batch that restarts 1 phone").click()

    expect(page.get_by_role("heading", level=1)).to_contain_text("Restart")


def test_selected_people_are_named_in_the_preview_on_a_narrow_screen(
    console: Console, service: Service
) -> None:
    user = next(one for one in service.api("GET", "users") if one["username"] != "admin")
    page = console.page
    console.open("#/people")
    choose(console, user["username"])
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_label("Active").select_option("Yes")
    page.get_by_role("button", name="Preview").click()

    expect(page.get_by_role("row").filter(has_text=user["username"])).to_contain_text("No change")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert axe_finds(page) == []
