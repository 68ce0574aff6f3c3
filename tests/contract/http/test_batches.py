"""Batches over HTTP, over the real use cases and a real database."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from phoneprov_core.kernel.values import timestamp
from support.api import STRANGER, Api, Caller, data_of, error_of, opened_api
from support.polling import until
from support.records import a_mac
from support.switch_rig import World, a_desk_phone, a_profile_of

COUNTS = ("waiting", "running", "done", "unknown", "failed", "left_out", "total")


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
async def api(world: World, tmp_path: Path) -> AsyncIterator[Api]:
    async with opened_api(tmp_path, overrides=world.adapters()) as opened:
        yield opened
        await opened.container.tasks().drain(5.0)


@pytest.fixture
async def admin(api: Api) -> Caller:
    """A superadmin, and five phones on the second floor."""
    admin = await api.account("root", level=0)
    for number in range(1, 6):
        await a_desk_phone(
            admin, mac=a_mac(number), phone_ip=f"10.0.0.{number}", location="2nd floor"
        )
    return admin


async def start(admin: Caller, **fields: Any) -> dict[str, Any]:
    reply = await admin.post("/batches", {"action": "restart", "location": "2nd floor", **fields})
    batch: dict[str, Any] = data_of(reply, 202, "Batch started")
    return batch


async def over(admin: Caller, batch: dict[str, Any]) -> dict[str, Any]:
    """Wait for the end of the batch; the batch."""

    async def ended() -> Any:
        seen = data_of(await admin.get(f"/batches/{batch['uuid']}"))
        return None if seen["ended_at"] is None else seen

    return dict(await until(ended))


async def test_batch_of_a_filter_switches_its_phones(api: Api, admin: Caller, world: World) -> None:
    profile = await a_profile_of(admin)

    batch = await start(admin, action="switch", profile_uuid=profile)
    assert (batch["state"], batch["ended_at"]) == ("running", None)
    assert batch["phones"] == dict(zip(COUNTS, (5, 0, 0, 0, 0, 0, 5), strict=True))
    batch = await over(admin, batch)

    assert batch["state"] == "done"
    assert batch["phones"] == dict(zip(COUNTS, (0, 0, 5, 0, 0, 0, 5), strict=True))
    assert len(world.uploads) == 5
    reply = await admin.get(f"/batches/{batch['uuid']}/phones")
    phones = data_of(reply, message="5 phone(s) found")
    assert [phone["mac"] for phone in phones] == [a_mac(number) for number in range(1, 6)]
    for phone in phones:
        assert (phone["state"], phone["tries"], phone["message"]) == ("done", 1, None)
        record = data_of(await admin.get(f"/deployments/{phone['deployment_uuid']}"))
        assert (record["mac"], record["outcome"]) == (phone["mac"], "deployed")


async def test_batch_phones_are_filtered_and_paged(api: Api, admin: Caller, world: World) -> None:
    batch = await start(admin, action="switch")  # no deployment of them is known
    await over(admin, batch)

    reply = await admin.get(f"/batches/{batch['uuid']}/phones", state="failed", limit=2, offset=3)
    envelope = reply.json()
    assert [phone["position"] for phone in envelope["data"]] == [4, 5]
    assert envelope["metadata"] == {"total": 5, "limit": 2, "offset": 3}
    assert "No deployment of this phone" in envelope["data"][0]["message"]
    assert envelope["data"][0]["deployment_uuid"] is None
    none = await admin.get(f"/batches/{batch['uuid']}/phones", state="waiting")
    assert data_of(none, message="0 phone(s) found") == []
    wrong = await admin.get(f"/batches/{batch['uuid']}/phones", state="lost")
    assert error_of(wrong, 422, "invalid").keys() == {"state"}


async def test_batch_phones_after_a_position_have_no_total(api: Api, admin: Caller) -> None:
    path = f"/batches/{(await over(admin, await start(admin)))['uuid']}/phones"

    positions: list[int] = []
    while page := data_of(reply := await admin.get(path, limit=2, after=max(positions, default=0))):
        assert reply.json()["metadata"] == {}
        positions += [phone["position"] for phone in page]
    assert positions == [1, 2, 3, 4, 5]
    assert data_of(await admin.get(path, after=0, state="waiting")) == []
    for query in ({"after": -1}, {"after": "x"}):
        assert error_of(await admin.get(path, **query), 422).keys() == {"after"}
    assert error_of(await admin.get(path, after=1, offset=1), 422).keys() == {"offset"}


async def test_batches_before_another_are_newest_first_without_total(
    api: Api, admin: Caller
) -> None:
    for _ in range(3):
        await over(admin, await start(admin))
    batches = data_of(await admin.get("/batches"))[::-1]

    reply = await admin.get("/batches", before="f" * 8 + "-ffff-ffff-ffff-" + "f" * 12, limit=2)
    assert (data_of(reply), reply.json()["metadata"]) == (batches[:2], {})
    last = batches[1]["uuid"]
    assert data_of(await admin.get("/batches", before=last)) == batches[2:]
    error_of(await admin.get("/batches", before=STRANGER), 404, "not_found")
    assert error_of(await admin.get("/batches", before="x"), 422).keys() == {"before"}
    assert error_of(await admin.get("/batches", before=last, offset=1), 422).keys() == {"offset"}


async def test_batch_is_cancelled(api: Api, admin: Caller, world: World) -> None:
    profile = await a_profile_of(admin)
    world.gate.clear()
    batch = await start(admin, action="switch", profile_uuid=profile, at_once=1)
    await world.begun.wait()

    reply = await admin.delete(f"/batches/{batch['uuid']}")
    cancelled = data_of(reply, message="Batch cancelled")
    assert (cancelled["state"], cancelled["ended_at"]) == ("cancelled", None)
    assert cancelled["phones"] == dict(zip(COUNTS, (0, 1, 0, 0, 0, 4, 5), strict=True))
    world.gate.set()
    batch = await over(admin, batch)

    assert batch["phones"] == dict(zip(COUNTS, (0, 0, 1, 0, 0, 4, 5), strict=True))
    assert data_of(await admin.delete(f"/batches/{batch['uuid']}")) == batch


async def test_planned_and_ended_batches_are_named_as_what_they_are(
    api: Api, admin: Caller
) -> None:
    batch = await over(admin, await start(admin))
    kept = data_of(await admin.delete(f"/batches/{batch['uuid']}"), message="Batch done")
    assert kept["state"] == "done"
    at = datetime.now(timezone(timedelta(hours=1))).replace(microsecond=0) + timedelta(days=30)
    body = {"action": "restart", "location": "2nd floor", "start_at": at.isoformat()}
    planned = data_of(await admin.post("/batches", body), 202, "Batch planned")
    assert planned["start_at"] == timestamp(at)
    later = {**body, "start_at": (at + timedelta(days=61)).isoformat()}
    assert error_of(await admin.post("/batches", later), 422) == {
        "start_at": "must be at most 90 days ahead"
    }
    data_of(await admin.delete(f"/batches/{planned['uuid']}"), message="Batch cancelled")


@pytest.mark.parametrize("path", [f"/batches/{STRANGER}", "/batches/nonsense"])
async def test_batch_missing_is_not_found(api: Api, admin: Caller, path: str) -> None:
    error_of(await admin.get(path), 404, "not_found")
    error_of(await admin.get(f"{path}/phones"), 404, "not_found")
    error_of(await admin.delete(path), 404, "not_found")


async def test_batch_start_invalid_body_is_named(admin: Caller) -> None:
    unknown_profile = {"action": "switch", "profile_uuid": STRANGER, "model": "7945"}
    error_of(await admin.post("/batches", unknown_profile), 404)
    wrong = error_of(await admin.post("/batches", {"action": "nonsense", "x": 1}), 422)
    assert wrong == {
        "action": "must be one of switch, restart",
        "x": "is not a field of this request",
    }


async def test_batch_first_phones_outside_of_it_are_named(admin: Caller) -> None:
    body = {"action": "switch", "macs": [a_mac(1), a_mac(2)], "first_macs": [a_mac(3)]}
    for path in ("/batches", "/batches/plan", "/batches/rehearse"):
        assert error_of(await admin.post(path, body), 422) == {
            "first_macs": f"names {a_mac(3)}, which is not in the batch"
        }
    chosen = {**body, "macs": [a_mac(1), a_mac(3)]}
    planned = data_of(await admin.post("/batches/plan", chosen))
    assert planned["first"] == [{"mac": a_mac(3), "outcome": "unfit"}]


async def test_pasted_list_is_read_with_a_problem_for_each_bad_line(admin: Caller) -> None:
    profile = await a_profile_of(admin)
    text = f"{a_mac(1)},{profile}\n{a_mac(2)},root\n{a_mac(9)},root\n"

    reply = await admin.post("/batches/list", {"text": text})

    found = data_of(reply, 200, "2 phone(s) found, 1 line(s) are wrong")
    assert found["phones"] == [
        {"line": number, "mac": a_mac(number), "profile_uuid": profile} for number in (1, 2)
    ]
    message = f"There is no phone {a_mac(9)} in the inventory."
    assert found["problems"] == [{"line": 3, "message": message}]


async def test_batch_conflicts_are_reported(api: Api, admin: Caller) -> None:
    nowhere = await admin.post("/batches", {"action": "restart", "location": "3rd floor"})
    error_of(nowhere, 409, "no_phones")
    unknown = await admin.post("/batches", {"action": "restart", "macs": [a_mac(1), a_mac(9)]})
    error_of(unknown, 404, "not_found")
    assert a_mac(9) in unknown.json()["message"]
    assert data_of(await admin.get("/batches")) == []
