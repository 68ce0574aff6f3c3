"""The contract of ``AuditStore``; see also ``TestTrail``."""

import itertools
import random
from typing import Any

import msgspec

from phoneprov_core.kernel.actor import Actor, Event, Origin, belonging_to
from phoneprov_core.people.audit import AuditEntry, TracedEntry, WantedEntries
from support.phone_records import a_phone
from support.records import identifier, moment
from support.store_tests import DatabaseTests

ADA = Actor(identifier(77), 0, "10.0.0.7", username="ada")
TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def an_entry(number: int, **changes: Any) -> TracedEntry:
    """An audit entry."""
    entry = AuditEntry(
        uuid=identifier(number),
        at=moment(number),
        actor_uuid=identifier(77),
        actor="ada",
        token="nightly",
        client_ip="10.0.0.7",
        request_id="r-1",
        action="phone.updated",
        resource="phone",
        resource_id="00:1B:D4:12:34:56",
        changes={"name": {"old": None, "new": "\u00e9 'a' \"b\""}, "password": "changed"},
    )
    return TracedEntry(msgspec.structs.replace(entry, **changes), TRACEPARENT)


class TestAudit(DatabaseTests):
    """The contract of ``AuditStore``; see also ``TestTrail``."""

    async def test_entry_added_is_found(self) -> None:
        plain = an_entry(1)
        empty = TracedEntry(
            msgspec.structs.replace(
                plain.entry,
                uuid=identifier(2),
                actor_uuid=None,
                actor=None,
                client_ip=None,
                request_id=None,
                resource_id=None,
                changes={},
            )
        )
        await self.add(plain, empty)
        async with self.database.read() as tx:
            assert await tx.audit.find(identifier(1)) == plain
            assert await tx.audit.find(identifier(2)) == empty
            assert await tx.audit.find(identifier(3)) is None
            assert await tx.audit.find("") is None

    async def test_entries_newest_first_page_by_before(self) -> None:
        made = [an_entry(number, at=moment(number // 2)) for number in range(1, 8)]
        await self.add(*made[::2] + made[1::2])
        expected = [identifier(number) for number in range(7, 0, -1)]
        shown: list[str] = []
        last: AuditEntry | None = None
        async with self.database.read() as tx:
            while page := await tx.audit.newest(WantedEntries(), 3, before=last):
                shown += [one.entry.uuid for one in page]
                last = page[-1].entry
        assert shown == expected

    async def test_combined_filters_show_the_same_as_all_entries_filtered(self) -> None:
        luck = random.Random(3)
        values: dict[str, tuple[Any, ...]] = {
            "actor_uuid": (identifier(77), identifier(78), None),
            "resource": ("phone", "phones", "user"),
            "action": ("phone.updated", "phone.updated_", "login.failed"),
            "resource_id": ("a", "b", None),
        }
        made = [
            an_entry(
                number,
                at=moment(number // 3),
                **{name: luck.choice(some) for name, some in values.items()},
            )
            for number in range(1, 120)
        ]
        await self.add(*made)
        choices = ((None, *filter(None, some)) for some in values.values())
        for chosen in itertools.product(*choices, (None, moment(30)), (None, moment(9))):
            names = (*values, "until", "since")
            wanted = {n: value for n, value in zip(names, chosen, strict=True) if value}
            expected = [
                one
                for one in reversed(made)
                if wanted.get("since", "") <= one.entry.at < wanted.get("until", "3")
                and all(getattr(one.entry, n) == wanted[n] for n in values if n in wanted)
            ]
            async with self.database.read() as tx:
                first = await tx.audit.newest(WantedEntries(**wanted), 2)
                rest = first and await tx.audit.newest(
                    WantedEntries(**wanted), 200, before=first[-1].entry
                )
            assert [*first, *rest] == expected, wanted

    async def test_entry_names_actor_address_and_request(self) -> None:
        with belonging_to(Origin("r-9", TRACEPARENT, "10.0.0.8")):
            async with self.database.write(by=ADA) as tx:
                await tx.phones.add(a_phone(1))
                tx.trail.note(Event("phone.switched", "phone", a_phone(1).mac, {"revision": 3}))
        found = await self.read(lambda tx: tx.audit.newest(WantedEntries(), 9))
        assert {one.traceparent for one in found} == {TRACEPARENT}
        for one in found:
            entry = one.entry
            assert (entry.actor_uuid, entry.actor) == (ADA.user_uuid, "ada")
            assert (entry.client_ip, entry.request_id) == ("10.0.0.7", "r-9")
        assert len({one.entry.uuid for one in found}) == 2
        (event,) = await self.recorded(action="phone.switched")
        assert event.changes == {"revision": {"old": None, "new": 3}}
