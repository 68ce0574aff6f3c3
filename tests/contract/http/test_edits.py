"""Edits of many records over HTTP, on every database."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from phoneprov_core.features.transfer import edits
from support.api import Caller, data_of, error_of
from support.hotdesk import OTHER_MAC, Hotdesk, hotdesk
from support.polling import until
from support.stores import DATABASES
from support.switch_rig import MAC

SPARE = "00:1B:D4:12:34:58"


@pytest.fixture(params=sorted(DATABASES))
async def office(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Hotdesk]:
    async with hotdesk(tmp_path, database_kind=request.param) as opened:
        await opened.another_phone()
        await opened.admin.post("/phones", {"mac": SPARE, "name": "Spare", "location": "Hall"})
        yield opened


async def edit(caller: Caller, *keys: Any, kind: str = "phones", **fields: Any) -> dict[str, Any]:
    records = [key if isinstance(key, dict) else {"key": key} for key in keys]
    return dict(data_of(await caller.post(f"/edits/{kind}", {"records": records, **fields})))


async def previewed(caller: Caller, *keys: str, **fields: Any) -> list[Any]:
    """The records as a preview shows them, with their versions."""
    shown = await edit(caller, *keys, **fields, dry_run=True)
    return [{"key": one["key"], "version": one["version"]} for one in shown["records"]]


def outcomes(edited: dict[str, Any]) -> dict[str, str]:
    return {one["key"]: one["outcome"] for one in edited["records"]}


async def phone(office: Hotdesk, mac: str) -> dict[str, Any]:
    return dict(data_of(await office.admin.get(f"/phones/{mac}")))


async def everything(office: Hotdesk) -> list[Any]:
    paths = ("/phones", "/desks", "/vendor-phones", "/users", "/extensions", "/audit", "/batches")
    return [data_of(await office.admin.get(path)) for path in paths]


async def test_edit_preview_says_before_and_after_of_each_phone_and_writes_nothing(
    office: Hotdesk,
) -> None:
    before = await everything(office)
    unknown = "00:1B:D4:99:99:99"

    shown = await edit(office.admin, SPARE, MAC, unknown, location="Hall", dry_run=True)

    assert (shown["written"], shown["edit"], shown["batch_uuid"]) == (False, None, None)
    assert outcomes(shown) == {SPARE: "unchanged", MAC: "changed", unknown: "refused"}
    spare, changed, refused = shown["records"]
    assert (spare["name"], spare["changes"]) == ("Spare", {})
    assert changed["changes"] == {"location": {"old": None, "new": "Hall"}}
    assert refused["message"] == "There is no such phone."
    assert await everything(office) == before


async def test_edit_changes_every_field_of_phones_in_one_group_of_entries(office: Hotdesk) -> None:
    fields: dict[str, Any] = {"location": "Annex", "is_active": False, "vendor": True,
              "default_profile_uuid": None}  # fmt: skip
    foreseen = await edit(office.admin, MAC, OTHER_MAC, **fields, dry_run=True)

    edited = await edit(office.admin, MAC, OTHER_MAC, **fields)

    assert (edited["written"], edited["changed"]) == (True, 2)
    changes = {one["key"]: one["changes"] for one in edited["records"]}
    assert changes == {one["key"]: one["changes"] for one in foreseen["records"]}
    for mac in (MAC, OTHER_MAC):
        now = await phone(office, mac)
        assert (now["location"], now["is_active"]) == ("Annex", False)
        assert data_of(await office.admin.get(f"/vendor-phones/{mac}"))["vendor"] is True
        assert (await office.desk(mac))["default_profile_uuid"] is None
    query = {"resource": edits.EDIT, "resource_id": edited["edit"]}
    entries = data_of(await office.admin.get("/audit", **query))
    assert [one["action"] for one in entries] == ["phone.edited"] * 2
    of_entries = {one["changes"].pop("mac")["new"]: one["changes"] for one in entries}
    for mac, shown in of_entries.items():
        assert {name: shown[name] for name in changes[mac]} == changes[mac]
    assert of_entries.keys() == {MAC, OTHER_MAC}
    [own] = data_of(await office.admin.get("/audit", action="phone.updated", resource_id=MAC,
                                           since=entries[-1]["at"]))[:1]  # fmt: skip
    assert own["request_id"] == entries[0]["request_id"]


async def test_edit_phone_changed_since_the_preview_is_named_and_not_overwritten(
    office: Hotdesk,
) -> None:
    records = await previewed(office.admin, MAC, SPARE, location="Annex")
    data_of(await office.admin.put(f"/phones/{MAC}", {"location": "Cellar"}))

    edited = await edit(office.admin, *records, location="Annex")

    assert outcomes(edited) == {MAC: "refused", SPARE: "changed"}
    assert edited["records"][0]["message"] == edits.CHANGED_SINCE
    assert (await phone(office, MAC))["location"] == "Cellar"
    assert (await phone(office, SPARE))["location"] == "Annex"


@pytest.mark.parametrize("field", ["vendor", "default_profile_uuid"])
async def test_edit_flag_or_desk_changed_since_the_preview_is_not_overwritten(
    office: Hotdesk, field: str
) -> None:
    fields: dict[str, Any] = {field: False if field == "vendor" else None}
    if field == "vendor":
        data_of(await office.admin.put(f"/vendor-phones/{MAC}", {"vendor": True}))
    records = await previewed(office.admin, MAC, **fields)
    if field == "vendor":
        data_of(await office.admin.delete(f"/vendor-phones/{MAC}"))
    else:
        profile = {"default_profile_uuid": office.profile}
        data_of(await office.admin.put(f"/phones/{MAC}/desk", profile))

    edited = await edit(office.admin, *records, **fields)

    assert outcomes(edited) == {MAC: "refused"}
    assert (edited["written"], edited["edit"]) == (False, None)


async def test_edit_refused_phone_is_left_alone_entirely_and_the_others_change(
    office: Hotdesk,
) -> None:
    sip = {"model": "CP-7945G", "software_type": "SIP"}
    data_of(await office.admin.put(f"/phones/{MAC}", sip))
    path, typed = f"/phone-profiles/{office.lobby}", {"software_type": "SCCP"}
    data_of(await office.admin.put(path, typed), metadata=False)
    data_of(await office.admin.put(f"/phones/{MAC}/desk", {"default_profile_uuid": None}))
    before = await phone(office, MAC)

    edited = await edit(
        office.admin, MAC, SPARE, location="Roof", default_profile_uuid=office.lobby
    )

    assert outcomes(edited) == {MAC: "refused", SPARE: "changed"}
    assert edited["records"][0]["message"]
    assert await phone(office, MAC) == before
    assert (await phone(office, SPARE))["location"] == "Roof"
    assert (await office.desk(SPARE))["default_profile_uuid"] == office.lobby


async def test_edit_restart_is_a_batch_of_the_active_phones(office: Hotdesk) -> None:
    data_of(await office.admin.put(f"/phones/{SPARE}", {"is_active": False}))

    edited = await edit(office.admin, MAC, SPARE, restart=True)

    assert [one["restarts"] for one in edited["records"]] == [True, False]
    assert edited["records"][1]["message"] == "An inactive phone is not restarted."
    batch = data_of(await office.admin.get(f"/batches/{edited['batch_uuid']}"))
    assert (batch["action"], batch["phones"]["total"], edited["restarts"]) == ("restart", 1, 1)
    query = {"resource": edits.EDIT, "resource_id": edited["edit"]}
    [entry] = data_of(await office.admin.get("/audit", **query))
    assert entry["changes"]["batch_uuid"]["new"] == edited["batch_uuid"]

    async def is_done() -> bool:
        path = f"/batches/{edited['batch_uuid']}"
        return bool(data_of(await office.admin.get(path))["state"] != "running")

    await until(is_done)


async def test_edit_of_users_keeps_the_last_superadmin(office: Hotdesk) -> None:
    users = [one["uuid"] for one in data_of(await office.admin.get("/users"))]
    ada = data_of(await office.ada.get("/me"))["uuid"]

    edited = await edit(office.admin, *users, kind="users", is_active=False)

    assert outcomes(edited) == {ada: "changed", office.admin.uuid: "refused"}
    assert data_of(await office.admin.get(f"/users/{ada}"))["is_active"] is False
    error_of(await office.ada.get("/me"), 401)


async def test_edit_of_more_records_than_a_transaction_changes_all_of_them(
    office: Hotdesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edits, "PIECE", 2)

    edited = await edit(office.admin, MAC, OTHER_MAC, SPARE, location="Annex")

    assert edited["changed"] == 3
    query = {"resource": edits.EDIT, "resource_id": edited["edit"]}
    assert len(data_of(await office.admin.get("/audit", **query))) == 3


async def test_two_edits_at_once_in_opposite_order_both_end(office: Hotdesk) -> None:
    macs = [MAC, OTHER_MAC, SPARE]
    both = await asyncio.gather(
        edit(office.admin, *macs, location="One"),
        edit(office.admin, *reversed(macs), location="Two"),
    )

    assert [one["changed"] for one in both] == [3, 3]
    assert len({(await phone(office, mac))["location"] for mac in macs}) == 1


@pytest.mark.parametrize(
    ("kind", "body", "field"),
    [
        ("phones", {}, "location"),
        ("phones", {"records": [], "is_active": True}, "records"),
        ("phones", {"records": [{"key": "nonsense"}], "is_active": True}, "records[0].key"),
        ("phones", {"records": [{"key": MAC}, {"key": MAC.lower()}], "is_active": True},
         "records[1].key"),
        ("users", {"records": [{"key": MAC}], "is_active": True}, "records[0].key"),
        ("users", {"vendor": True}, "vendor"),
        ("extensions", {"location": "Hall"}, "location"),
        ("extensions", {"restart": True}, "restart"),
    ],
)  # fmt: skip
async def test_edit_wrong_request_names_the_field(
    office: Hotdesk, kind: str, body: dict[str, Any], field: str
) -> None:
    body = {"records": [{"key": MAC if kind == "phones" else office.admin.uuid}], **body}
    assert field in error_of(await office.admin.post(f"/edits/{kind}", body), 422)


async def test_edit_of_an_unknown_kind_is_not_found(office: Hotdesk) -> None:
    body = {"records": [{"key": MAC}], "is_active": True}
    error_of(await office.admin.post("/edits/kems", body), 404)
