"""The next start after a kill during a batch completes the batch: no phone is done twice, none is
forgotten."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

from faults.desk import Desk, desk
from faults.served import Served
from races.wire import Line
from support.polling import until
from support.records import a_mac
from support.scale import note, rounds

PHONES = rounds(10, 60)


class Asked:
    """Sends requests as an account with level 0."""

    def __init__(self, line: Line, token: str) -> None:
        self._line = line
        self._token = token

    async def __call__(self, method: str, path: str, body: object = None) -> Any:
        reply = await self._line.ask(method, path, body, token=self._token)
        assert reply.status in {200, 201, 202}, reply.envelope
        return reply.data


async def create_floor(ask: Asked) -> str:
    """The phones, and a profile for all of them; its uuid."""
    for number in range(1, PHONES + 1):
        phone = {"mac": a_mac(number), "phone_ip": "127.0.0.1", "location": "floor"}
        await ask("POST", "/phones", phone)
    me = (await ask("GET", "/me"))["uuid"]
    profile = {"user_uuid": me, "name": "The floor", "cnf_xml": "<device/>"}
    return str((await ask("POST", "/phone-profiles", profile))["uuid"])


def file_of(mac: str) -> str:
    """The file name of a phone."""
    return f"SEP{mac.replace(':', '')}.cnf.xml"


async def over(ask: Asked, uuid: str, seconds: float = rounds(60, 1200)) -> Any:
    """Wait for the end of the batch; the batch."""

    async def ended() -> Any:
        batch = await ask("GET", f"/batches/{uuid}")
        if batch["ended_at"] is not None:
            return batch
        await asyncio.sleep(0.1)
        return None

    return await until(ended, seconds)


async def put_in_place(outside: Desk, count: int) -> None:
    """Wait for ``count`` uploads."""
    await until(lambda: outside.uploads.total() >= count)


async def test_batch_of_a_killed_process_is_completed(served: Served, tmp_path: Path) -> None:
    kills = rounds(1, 15)
    again = 0
    async with desk(tmp_path / "files") as outside:
        outside.pause = 0.02
        served.environment |= outside.settings()
        await asyncio.to_thread(served.start)
        token = await served.token()
        async with served.line() as line:
            ask = Asked(line, token)
            new = {"action": "switch", "location": "floor", "at_once": 3}
            new["profile_uuid"] = await create_floor(ask)
            uuid = (await ask("POST", "/batches", new))["uuid"]
        for turn in range(1, kills + 1):
            await put_in_place(outside, PHONES * turn // (kills + 1))
            served.kill()
            await outside.hung_up()
            for number in range(1, PHONES + 1):
                outside.forget(file_of(a_mac(number)))
            await asyncio.to_thread(served.start)
        async with served.line() as line:
            ask = Asked(line, token)
            batch = await over(ask, uuid)
            records = await ask("GET", "/deployments")
            phones = await ask("GET", f"/batches/{uuid}/phones")
    assert (batch["state"], batch["phones"]["done"]) == ("done", PHONES)
    outcomes = Counter((record["mac"], record["outcome"]) for record in records)
    for phone in phones:
        mac = phone["mac"]
        assert outcomes[mac, "deployed"] == 1
        # An upload was repeated only after its interruption.
        assert 1 <= outside.uploads[file_of(mac)] <= 1 + outcomes[mac, "interrupted"]
        assert phone["deployment_uuid"] in {record["uuid"] for record in records}
        again += outcomes[mac, "interrupted"]
    assert {outcome for _, outcome in outcomes} <= {"deployed", "interrupted"}
    assert again <= 3 * kills
    assert outside.overlaps == []
    note(
        f"a batch of {PHONES} phones, its process killed {kills} times: every phone done, "
        f"{again} repeated, all of them after an interruption"
    )
