"""Lines and desks agree after each way in which a phone changes hands without a login."""

from typing import Any

from contract.desks.test_lines import ADA, BOB, LOBBY, OWN, Office, office
from phoneprov_core.features.desks.records import DeskUse
from support.api import Caller, data_of, error_of
from support.hotdesk import IP, OTHER_IP
from support.polling import until
from support.switch_rig import MAC, a_desk_phone, switch

__all__ = ["office"]
NEW = "00:1B:D4:99:99:99"
NOW, LATER = "2026-11-01T08:00:00.000Z", "2099-01-01T00:00:00.000Z"


async def batch(office: Office) -> dict[str, Any]:
    """Bring the profile that the phone has again; the batch."""
    body = {"action": "switch", "macs": [MAC]}
    made = data_of(await office.admin.post("/batches", body), 202)

    async def ended() -> Any:
        seen = data_of(await office.admin.get(f"/batches/{made['uuid']}"))
        return seen if seen["ended_at"] else None

    return dict(await until(ended))


async def without_default(office: Office) -> None:
    data_of(await office.admin.put(f"/phones/{MAC}/desk", {"default_profile_uuid": None}))


async def test_batch_of_the_same_profile_keeps_the_login(office: Office) -> None:
    await office.log_in()
    async with office.api.database.write() as tx:
        desk = (await tx.desks.find(MAC)).used(DeskUse(office.ada.uuid, office.profile, LATER), NOW)
        await tx.desks.put(desk)
    assert (await batch(office))["phones"]["done"] == 1
    assert await office.record() == desk
    assert await office.lines() == [ADA]


async def test_batch_logs_no_user_in_who_has_left(office: Office) -> None:
    await office.log_in()
    await without_default(office)
    data_of(await office.admin.post(f"/phones/{MAC}/desk/logout", {}))
    await office.api.container.tasks().drain(10)
    assert await office.lines() == []

    done = await batch(office)
    assert done["phones"]["done"] == 1
    assert await office.lines() == []
    assert (await office.desk())["user_uuid"] is None
    data_of(await switch(office.admin, office.profile), metadata=False)
    assert await office.lines() == [ADA]


async def test_replacement_takes_the_lines_and_restarts_the_other_phone(office: Office) -> None:
    await office.log_in()
    async with office.api.database.write() as tx:
        await tx.discovered_phones.see(NEW, OTHER_IP, "CP-7945G", "x", NOW)
    before = office.restarts(IP)
    by = {"mac": NEW, "phone_ip": OTHER_IP}
    data_of(await office.admin.post(f"/phones/{MAC}/replace", by), 201)
    assert (await office.lines(), await office.lines(NEW)) == ([], [ADA])
    assert await office.keep_desks() == 2
    await office.api.container.tasks().drain(10)
    assert (office.restarts(IP), office.restarts(OTHER_IP)) == (before + 1, 1)
    assert await office.lines(NEW) == [ADA]
    assert (await office.record()).due is None
    assert await office.keep_desks() == 0


async def test_records_that_are_made_again_bring_no_line_back(office: Office) -> None:
    """The phone keeps the file of ada, whose number is made again each time."""
    await without_default(office)
    data_of(await switch(office.admin, office.profile), metadata=False)
    [link] = data_of(await office.admin.get(f"/user-extensions/by-user/{office.ada.uuid}"))
    deleted = await office.admin.delete(f"/extensions/{link['extension_uuid']}")
    assert deleted.json()["metadata"] == {"phones": [MAC]}
    await office.extension(ADA)
    assert await office.lines() == []
    body = {**link, "extension_uuid": (await extension(office, ADA))["uuid"]}
    body = {key: body[key] for key in ("user_uuid", "extension_uuid")}
    data_of(await office.admin.post("/user-extensions", body), 201)
    assert await office.lines() == [ADA]

    data_of(await office.admin.delete(f"/phones/{MAC}"))
    await a_desk_phone(office.admin, software_type="SCCP")
    assert await office.lines() == []
    data_of(await switch(office.admin, office.profile), metadata=False)
    assert await office.lines() == [ADA]

    data_of(await office.admin.delete(f"/users/{office.ada.uuid}"))
    again = await office.api.account("ada")
    data_of(await office.admin.post("/user-extensions", {**body, "user_uuid": again.uuid}), 201)
    assert await office.lines() == []


async def extension(office: Office, number: str) -> dict[str, Any]:
    found = data_of(await office.admin.get("/extensions"))
    return dict(next(one for one in found if one["extension"] == number))


async def test_changed_number_of_a_user_is_the_line_and_restarts_nothing(office: Office) -> None:
    await office.log_in()
    happened = len(office.world.happened)
    path = f"/extensions/{(await extension(office, ADA))['uuid']}"
    for fields, lines in (
        ({"extension": BOB}, [BOB]),
        ({"type": "chan_pjsip"}, []),
        ({"type": "chan_sccp", "is_active": False}, []),
        ({"is_active": True}, [BOB]),
    ):
        reply = await office.admin.put(path, fields)
        assert reply.json()["metadata"] == {"phones": [MAC]}
        assert await office.lines() == lines
    assert len(office.world.happened) == happened


async def test_number_of_a_desk_stays_a_line(office: Office) -> None:
    own = await office.extension(OWN)
    desk, path = f"/phones/{MAC}/desk", f"/extensions/{own}"
    data_of(await office.admin.put(desk, {"extension_uuid": own}))
    for fields in ({"type": "custom"}, {"is_active": False}):
        assert error_of(await office.admin.put(path, fields), 409, "in_use") == {}
    data_of(await office.admin.put(path, {"extension": "901", "name": "Emergency"}))
    assert await office.lines() == ["901"]
    data_of(await office.admin.put(desk, {"extension_uuid": None}))
    assert await office.lines() == [LOBBY]
    data_of(await office.admin.put(path, {"is_active": False}))


async def test_token_of_a_script_brings_and_takes_the_lines(office: Office) -> None:
    made = data_of(await office.admin.post("/me/tokens", {"name": "script"}), 201)
    script = Caller(office.api.client, office.admin.uuid, made["token"])
    data_of(await switch(script, office.profile), metadata=False)
    assert await office.lines() == [ADA]
    data_of(await script.post(f"/phones/{MAC}/desk/logout", {}))
    assert await office.lines() == [LOBBY]


async def test_import_takes_and_brings_lines(office: Office) -> None:
    async def imported(table: str, csv: str) -> list[dict[str, Any]]:
        reply = await office.admin.post(f"/imports/{table}", {"csv": csv})
        return list(data_of(reply)["rows"])

    await office.log_in()
    before = office.restarts(IP)
    await office.extension(OWN)
    await imported("desks", f"mac,extension\n{MAC},{OWN}\n")
    assert await office.lines() == [ADA]
    await imported("users", "username,is_active\nada,false\n")
    assert await office.lines() == [OWN]
    assert await office.keep_desks() == 1
    assert office.restarts(IP) == before + 1
    [row] = await imported("extensions", f"extension,is_active\n{OWN},false\n")
    assert "number of the desk" in str(row["problems"])
