"""A rollout of a changed template to a floor of simulated phones, and the count of what reached
them, beside the records."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from faults.desk import Desk
from faults.exchange import Exchange
from faults.served import Served
from faults.test_batch_crashes import Asked, file_of, over
from support.phone_records import a_phone
from support.polling import until

BODY = "<device>\n<name>{{ phone.hex }}</name>\n<load>old</load>\n</device>"


def device_of(mac: str) -> str:
    """The name of a phone at the exchange."""
    return file_of(mac).partition(".")[0]


@dataclass
class Rollout:
    """A floor with a rollout of a changed template."""

    served: Served
    outside: Desk
    exchange: Exchange
    phones: int
    first: int
    token: str = ""
    uuid: str = ""
    before: dict[str, bytes] = field(default_factory=dict)
    earlier: set[str] = field(default_factory=set)
    changed: str | None = None

    @asynccontextmanager
    async def asking(self) -> AsyncIterator[Asked]:
        """A connection to the service."""
        async with self.served.line() as line:
            yield Asked(line, self.token)

    async def prepare(self) -> None:
        """Switch each phone to a profile with the template, and change the template."""
        self.token = await self.served.token()
        async with self.served.direct() as direct, direct.database.write() as tx:
            for number in range(1, self.phones + 1):
                fields = {"phone_ip": f"127.0.0.{number % 20 + 1}", "location": "floor"}
                await tx.phones.add(a_phone(number, software_type="SCCP", **fields))
        async with self.asking() as ask:
            template = {"name": "office", "body": BODY}
            made = (await ask("POST", "/configuration-templates", template))["uuid"]
            me = (await ask("GET", "/me"))["uuid"]
            profile = {"user_uuid": me, "name": "Floor", "template": "office"}
            floor = (await ask("POST", "/phone-profiles", profile))["uuid"]
            new = {"action": "switch", "location": "floor", "profile_uuid": floor, "at_once": 10}
            for _ in range(3):  # a busy machine is late with some of them
                batch = await over(ask, (await ask("POST", "/batches", new))["uuid"])
                if batch["phones"]["done"] == self.phones:
                    break
                new["only_changed"] = True
            failed = await ask("GET", f"/batches/{batch['uuid']}/phones?state=failed")
            assert not failed, failed[0]
            changed = {"body": BODY.replace("old", "new")}
            await ask("PUT", f"/configuration-templates/{made}", changed)
            self.earlier = {one["uuid"] for one in await ask("GET", "/deployments")}
        self.before = self.files()
        assert len(self.before) == self.phones
        self.outside.uploads.clear()
        self.exchange.restarts.clear()
        self.outside.pause = 0.02

    async def begin(self, **fields: Any) -> None:
        """Start the rollout."""
        new = {"action": "switch", "template": "office", "at_once": 2, "undo_on_stop": True}
        async with self.asking() as ask:
            batch = await ask("POST", "/batches", {**new, "first": self.first, **fields})
        self.uuid = batch["uuid"]

    def files(self) -> dict[str, bytes]:
        """The files on the FTP server."""
        return {path.name: path.read_bytes() for path in self.outside.folder.glob("SEP*")}

    async def uploads(self, count: int) -> None:
        """Wait for ``count`` uploads of the rollout."""
        await until(lambda: self.outside.uploads.total() >= count, 60)

    async def restarted(self, count: int) -> None:
        """Wait for ``count`` restarts of the rollout."""
        await until(lambda: self.exchange.restarts.total() >= count, 60)

    async def change_by_hand(self, mac: str) -> None:
        """Another profile for a phone of the rollout."""
        async with self.asking() as ask:
            me = (await ask("GET", "/me"))["uuid"]
            profile = {"user_uuid": me, "name": "By hand", "cnf_xml": "<device>hand</device>"}
            uuid = (await ask("POST", "/phone-profiles", profile))["uuid"]
            await ask("POST", "/phone-profiles/switch", {"profile_uuid": uuid, "mac": mac})
        self.changed = mac

    async def check(self, expected: str) -> None:
        """Wait for the end, and compare all that is recorded with what the servers saw."""
        async with self.asking() as ask:
            batch = await over(ask, self.uuid)
            undo = batch["undone_by"] and await over(ask, batch["undone_by"])
            records = await ask("GET", "/deployments?limit=1000")
            phones = await ask("GET", f"/batches/{self.uuid}/phones")
            undone = await ask("GET", f"/batches/{undo['uuid']}/phones") if undo else []
        assert batch["state"] in expected.split(" or "), batch["message"]
        if batch["state"] == "done":
            assert (batch["phones"]["done"], undo) == (self.phones, None)
            expected_files = {
                name: content.replace(b"old", b"new") for name, content in self.before.items()
            }
        else:
            assert batch["phones"]["done"] + batch["phones"]["left_out"] == self.phones
            assert undo["state"] == "done"
            expected_files = dict(self.before)
        if self.changed:
            expected_files[file_of(self.changed)] = b"<device>hand</device>"
        assert self.files() == expected_files
        self._check_counts(records, phones, undone)
        assert self.outside.overlaps == []

    def _check_counts(self, records: list[Any], phones: list[Any], undone: list[Any]) -> None:
        interrupted = Counter(one["mac"] for one in records if one["outcome"] == "interrupted")
        assert {one["outcome"] for one in records} <= {"deployed", "interrupted"}
        wanted = Counter(phone["mac"] for phone in phones if phone["deployment_uuid"])
        wanted += Counter(phone["mac"] for phone in undone if phone["state"] == "done")
        for phone in phones:
            mac = phone["mac"]
            by_hand = mac == self.changed
            uploads = self.outside.uploads[file_of(mac)] - by_hand
            restarts = self.exchange.restarts[file_of(mac).partition(".")[0]] - by_hand
            seen = (mac, wanted[mac], uploads, restarts, interrupted[mac])
            # Nothing is sent more often than once and once again for each interruption.
            assert wanted[mac] <= uploads <= wanted[mac] + interrupted[mac], seen
            assert wanted[mac] <= restarts <= wanted[mac] + interrupted[mac], seen
        left = {phone["mac"] for phone in undone if phone["state"] == "left_out"}
        assert left == ({self.changed} if self.changed else set())
