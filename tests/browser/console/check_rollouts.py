"""Templates and their profiles, plans, planned batches, and phones as they are, in the console."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import expect

from browser.console_rig import Console, Service, choose

FIRST, SECOND = "00:1B:D4:00:00:01", "00:1B:D4:00:00:02"
BODY = "<device>\n  <name>{{ phone.name }}</name>\n  <vlan>{{ values.vlan }}</vlan>\n</device>\n"


@pytest.fixture
def template(service: Service) -> Iterator[str]:
    """The UUID of the template "floor"."""
    order = {"name": "floor", "body": BODY}
    uuid: str = service.api("POST", "configuration-templates", order)["uuid"]
    yield uuid
    for one in service.api("GET", "phone-profiles"):
        if one.get("template"):
            service.api("DELETE", f"phone-profiles/{one['uuid']}")
    service.api("DELETE", f"configuration-templates/{uuid}")


def test_profile_with_a_template_is_created_and_tried_on_a_phone(
    console: Console, service: Service, template: str, screenshots: Path
) -> None:
    page = console.page
    console.go("Profiles")
    page.get_by_role("link", name="New from a template").click()
    page.get_by_role("combobox", name=re.compile("^Template")).select_option(label="floor")
    page.get_by_role("textbox", name=re.compile("^Name(?! of)")).fill("Second floor")
    page.get_by_role("button", name="Add a value").click()
    page.get_by_label("Name of the value").fill("vlan")
    page.get_by_label("Text", exact=True).fill("30")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="Second floor")).to_be_visible()
    expect(page.get_by_label("Name of the value")).to_have_value("vlan")
    expect(page.get_by_label("Text", exact=True)).to_have_value("30")
    page.screenshot(path=screenshots / "profile-of-template.png")
    stored = [one for one in service.api("GET", "phone-profiles") if one.get("template")]
    assert [one["values"] for one in stored] == [{"vlan": "30"}]

    console.open(f"#/templates/{template}")
    choose(page, "Profile", "Second floor")
    page.get_by_label("Phone", exact=True).select_option(value=SECOND)
    rendered = page.get_by_role("region", name="Configuration")
    expect(rendered).to_contain_text("<name>Desk 2</name>")
    expect(rendered).to_contain_text("<vlan>30</vlan>")
    page.screenshot(path=screenshots / "template-tried.png")
    page.get_by_label("Template", exact=True).fill(BODY.replace("vlan>", "segment>"))
    expect(rendered).to_contain_text("<segment>30</segment>")  # while it is typed
    expect(page.get_by_text("which is not saved yet")).to_be_visible()
    assert service.api("GET", f"configuration-templates/{template}")["body"] == BODY
    page.get_by_label("Template", exact=True).fill(BODY)
    expect(page.get_by_text("which is not saved yet")).to_be_hidden()


def test_template_shows_its_revisions_what_would_change_and_restores_one(
    console: Console, service: Service, template: str, screenshots: Path
) -> None:
    me = service.api("GET", "me")
    order = {"user_uuid": me["uuid"], "name": "Hall", "template": "floor", "values": {"vlan": "7"}}
    profile = service.api("POST", "phone-profiles", order)["uuid"]
    page = console.page
    console.open(f"#/templates/{template}")
    page.get_by_role("button", name="Which phones would change").click()
    expect(page.get_by_text("No phone has a configuration from this template.")).to_be_visible()
    for mac in (FIRST, SECOND):
        service.api("POST", "phone-profiles/switch", {"profile_uuid": profile, "mac": mac})

    changed = BODY.replace("<name>", "<name>Floor ")
    page.get_by_label("Template", exact=True).fill(changed)
    page.get_by_role("button", name="Which phones would change").click()
    group = page.locator("section.panel", has_text="2 phones with this change")
    expect(group.locator("ins")).to_contain_text("<name>Floor {{ phone.name }}</name>")
    expect(group.get_by_role("link", name=SECOND)).to_be_visible()
    expect(page.get_by_text("which is not saved yet")).to_be_visible()
    page.screenshot(path=screenshots / "template-changes.png", full_page=True)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("floor saved.")).to_be_visible()

    console.open("#/audit?resource=template")
    page.get_by_role("link", name="What changed in the text").first.click()
    expect(page.get_by_label("From revision")).to_have_value("1")
    expect(page.get_by_label("To revision")).to_have_value("2")
    difference = page.get_by_role("region", name="Changes")
    expect(difference.locator(".added")).to_contain_text("<name>Floor {{ phone.name }}</name>")
    saves = page.get_by_role("region", name="Revisions")
    expect(saves.get_by_role("row")).to_have_count(3)
    page.screenshot(path=screenshots / "template-revisions.png", full_page=True)
    saves.get_by_role("button", name="Restore revision 1").click()
    dialog = page.get_by_role("dialog", name="Restore revision 1 as revision 3?")
    expect(dialog).to_contain_text("No phone changes until it is switched.")
    dialog.get_by_role("button", name="Restore").click()
    expect(saves.get_by_role("row")).to_have_count(4)
    stored = service.api("GET", f"configuration-templates/{template}")
    assert (stored["revision"], stored["body"]) == (3, BODY)
    page.get_by_role("tab", name="Edit").click()
    expect(page.get_by_label("Template", exact=True)).to_have_value(BODY)
    page.set_viewport_size({"width": 390, "height": 800})
    page.get_by_role("tab", name="Revisions").click()
    expect(difference).to_be_visible()
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390


def test_plan_shows_groups_and_a_planned_batch_is_cancelled_before_it_starts(
    console: Console, service: Service, template: str, screenshots: Path
) -> None:
    me = service.api("GET", "me")
    service.api("POST", "phone-profiles", {
        "user_uuid": me["uuid"], "name": "Third floor", "template": "floor",
        "values": {"vlan": "40"},
    })  # fmt: skip
    page = console.page
    console.open("#/batches/new")
    page.get_by_label("MAC addresses").fill("Desk 1")
    page.get_by_role("button", name="Start batch").click()
    expect(page.get_by_text("Not a MAC address: Desk 1")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_label("MAC addresses").fill(f"{FIRST}\n001b.d400.0099")
    page.get_by_role("button", name="Start batch").click()
    expect(page.get_by_text("Not in the inventory: 00:1B:D4:00:00:99")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_label("MAC addresses").fill(f"{FIRST}\n{SECOND}")
    expect(page.get_by_text("2 phones chosen.")).to_be_visible()
    choose(page, "Profile", "Third floor")
    page.get_by_role("button", name="Plan", exact=True).click()
    expect(page.get_by_role("heading", name="Plan: nothing is started")).to_be_visible()
    groups = page.locator("section.panel", has_text="with this change")
    expect(groups).to_have_count(1)  # what differs by phone is named
    expect(groups).to_contain_text("2 phones with this change")
    expect(groups.locator("ins", has_text="<vlan>40</vlan>")).to_have_count(1)

    front = next(p for p in service.api("GET", "phone-profiles") if p["name"] == "Front desk")
    service.api("POST", "phone-profiles/switch", {"profile_uuid": front["uuid"], "mac": FIRST})
    page.get_by_role("button", name="Plan", exact=True).click()
    expect(groups).to_have_count(2)
    for mac, removed in ((FIRST, 1), (SECOND, 0)):
        group = groups.filter(has=page.get_by_role("link", name=mac))
        expect(group).to_contain_text("1 phone with this change")
        expect(group.locator("del", has_text="loadInformation")).to_have_count(removed)
    page.screenshot(path=screenshots / "plan.png", full_page=True)
    page.get_by_role("button", name="Rehearse", exact=True).click()
    expect(page.get_by_role("heading", name=re.compile("^Rehearsal as of"))).to_be_visible(
        timeout=60_000
    )
    expect(page.get_by_role("region", name="Timeline")).to_contain_text("The batch begins at")
    page.screenshot(path=screenshots / "rehearsal.png", full_page=True)

    page.get_by_role("button", name="Start for the 2 phones that change").click()
    dialog = page.get_by_role("dialog", name="Switch 2 phones?")
    expect(dialog).to_contain_text("Third floor")
    dialog.get_by_role("button", name="Cancel").click()
    expect(page.get_by_label("Only phones whose configuration changes")).to_be_checked()
    page.get_by_label("Only phones whose configuration changes").uncheck()

    tomorrow = datetime.now().astimezone() + timedelta(days=1)
    page.get_by_label("Start at").fill(tomorrow.strftime("%Y-%m-%dT%H:%M"))
    page.get_by_role("button", name="Start batch").click()
    page.get_by_role("dialog").get_by_role("button", name="Start batch").click()
    expect(page.get_by_role("heading", name="Switch of 2 phones")).to_be_visible()
    expect(page.get_by_text("Planned", exact=True).first).to_be_visible()
    page.screenshot(path=screenshots / "batch-planned.png", full_page=True)
    page.get_by_role("button", name="Cancel batch").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel batch").click()
    expect(page.get_by_role("button", name="Cancel batch")).to_be_hidden()
    batch = service.api("GET", f"batches/{page.url.rpartition('/')[2]}")
    assert (batch["state"], batch["phones"]["done"]) == ("cancelled", 0)


def test_discovered_phone_is_adopted(console: Console, service: Service, screenshots: Path) -> None:
    mac = "00:1B:D4:00:00:70"
    assert service.ask_for_file("SEP001BD4000070.cnf.xml", "127.0.1.70") == 404
    page = console.page
    console.open("#/discovered")
    row = page.get_by_role("row", name=re.compile(mac))
    expect(row).to_contain_text("127.0.1.70")
    page.screenshot(path=screenshots / "discovered.png")
    row.get_by_role("button", name="Adopt").click()
    dialog = page.get_by_role("dialog", name=f"Adopt {mac}")
    dialog.get_by_label("Name", exact=True).fill("Found")
    dialog.get_by_label("Location").fill("Attic")
    dialog.get_by_role("button", name="Adopt").click()
    expect(page.get_by_role("heading", name=f"Found ({mac})")).to_be_visible()
    phone = service.api("GET", f"phones/{mac}")
    assert (phone["location"], phone["phone_ip"]) == ("Attic", "127.0.1.70")
    console.open("#/discovered")
    expect(
        page.get_by_text("Every phone that asked for its files is in the inventory.")
    ).to_be_visible()
    service.api("DELETE", f"phones/{mac}")


def test_phone_shows_its_state_after_it_was_looked_at(
    console: Console, service: Service, screenshots: Path
) -> None:
    page = console.page
    console.open(f"#/phones/{SECOND}")
    expect(page.get_by_text("Not looked at yet")).to_be_visible()
    service.api("PUT", f"phones/{SECOND}", {"phone_ip": "127.0.1.3"})
    service.look_at_phones()
    page.reload()
    expect(
        page.get_by_text("Another phone answers at 127.0.1.3: 00:1B:D4:00:00:03.")
    ).to_be_visible()
    expect(page.get_by_text(re.compile("^Correct the .* of both phones"))).to_be_visible()
    page.screenshot(path=screenshots / "phone-foreign.png")
    console.open(f"#/phones/{FIRST}")
    expect(page.get_by_text("Fine", exact=True)).to_be_visible()
    console.open("#/phones")
    page.get_by_label("State", exact=True).select_option(label="Another phone answers")
    expect(page.get_by_text("1 row", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name=SECOND)).to_be_visible()
    service.api("PUT", f"phones/{SECOND}", {"phone_ip": "127.0.1.2"})
