"""Files that the console writes hold every row that matches, not those that are in the page."""

import csv
from pathlib import Path

import pytest
from playwright.sync_api import expect

from browser.console_rig import Console, Service

ROWS = 230


def exported(console: Console, folder: Path) -> list[list[str]]:
    with console.page.expect_download() as download:
        console.page.get_by_role("button", name="Export CSV").click()
    download.value.save_as(folder / "table.csv")
    with (folder / "table.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def test_exported_audit_holds_more_than_the_rows_in_the_page(
    console: Console, service: Service, tmp_path: Path
) -> None:
    rows = "".join(f"Person {n},{n}\n" for n in range(ROWS))
    service.api("POST", "imports/company-directory", {"csv": f"name,work\n{rows}"})
    console.open("#/audit?resource=company_contact")
    expect(console.page.get_by_role("button", name="Show older rows")).to_be_visible()
    expect(console.page.locator("tbody tr")).to_have_count(100)

    titles, *entries = exported(console, tmp_path)

    assert titles[:2] == ["uuid", "at"]
    assert len(entries) == len(service.api("GET", "audit?resource=company_contact&limit=1000"))
    assert len(entries) >= ROWS


def test_exported_deployments_hold_more_than_the_rows_in_the_page(
    console: Console, service: Service, tmp_path: Path
) -> None:
    mac = "00:1B:D4:00:00:03"
    profile = next(p for p in service.api("GET", "phone-profiles") if p["name"] == "Front desk")
    order = {"profile_uuid": profile["uuid"], "mac": mac}
    service.api("PUT", f"phones/{mac}", {"phone_ip": "127.0.1.98"})
    for _ in range(105):
        with pytest.raises(AssertionError):
            service.api("POST", "phone-profiles/switch", order)
    service.api("PUT", f"phones/{mac}", {"phone_ip": "127.0.1.3"})
    console.open(f"#/deployments?mac={mac}")
    expect(console.page.locator("tbody tr")).to_have_count(100)

    _, *entries = exported(console, tmp_path)

    assert len(entries) == 105
    assert {cells[1] for cells in entries} == {mac}


def test_exported_desks_are_those_of_the_filter_and_bring_the_default_profile_back(
    console: Console, service: Service, tmp_path: Path
) -> None:
    mac = "00:1B:D4:00:00:01"
    profile = next(p for p in service.api("GET", "phone-profiles") if p["name"] == "Front desk")
    default = {"default_profile_uuid": profile["uuid"]}
    service.api("PUT", f"phones/{mac}/desk", default)
    console.open("#/desks?q=hall&sort=-mac")
    expect(console.page.get_by_role("rowheader").first).to_be_visible()

    titles, *desks = exported(console, tmp_path)

    shown = [one["mac"] for one in service.api("GET", "phones?q=hall&sort=-mac")]
    assert [cells[titles.index("mac")] for cells in desks] == shown
    assert desks[-1][titles.index("default_profile")] == "Front desk"
    service.api("PUT", f"phones/{mac}/desk", {"default_profile_uuid": None})
    text = (tmp_path / "table.csv").read_text("utf-8-sig")
    result = service.api("POST", "imports/desks", {"csv": text})
    assert (result["updated"], result["unchanged"]) == (1, len(desks) - 1)
    assert service.api("GET", f"phones/{mac}/desk")["default_profile_uuid"] == profile["uuid"]
    service.api("PUT", f"phones/{mac}/desk", {"default_profile_uuid": None})
