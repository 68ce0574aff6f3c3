"""Edits of many records say what happened when a part of the work fails."""

from dataclasses import replace
from typing import Any

import pytest

from phoneprov_adapters.api import InMemory
from phoneprov_core.features.transfer import edits
from phoneprov_core.features.transfer.edits import EditedKey, EditRecords, EditRequest
from phoneprov_core.inventory.phones.model import CreatePhone
from phoneprov_core.kernel.actor import NO_ORIGIN, Actor, Event, Replaced, Trail
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.people.audit_entries import entries

MACS = tuple(f"00:1B:D4:00:00:0{number}" for number in range(1, 5))


class GoesAway:
    """A database that is away from its third writing transaction on."""

    def __init__(self, database: Any, works: int = 2) -> None:
        self._database, self._works = database, works

    def read(self) -> Any:
        return self._database.read()

    def write(self, *, by: Actor) -> Any:
        if not self._works:
            raise Unavailable
        self._works -= 1
        return self._database.write(by=by)


async def editing(phoneprov: InMemory, **parts: Any) -> EditRecords:
    actor = phoneprov.system_actor()
    for mac in MACS:
        await phoneprov.phones.create(actor, CreatePhone(mac=mac))
    made = phoneprov.edit_records
    if works := parts.pop("works", None):
        away: Any = GoesAway(made.transfer.database, works)
        parts["transfer"] = replace(made.transfer, database=away)
    return replace(made, **parts)


def request(**fields: Any) -> EditRequest:
    return EditRequest(records=tuple(EditedKey(mac) for mac in MACS), **fields)


async def test_edit_whose_database_goes_away_names_what_is_written_and_what_is_not(
    phoneprov: InMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edits, "PIECE", 1)
    edit = await editing(phoneprov, works=2)
    actor = phoneprov.system_actor()

    edited = await edit(actor, "phones", request(location="Hall"))

    outcomes = [one.outcome for one in edited.records]
    assert outcomes == ["changed", "changed", "unknown", "refused"]
    assert (edited.written, edited.changed, edited.refused) == (True, 2, 1)
    places = [(await phoneprov.phones.get(actor, mac)).location for mac in MACS]
    assert places == ["Hall", "Hall", None, None]


async def test_edit_that_writes_nothing_raises_that_the_database_is_away(
    phoneprov: InMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edits, "PIECE", 1)
    edit = await editing(phoneprov, works=2)

    with pytest.raises(Unavailable):
        await edit(phoneprov.system_actor(), "phones", request(location="Hall", dry_run=True))


async def test_edit_whose_batch_cannot_start_says_so_and_stays_written(
    phoneprov: InMemory,
) -> None:
    async def no_batch(actor: Actor, macs: tuple[str, ...]) -> str:
        raise Unavailable

    edit = await editing(phoneprov, restart=no_batch)

    edited = await edit(phoneprov.system_actor(), "phones", request(location="Hall", restart=True))

    assert (edited.changed, edited.batch_uuid) == (4, None)
    assert edited.batch_problem == Unavailable.usual


async def test_edit_restarts_no_phone_that_it_makes_inactive(phoneprov: InMemory) -> None:
    started: list[tuple[str, ...]] = []

    async def batch(actor: Actor, macs: tuple[str, ...]) -> str:
        started.append(macs)
        return "5f0c6f0e-3b1f-4c0a-9d53-0b8a2f6f3c11"

    edit = await editing(phoneprov, restart=batch)

    edited = await edit(phoneprov.system_actor(), "phones", request(is_active=False, restart=True))

    assert (edited.changed, edited.restarts, started) == (4, 0, [])


def test_event_with_a_replaced_value_shows_both_values() -> None:
    trail = Trail(Actor("uuid", 0))
    trail.note(Event("phone.edited", "bulk_edit", "act", {"location": Replaced("Hall", "Roof")}))

    [one] = entries(trail, new_id=lambda: "1", now="", origin=NO_ORIGIN)

    assert one.entry.changes == {"location": {"old": "Hall", "new": "Roof"}}
