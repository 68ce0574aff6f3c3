"""Many writers of one record, in several processes, wait for each other; none fails."""

import asyncio
import time
from collections import Counter

from races.harness import WORKERS, Service
from races.wire import kept_open, replies
from support.records import a_mac
from support.scale import note, rounds, spread

WRITERS = 150
HELD = 2.8
"""Seconds for which another transaction holds the record: less than a statement may wait."""


async def test_writers_of_one_record_wait_and_none_fails(service: Service) -> None:
    times = []
    mac, path = a_mac(1), f"/phones/{a_mac(1)}"
    async with service.direct() as direct, service.lines(-(-WRITERS // WORKERS)) as lines:
        admin = await direct.account(level=0)
        (pair,) = await direct.sessions(admin.uuid)
        token = pair.access_token
        await kept_open(lines)
        made = await lines[0].ask("POST", "/phones", {"mac": mac}, token=token)
        assert made.status == 201
        for _ in range(rounds(1, 20)):
            await kept_open(lines)
            async with direct.database.write() as tx:
                phone = await tx.phones.find(mac)
                assert phone is not None
                await tx.phones.put(phone)
                began = time.perf_counter()
                for number, line in enumerate(lines):
                    line.send("PUT", path, {"name": f"desk {number}"}, token=token)
                await asyncio.sleep(HELD)
            answers = await replies(*lines)
            times.append(time.perf_counter() - began)

            assert Counter(answer.status for answer in answers) == {200: len(lines)}
        await lines[0].ask("DELETE", path, token=token)
    note(f"{WRITERS} writers of one record, {service.name}: {spread(times)}")
