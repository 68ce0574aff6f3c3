"""The phones of an earlier moment over HTTP."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from phoneprov_core.features.desks.records import DeskUse
from support.api import Api, Caller, data_of, error_of

PATH = "/history/phones"


def now() -> str:
    """This moment, which is over: a change of the same millisecond would count as made."""
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    time.sleep(0.002)
    return at


async def phone(admin: Caller, number: int, **fields: Any) -> str:
    body = {"mac": f"001bd40000{number:02x}", **fields}
    return str(data_of(await admin.post("/phones", body), 201)["mac"])


async def test_location_is_that_of_the_moment(admin: Caller) -> None:
    mac = await phone(admin, 1, location="Floor 3", name="Front")
    at = now()
    data_of(await admin.put(f"/phones/{mac}", {"location": "basement", "name": None}))

    (then,) = data_of(await admin.get(PATH, at=at, location=" floor 3 "), 200, "1 phone(s) found")
    assert (then["location"], then["name"]) == ("Floor 3", "Front")
    assert data_of(await admin.get(PATH, at=at, location="basement")) == []
    (today,) = data_of(await admin.get(PATH, location="basement"))
    assert (today["mac"], today["name"]) == (mac, None)


async def test_deleted_phone_is_shown_until_its_deletion(admin: Caller) -> None:
    mac = await phone(admin, 1, location="hall")
    at = now()
    data_of(await admin.delete(f"/phones/{mac}"))

    assert [one["mac"] for one in data_of(await admin.get(PATH, at=at))] == [mac]
    assert data_of(await admin.get(PATH)) == []
    await phone(admin, 1, location="attic")
    (then,), (today,) = data_of(await admin.get(PATH, at=at)), data_of(await admin.get(PATH))
    assert (then["location"], today["location"]) == ("hall", "attic")


async def test_pages_of_a_moment_stay_while_phones_come_and_go(admin: Caller) -> None:
    macs = [await phone(admin, number) for number in range(1, 6)]
    at = now()
    first = data_of(await admin.get(PATH, at=at, limit=2))
    data_of(await admin.delete(f"/phones/{macs[0]}"))
    data_of(await admin.delete(f"/phones/{macs[3]}"))
    await phone(admin, 9)
    second = data_of(await admin.get(PATH, at=at, limit=2, after=first[-1]["mac"]))
    third = data_of(await admin.get(PATH, at=at, limit=2, after=second[-1]["mac"]))

    assert [one["mac"] for one in first + second + third] == macs
    (one,) = data_of(await admin.get(PATH, at=at, mac=macs[3].lower()))
    assert one["mac"] == macs[3]


async def test_offset_is_another_hour_and_not_a_part_of_the_answer(admin: Caller) -> None:
    mac = await phone(admin, 1)
    at = datetime.now(UTC)
    east = at.astimezone(ZoneInfo("Asia/Tokyo")).isoformat()
    (one,) = data_of(await admin.get(PATH, at=east))
    assert one["mac"] == mac


@pytest.mark.parametrize(
    ("query", "field", "why"),
    [
        ({"at": "2026-11-01T10:00:00"}, "at", "must be a timestamp in UTC or with an offset"),
        ({"at": "yesterday"}, "at", "must be a timestamp"),
        ({"at": "1999-01-01T00:00:00Z"}, "at", "must not be before"),
        ({"at": "2999-01-01T00:00:00Z"}, "at", "must not be in the future"),
        ({"offset": 3}, "offset", "is not allowed"),
        ({"as_of": "2026-11-01T10:00:00Z"}, "as_of", ""),
    ],
)
async def test_wrong_query_is_refused_with_its_field(
    admin: Caller, query: dict[str, Any], field: str, why: str
) -> None:
    reply = await admin.get(PATH, **query)
    assert set(error_of(reply, 422)) == {field}
    assert why in reply.json()["message"]


async def test_past_is_for_level_0_alone(api: Api) -> None:
    other = await api.account("grace")
    error_of(await other.get(PATH), 403, "forbidden")


async def test_username_of_a_deleted_user_is_the_one_of_then(admin: Caller, api: Api) -> None:
    user = await api.account("leaver")
    mac = await phone(admin, 1, phone_ip="10.0.0.5")
    async with api.database.write() as tx:
        desk = await tx.desks.find(mac)
        since = (datetime.now(UTC) - timedelta(seconds=1)).isoformat(timespec="milliseconds")
        await tx.desks.put(desk.used(DeskUse(user.uuid), since[:23] + "Z"))
    at = now()
    data_of(await admin.delete(f"/users/{user.uuid}"))

    (then,) = data_of(await admin.get(PATH, at=at))
    assert (then["user_uuid"], then["username"]) == (user.uuid, "leaver")
    (today,) = data_of(await admin.get(PATH))
    assert today["user_uuid"] is None
