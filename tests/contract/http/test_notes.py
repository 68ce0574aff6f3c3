"""Notes, locks of PINs, labels, and the link to a phone's own page; on every database."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from support.api import Caller, data_of, error_of
from support.hotdesk import Hotdesk, hotdesk
from support.stores import DATABASES
from support.switch_rig import MAC

NOTE = "Keeps the k\u00e9y of the rack"


@pytest.fixture(params=sorted(DATABASES))
async def office(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Hotdesk]:
    async with hotdesk(tmp_path, database_kind=request.param) as office:
        yield office


async def found(caller: Caller, path: str, q: str) -> list[str]:
    rows = (await caller.get(path, q=q)).json()["data"]
    return [one.get("mac") or one["username"] for one in rows]


async def test_note_is_read_searched_audited_and_no_field_of_the_record(office: Hotdesk) -> None:
    admin, ada = office.admin, office.ada
    for path, mine, kind in (
        (f"/phones/{MAC}", MAC, "phone"), (f"/users/{ada.uuid}", "ada", "user")):  # fmt: skip
        before = data_of(await admin.get(path))
        assert data_of(await admin.get(f"{path}/note")) == {"note": None}
        assert data_of(await admin.put(f"{path}/note", {"note": NOTE})) == {"note": NOTE}
        assert data_of(await admin.get(path)) == before
        listed = path.rpartition("/")[0]
        assert await found(admin, listed, "key rack") == [mine]
        # A change of the record keeps its note.
        data_of(await admin.put(path, {"location": "Hall"}))
        assert data_of(await admin.get(f"{path}/note")) == {"note": NOTE}
        [entry] = (await admin.get("/audit", action=f"{kind}.noted")).json()["data"]
        assert entry["changes"] == {"note": {"old": None, "new": NOTE}}
        assert data_of(await admin.put(f"{path}/note", {"note": ""})) == {"note": None}
        assert await found(admin, listed, "key rack") == []
    error_of(await admin.put(f"/phones/{MAC}/note", {"note": "two\nlines"}), 422)
    error_of(await admin.get("/phones/001bd4ffffff/note"), 404)


async def test_note_is_found_by_no_account_that_may_not_read_it(office: Hotdesk) -> None:
    data_of(await office.admin.put(f"/phones/{MAC}/note", {"note": NOTE}))
    assert await found(office.ada, "/phones", "rack") == []
    error_of(await office.ada.get(f"/phones/{MAC}/note"), 403)
    desk = {"right": "helpdesk", "locations": ["Berlin"]}
    data_of(await office.admin.put(f"/users/{office.ada.uuid}/rights", desk))
    assert await found(office.ada, "/phones/summaries", "rack") == []
    data_of(await office.admin.put(f"/phones/{MAC}", {"location": "Berlin"}))
    assert await found(office.ada, "/phones/summaries", "rack") == [MAC]
    assert data_of(await office.ada.get(f"/phones/{MAC}/note")) == {"note": NOTE}
    error_of(await office.ada.put(f"/phones/{MAC}/note", {"note": "x"}), 403)


async def test_lock_of_a_pin_is_shown_and_opened_at_the_person_and_at_the_desk(
    office: Hotdesk,
) -> None:
    admin = office.admin
    person, desk = f"/vendor-users/{office.ada.uuid}/lock", f"/phones/{MAC}/desk/lock"
    none: dict[str, Any] = {"failures": 0, "wait_seconds": 0, "is_locked": False}
    assert data_of(await admin.get(person)) == {**none, "has_pin": True}
    for _ in range(5):
        assert (await office.phone().log_in("ada", "13572468")).title != "Logged in"
    for path in (person, desk):
        lock = data_of(await admin.get(path))
        assert lock["failures"] == 5
        assert 0 < lock["wait_seconds"] <= 30
    assert "pin_code" not in str(data_of(await admin.get(person)))

    assert data_of(await admin.delete(person))["failures"] == 0
    data_of(await admin.put(f"/phones/{MAC}/desk", {}))
    assert data_of(await admin.get(desk)) == none
    await office.log_in()
    [entry] = (await admin.get("/audit", action="vendor_user.unlocked")).json()["data"]
    assert entry["resource_id"] == office.ada.uuid
    no_pin = f"/vendor-users/{admin.uuid}/lock"
    assert data_of(await admin.get(no_pin)) == {**none, "has_pin": False}
    error_of(await office.ada.get(no_pin), 403)


async def test_login_at_a_desk_ends_at_the_time_of_the_desk(office: Hotdesk) -> None:
    path = f"/phones/{MAC}/desk"
    for wrong in ("06:00", "25:00 UTC", "06:00 Mars/Base"):
        problems = error_of(await office.admin.put(path, {"ends_at": wrong}), 422)
        assert problems.keys() == {"ends_at"}
    body = {"ends_at": "06:00 Europe/Berlin"}
    assert data_of(await office.admin.put(path, body))["ends_at"] == "06:00 Europe/Berlin"
    [listed] = (await office.admin.get("/desks")).json()["data"]
    assert listed["ends_at"] == "06:00 Europe/Berlin"
    await office.log_in()
    until = (await office.desk())["until"]
    assert until[11:16] in {"04:00", "05:00"}
    assert data_of(await office.admin.put(path, {"ends_at": None}))["ends_at"] is None


async def test_label_has_name_number_and_the_mac_as_a_qr_code(office: Hotdesk) -> None:
    admin = office.admin
    data_of(await admin.put(f"/phones/{MAC}", {"name": "Reception"}))
    label = data_of(await admin.get(f"/phones/{MAC}/label"))
    assert (label["mac"], label["name"], label["number"]) == (MAC, "Reception", None)
    assert label["qr_svg"].startswith("<svg ")
    assert "<script" not in label["qr_svg"]
    new = {"type": "chan_sccp", "extension": "300", "name": "Hall", "password": "a secret word"}
    number = data_of(await admin.post("/extensions", new), 201)["uuid"]
    data_of(await admin.post("/user-extensions", {
        "user_uuid": admin.uuid, "extension_uuid": number}), 201)  # fmt: skip
    assert data_of(await admin.get(f"/phones/{MAC}/label"))["number"] == "300"


@pytest.mark.parametrize(
    ("address", "page"),
    [
        ("10.0.0.5", "http://10.0.0.5/"),
        ("fd00::5", "http://[fd00::5]/"),
        ("127.0.0.9", "http://127.0.0.9/"),
        ("8.8.8.8", None),
        ("2001:db8::1", None),
        ("169.254.169.254", None),
        ("fe80::1", None),
    ],
)
async def test_link_to_the_page_of_a_phone_leads_to_private_addresses_alone(
    tmp_path: Path, address: str, page: str | None
) -> None:
    async with hotdesk(tmp_path) as office:
        reply = await office.admin.put(f"/phones/{MAC}", {"phone_ip": address})
        assert reply.status_code == 200, reply.text
        assert data_of(await office.admin.get(f"/phones/{MAC}/state"))["web_page"] == page
