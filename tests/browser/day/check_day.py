"""The day of an operator, by labels and roles: each page says what happened."""

import csv
import io
import re
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import httpx
from playwright.sync_api import Browser, expect

from browser.console_rig import Console
from browser.day.conftest import FLOOR, PHONES, PLACES, Office, Operator
from support.excel import excel
from support.polling import wait_for

DRY = "Preview: nothing was written"


def switch_to(operator: Operator, profile: str) -> None:
    """Switch the phone whose page is open."""
    operator.follow("Switch this phone").choose("Profile", re.compile(f"^{profile}\\b"))
    operator.press("Switch")
    operator.press("Switch", within=operator.page.get_by_role("dialog")).see("Deployed")


def test_joiner_has_account_number_pin_profile_desk_and_entry(
    operator: Operator, office: Office
) -> None:
    mac = office.macs[6]
    before = office.restarts_of(mac)
    operator.go("People").follow("Joiner")
    operator.fill(re.compile("^First name"), "Mary").fill(re.compile("^Last name"), "Jackson")
    operator.fill(re.compile("^Username"), "maryj")
    operator.fill(re.compile("^Email"), "mary.jackson@office.example")
    operator.fill(re.compile("^Next free number"), "2100-2149").choose("Template", "office")
    operator.fill("Search: desk", "Desk 7").choose("Desk", re.compile(r"^Desk 7\b"))
    operator.press("Preview").see(DRY).see(re.compile("The number is 2100"))
    assert office.api("GET", "users?q=maryj") == []
    operator.press("Let join").see("The PINs are shown once.")
    operator.see(re.compile(rf"{mac}\) has the profile"))

    user = office.person("maryj")
    assert user["is_active"]
    assert "<user>maryj</user>" in office.file_of(mac)
    assert "<line>2100</line>" in office.file_of(mac)
    assert office.restarts_of(mac) == before + 1
    (entry,) = office.api("GET", "company-directory?q=Jackson")
    assert entry["work"] == "2100"


def test_leaver_has_no_login_number_entry_or_working_phone(
    operator: Operator, office: Office
) -> None:
    mac = office.switch(5)
    operator.page.wait_for_timeout(2500)  # The phone is away for a second after this restart.
    before = office.restarts_of(mac)
    assert "<line>2005</line>" in office.file_of(mac)
    operator.find("First5 Last5").follow("Leaver")
    operator.choose(re.compile("^Default profile"), re.compile("^Vacant desk"))
    operator.press("Preview").see(DRY).press("Let leave")
    operator.see(re.compile(r"1 person\(s\) left"))
    operator.see(re.compile(rf"{mac}\) is logged out and has its default profile"))

    assert not office.person("person5")["is_active"]
    assert "<vacant/>" in office.file_of(mac)
    assert office.restarts_of(mac) == before + 1
    (number,) = [x for x in office.api("GET", "extensions?q=2005") if x["extension"] == "2005"]
    assert not number["is_active"]


def test_floor_of_40_moves_and_gets_another_profile(operator: Operator, office: Office) -> None:
    before = {mac: office.restarts_of(mac) for mac in office.macs}
    operator.go("Phones").choose("Location", re.compile(re.escape(PLACES[0])))
    expect(operator.page.get_by_role("status").filter(has_text="40 rows")).to_be_visible()
    operator.press("Select all").press("Edit").fill("Location", "Berlin/4th floor")
    operator.press("Preview").see(DRY).press("Change 40").see("Changed")
    # Pasted from a table: each phone with its profile.
    pasted = "\n".join(f"{mac},Vacant desk" for mac in office.macs)
    operator.go("Batches").follow("New batch").fill("MAC addresses", pasted, keys=2)
    operator.see("40 phones chosen.").press("Now").press("Start batch")
    question = operator.page.get_by_role("dialog")
    expect(question).to_contain_text("A list of phones")
    expect(question).to_contain_text("The profiles of the list")
    operator.press("Start batch", within=question)
    operator.see(re.compile("^40 of 40 done, 0 failed"))

    assert len(office.api("GET", "phones?location=Berlin/4th%20floor&limit=100")) == FLOOR
    assert all("<vacant/>" in office.file_of(mac) for mac in office.macs)
    assert {mac: office.restarts_of(mac) - 1 for mac in office.macs} == before


def test_load_reaches_the_phones_but_one_which_is_named(operator: Operator, office: Office) -> None:
    for number in range(21, 27):
        office.switch(number)
    macs = [mac for mac in office.macs if "SR3-1S" in office.file_of(mac)]
    silent = office.macs[20]
    others = [mac for mac in macs if mac != silent]
    before = {mac: office.restarts_of(mac) for mac in macs}
    office.api("PUT", f"phones/{silent}", {"phone_ip": "127.0.1.99"})
    operator.go("Profiles").follow("Templates").follow("office")
    editor = operator.page.get_by_label("Template", exact=True)
    text = editor.input_value()
    operator.fill("Template", text.replace("4-2SR3-1S", "4-2SR4-1S"), keys=2)
    operator.press("Which phones would change").see(
        re.compile(f"^{len(macs)} phones with this change")
    )
    operator.press("Save").see(re.compile("Saved|saved|Revision 2|revision 2"))
    operator.go("Batches").follow("New batch").choose("Template", "office")
    operator.unfold("Technical settings").fill("Stop after this percentage of failures", "")
    operator.press("Start batch").press("Start batch", within=operator.page.get_by_role("dialog"))
    operator.see(re.compile(f"^{len(others)} of {len(macs)} done, 1 failed")).see("Desk 21")

    batch = office.api("GET", f"batches/{operator.page.url.rpartition('/')[2]}")
    failed = office.api("GET", f"batches/{batch['uuid']}/phones?state=failed")
    assert [one["mac"] for one in failed] == [silent]
    assert all("SR4-1S" in office.file_of(mac) for mac in others)
    now = {mac: office.restarts_of(mac) for mac in macs}
    assert now == {mac: before[mac] + (mac != silent) for mac in macs}
    office.api("PUT", f"phones/{silent}", {"phone_ip": office.phones[silent].host})


def test_replacement_has_the_name_and_file_of_the_broken_phone(
    operator: Operator, office: Office
) -> None:
    old = office.switch(31)
    spare = office.phones[office.spare]
    name = f"SEP{office.spare.replace(':', '')}.cnf.xml"
    office.service.ask_for_file(name, spare.host)
    operator.find("Desk 31")
    operator.press("Replace")
    field = operator.page.get_by_label(re.compile("^MAC address of the"))
    offered = operator.page.locator("datalist option").first.get_attribute("value")
    assert offered == office.spare
    operator.fill(re.compile("^MAC address of the"), offered or "")
    operator.press("Replace", within=operator.page.get_by_role("dialog"))
    expect(field).to_be_hidden()
    operator.see(re.compile(f"Desk 31 .{office.spare}"))

    # The upkeep of desks puts the profile onto it; it needs no further act, and the page follows.
    wait_for(lambda: "<user>person31</user>" in office.file_of(office.spare), seconds=90)
    operator.see(re.compile("Desk of person31, revision 1"))
    assert office.api("GET", f"phones/{office.spare}")["name"] == "Desk 31"
    assert office.api("GET", f"phones/{old}")["is_active"] is False


def test_wrong_number_is_exchanged_and_on_the_phone(operator: Operator, office: Office) -> None:
    mac = office.switch(32)
    before = office.restarts_of(mac)
    operator.find("First32 Last32").press("Extensions", "tab")
    row = operator.page.get_by_role("row").filter(has_text="2032")
    operator.press("Remove link", within=row)
    operator.press(re.compile("Remove"), within=operator.page.get_by_role("dialog"))
    expect(row).to_have_count(0)
    operator.choose("Extension", re.compile("2039")).press("Link extension")
    operator.see(re.compile("Line 2039"))
    switch_to(operator.find("Desk 32"), "Desk of person32")

    assert "<line>2039</line>" in office.file_of(mac)
    assert "2032" not in office.file_of(mac)
    assert office.restarts_of(mac) == before + 1


def test_change_is_found_with_who_made_it(operator: Operator, office: Office) -> None:
    mac = office.macs[32]
    office.api("PUT", f"phones/{mac}", {"location": "Cellar"})
    operator.find("Desk 33").follow("Audit")
    row = operator.page.get_by_role("row").filter(has_text="Cellar")
    expect(row).to_contain_text("ada")
    expect(row).to_contain_text("Phone updated")
    (entry, *_) = office.api("GET", f"audit?resource_id={mac}&limit=1")
    assert entry["actor"] == "ada"


def test_helpdesk_right_is_given_and_used(
    operator: Operator, office: Office, browser: Browser
) -> None:
    password = "a password of the helpdesk"
    person = office.person("person34")
    office.api("PUT", f"users/{person['uuid']}", {"password": password})
    mac = office.switch(34)
    office.api("PUT", f"phones/{mac}", {"location": "Help/1"})
    before = office.restarts_of(mac)
    operator.find("First34 Last34").choose("Right", "Helpdesk")
    operator.fill("Locations of the right", "Help")
    operator.page.get_by_role("button", name="Save").last.click()
    operator.see(re.compile("Right of First34 Last34"))

    context = browser.new_context()
    helper = Operator(Console(context, office.service.url))
    helper.console.open()
    helper.console.sign_in("person34", password)
    helper.see("You help at phones in Help.").find("Desk 34")
    helper.press("Restart").press("Restart", within=helper.page.get_by_role("dialog"))
    wait_for(lambda: office.restarts_of(mac) == before + 1)
    context.close()
    (entry, *_) = office.api("GET", f"audit?actor_uuid={person['uuid']}&limit=1")
    assert entry["changes"]["right"]["new"] == "helpdesk"


def test_right_that_is_taken_away_ends_on_the_page_that_is_open(
    operator: Operator, office: Office, browser: Browser
) -> None:
    password = "a password of the helpdesk"
    person = office.person("person35")
    office.api("PUT", f"users/{person['uuid']}", {"password": password})
    right = {"right": "helpdesk", "locations": ["Help"]}
    office.api("PUT", f"users/{person['uuid']}/rights", right)
    mac = office.switch(35)
    office.api("PUT", f"phones/{mac}", {"location": "Help/1"})
    before = office.restarts_of(mac)
    context = browser.new_context()
    helper = Operator(Console(context, office.service.url))
    helper.console.open()
    helper.console.sign_in("person35", password)
    helper.see("You help at phones in Help.").find("Desk 35").press("Restart")

    operator.find("First35 Last35").choose("Right", re.compile("^None"))
    operator.page.get_by_role("button", name="Save").last.click()
    operator.see(re.compile("Right of First35 Last35"))

    helper.press("Restart", within=helper.page.get_by_role("dialog"))
    helper.see("This needs permission level 0.")
    assert office.restarts_of(mac) == before
    helper.page.reload()
    helper.console.settled()
    expect(helper.page.get_by_role("button", name="Restart")).to_have_count(0)
    context.close()
    (entry, *_) = office.api("GET", f"audit?resource_id={person['uuid']}&limit=1")
    assert (entry["actor"], entry["changes"]["right"]["new"]) == ("ada", None)


def test_token_works_until_it_is_deleted(operator: Operator, office: Office) -> None:
    operator.follow("ada", operator.page.get_by_role("banner"))
    operator.press("New token").fill(re.compile("^Name"), "Nightly export")
    operator.press("Create", within=operator.page.get_by_role("dialog"))
    token = operator.page.get_by_label("API token", exact=True).input_value()
    url = f"{office.service.url}/api/v1/phones?limit=1"
    headers = {"Authorization": f"Bearer {token}"}
    assert httpx.get(url, headers=headers, trust_env=False).status_code == 200
    operator.press("Copy").press("Close", within=operator.page.get_by_role("dialog"))
    row = operator.page.get_by_role("row").filter(has_text="Nightly export")
    operator.press("Delete", within=row)
    operator.press("Delete", within=operator.page.get_by_role("dialog"))
    operator.see("There are no API tokens.")
    assert httpx.get(url, headers=headers, trust_env=False).status_code == 401


def test_auditors_get_every_entry_of_the_day(
    operator: Operator, office: Office, tmp_path: Path
) -> None:
    operator.go("Audit").choose("Resource", "Phone")
    with operator.page.expect_download() as download:
        operator.press("Export CSV")
    download.value.save_as(tmp_path / "audit.csv")
    text = (tmp_path / "audit.csv").read_text("utf-8-sig")
    _, *rows = csv.reader(io.StringIO(text))
    assert len(rows) == len(office.api("GET", "audit?resource=phone&limit=1000")) >= PHONES


def test_night_shift_is_planned_and_cancelled(operator: Operator, office: Office) -> None:
    before = {mac: office.restarts_of(mac) for mac in office.macs}
    tonight = (datetime.now() + timedelta(hours=5)).strftime("%Y-%m-%dT%H:%M")  # noqa: DTZ005
    operator.go("Batches").follow("New batch").choose(re.compile("^Action"), "Restart")
    operator.choose("Location", re.compile("Potsdam")).fill("Start at", tonight)
    operator.press("Start batch").press("Start batch", within=operator.page.get_by_role("dialog"))
    operator.see(re.compile("Planned"))
    batch = office.api("GET", f"batches/{operator.page.url.rpartition('/')[2]}")
    assert batch["state"] == "planned"
    operator.press("Cancel batch").press("Cancel batch", within=operator.page.get_by_role("dialog"))
    wait_for(lambda: office.api("GET", f"batches/{batch['uuid']}")["state"] == "cancelled")
    assert {mac: office.restarts_of(mac) for mac in office.macs} == before


def test_night_preset_plans_the_floor_with_three_first_and_undo(
    operator: Operator, office: Office
) -> None:
    before = {mac: office.restarts_of(mac) for mac in office.macs}
    zone = ZoneInfo(office.api("GET", "me")["timezone"])
    operator.go("Batches").follow("New batch").choose("Profile", re.compile("^Vacant desk"))
    operator.choose("Location", re.compile("4th floor"))
    operator.press("Tonight, three first, undo").press("Start batch")
    question = operator.page.get_by_role("dialog")
    for words in ("22:00", "If it stops, put back what was on each phone"):
        expect(question).to_contain_text(words)
    operator.press("Start batch", within=question).see(re.compile("Planned"))
    batch = office.api("GET", f"batches/{operator.page.url.rpartition('/')[2]}")
    start = datetime.fromisoformat(batch["start_at"]).astimezone(zone)
    assert (batch["state"], batch["first"], batch["undo_on_stop"]) == ("planned", 3, True)
    assert (start.hour, start.minute) == (22, 0)
    operator.press("Cancel batch").press("Cancel batch", within=operator.page.get_by_role("dialog"))
    wait_for(lambda: office.api("GET", f"batches/{batch['uuid']}")["state"] == "cancelled")
    assert {mac: office.restarts_of(mac) for mac in office.macs} == before


def test_directory_comes_from_excel(operator: Operator, office: Office) -> None:
    file = excel(
        [["Name", "Work"], ["Hedy Lamarr", "0301"], [], ["Grace Hopper", 302]],
        lambda book: book.create_sheet("Old numbers"),
    )
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    operator.go("People").follow("Import").choose("Kind of records", "Company directory")
    operator.attach("CSV or Excel file", "people.xlsx", kind, file)
    operator.press("Dry run").see("Dry run: nothing was written").see(re.compile("Old numbers"))
    assert office.api("GET", "company-directory?q=Lamarr") == []
    operator.press("Import").see("Imported")

    for name, work in (("Lamarr", "0301"), ("Hopper", "302")):
        (entry,) = office.api("GET", f"company-directory?q={name}")
        assert entry["work"] == work
