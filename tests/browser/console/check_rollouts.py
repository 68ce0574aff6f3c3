"""Templates and their profiles, plans, planned batches, and phones as they are, in the console."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import expect

from browser.console_rig import Console, Service, choose

FIRST, SECOND = "00:1B:D4:00:00:01", "00:1B:D4:00:00:02"
NEVER_SWITCHED = "00:1B:D4:00:00:04"
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
    page.get_by_role("link", name="New profile").click()
    expect(page.get_by_label("Owner", exact=True)).to_have_value(service.api("GET", "me")["uuid"])
    xml = page.get_by_role("textbox", name="Configuration")
    expect(xml).to_be_hidden()
    page.get_by_role("combobox", name=re.compile("^Template")).select_option(value="")
    expect(xml).to_be_visible()
    expect(page.get_by_role("button", name="Add a value")).to_be_hidden()
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
    listed = page.get_by_label("MAC addresses")
    listed.fill(f"Desk 1\n\n{FIRST}\n001b.d400.0099")
    page.get_by_role("button", name="Start batch").click()
    wrong = page.get_by_text("Line 1: Desk 1 is not the MAC address of a phone.")
    expect(wrong).to_be_visible()
    missing = "Line 4: There is no phone 00:1B:D4:00:00:99 in the inventory."
    expect(page.get_by_text(missing)).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(listed).to_have_value(f"Desk 1\n\n{FIRST}\n001b.d400.0099")
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
    page.get_by_text("Technical settings").click()
    expect(page.get_by_label("Only phones whose configuration changes")).to_be_checked()
    page.get_by_label("Only phones whose configuration changes").uncheck()

    zone = service.api("GET", "me")["timezone"]
    expect(page.get_by_text(f"In the time zone of your account: {zone}.")).to_be_visible()
    tomorrow = datetime.now(ZoneInfo(zone)) + timedelta(days=1)
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
    assert batch["start_at"] == f"{tomorrow.astimezone(UTC):%Y-%m-%dT%H:%M}:00.000Z"


def test_batch_of_a_pasted_list_names_every_choice_and_honours_the_first_phones(
    console: Console, service: Service, screenshots: Path
) -> None:
    """A preset with one click; each field that is not technical is on the page."""
    user = {
        "username": "carol", "first_name": "Carol", "last_name": "Shaw",
        "password": "correct horse",
        "email": "carol@example.com", "lang": "en", "timezone": "Europe/Berlin", "is_active": True,
    }  # fmt: skip
    carol = service.api("POST", "users", user)["uuid"]
    xml = {"user_uuid": carol, "name": "Carols", "cnf_xml": "<device>carol</device>"}
    profile = service.api("POST", "phone-profiles", xml)["uuid"]
    page = console.page
    page.set_viewport_size({"width": 390, "height": 800})
    console.open("#/batches/new")
    page.get_by_label("MAC addresses").fill(f"{FIRST},carol\n{SECOND},Carols")
    expect(page.get_by_text("2 phones chosen.")).to_be_visible()
    expect(page.get_by_label("Profile", exact=True)).to_be_hidden()
    page.get_by_role("button", name="Tonight, three first, undo").click()
    expect(page.get_by_label("First phones", exact=True)).to_have_value("3")
    expect(page.get_by_label("Start at")).to_have_value(re.compile("T22:00$"))
    page.get_by_label("Choose a first phone", exact=True).select_option(value=SECOND)
    expect(page.get_by_label("First phones", exact=True)).to_be_disabled()
    expect(page.get_by_label("First phones", exact=True)).to_have_value("1")
    page.get_by_role("button", name="Now", exact=True).click()
    expect(page.get_by_label("First phones", exact=True)).to_have_value("")
    page.get_by_role("button", name="Tonight, three first, undo").click()
    page.get_by_label("Choose a first phone", exact=True).select_option(value=FIRST)
    page.get_by_role("button", name=f"Not first: Desk 1 ({FIRST})").click()
    page.get_by_label("Choose a first phone", exact=True).select_option(value=SECOND)
    page.get_by_text("Technical settings").click()
    page.get_by_label("Stop after this percentage of failures").fill("")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.screenshot(path=screenshots / "batch-path-390.png", full_page=True)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_role("button", name="Plan", exact=True).click()
    expect(page.get_by_text("First phones: Desk 2")).to_be_visible()
    page.screenshot(path=screenshots / "batch-path.png", full_page=True)

    page.get_by_label("Phones at a time").fill("500")
    page.get_by_text("Technical settings").click()  # what is wrong in it is shown again
    page.get_by_role("button", name="Start batch").click()
    page.get_by_role("dialog").get_by_role("button", name="Start batch").click()
    expect(page.get_by_label("Phones at a time")).to_be_focused()
    page.get_by_label("Phones at a time").fill("10")
    page.get_by_role("button", name="Start batch").click()
    dialog = page.get_by_role("dialog", name="Switch 2 phones?")
    zone = service.api("GET", "me")["timezone"]
    for words in (
        "A list of phones", "The profiles of the list", f"22:00 ({zone})", f"Desk 2 ({SECOND})",
        "If it stops, put back what was on each phone", "Maximum phones started per minute",
        "No limit", "Stop after this percentage of failures", "Never", "Each phone restarts.",
    ):  # fmt: skip
        expect(dialog).to_contain_text(words)
    page.screenshot(path=screenshots / "batch-question.png")
    dialog.get_by_role("button", name="Start batch").click()
    expect(page.get_by_role("heading", name="Switch of 2 phones")).to_be_visible()
    uuid = page.url.rpartition("/")[2]
    batch = service.api("GET", f"batches/{uuid}")
    phones = service.api("GET", f"batches/{uuid}/phones")
    service.api("DELETE", f"batches/{uuid}")
    service.api("DELETE", f"phone-profiles/{profile}")
    service.api("DELETE", f"users/{carol}")
    assert (batch["state"], batch["first"], batch["undo_on_stop"]) == ("planned", 1, True)
    assert batch["stop_after_failures"] is None
    assert [(one["mac"], one["profile_uuid"]) for one in phones] == [
        (SECOND, profile), (FIRST, profile)
    ]  # fmt: skip


def test_first_phones_are_offered_from_the_list_and_removed_with_their_line(
    console: Console, service: Service, screenshots: Path
) -> None:
    page = console.page
    console.open("#/batches/new")
    picker = page.get_by_label("Choose a first phone", exact=True)
    options = picker.get_by_role("option")
    everything = len(service.api("GET", "phones?is_active=true"))
    expect(options).to_have_count(everything + 1)
    page.get_by_label("MAC addresses").fill(f"{FIRST}\n{SECOND}")
    expect(options).to_have_text(["None", re.compile(f"^Desk 1, .*{FIRST}"), re.compile("^Desk 2")])
    for mac in (FIRST, SECOND):
        picker.select_option(value=mac)
    expect(picker).to_have_value("")
    page.get_by_label("MAC addresses").fill(SECOND)
    expect(page.get_by_role("button", name=f"Not first: Desk 1 ({FIRST})")).to_have_count(0)
    expect(page.get_by_text(f"this batch does not have them: Desk 1 ({FIRST})")).to_be_visible()
    expect(page.get_by_label("First phones", exact=True)).to_have_value("1")
    expect(options).to_have_text(["None", re.compile("^Desk 2")])
    page.screenshot(path=screenshots / "batch-first-removed.png", full_page=True)

    page.get_by_role("button", name="Now, three first, undo").click()
    expect(page.get_by_label("First phones", exact=True)).to_have_value("3")
    expect(page.get_by_label("First phones", exact=True)).to_be_enabled()
    expect(page.get_by_role("button", name=re.compile("^Not first: "))).to_have_count(0)
    expect(page.get_by_label("If it stops, put back")).to_be_checked()
    expect(page.get_by_label("Start at")).to_have_value("")
    page.get_by_role("button", name="Now", exact=True).click()
    expect(page.get_by_label("First phones", exact=True)).to_have_value("")
    expect(page.get_by_label("If it stops, put back")).not_to_be_checked()

    page.get_by_label("MAC addresses").fill("")
    page.get_by_label("Location", exact=True).select_option(value="Annex")
    expect(options.filter(has_text="Desk 1,")).to_have_count(0)
    picker.select_option(value=SECOND)
    page.get_by_label("Location", exact=True).select_option(value="Hall")
    page.get_by_role("button", name="Start batch").click()
    expect(page.get_by_text(f"this batch does not have them: Desk 2 ({SECOND})")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_label(re.compile("^Action")).select_option(value="restart")
    expect(page.get_by_role("button", name="Now, three first, undo")).to_be_hidden()
    expect(page.get_by_role("button", name="Now", exact=True)).to_be_visible()


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
    console.open(f"#/phones/{NEVER_SWITCHED}")
    expect(page.get_by_text("Not checked yet")).to_be_visible()
    service.api("PUT", f"phones/{NEVER_SWITCHED}", {"phone_ip": "127.0.1.3"})
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
    expect(page.get_by_role("row").filter(has_text=NEVER_SWITCHED)).to_be_visible()
    service.api("PUT", f"phones/{NEVER_SWITCHED}", {"phone_ip": "127.0.1.4"})
