"""The contract of ``RetentionStore``."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_asyncio

from phoneprov_adapters.testing.batches import a_batch
from phoneprov_adapters.testing.phone_records import a_deployment, a_profile, a_revision
from phoneprov_adapters.testing.records import a_mac, a_session, a_user, identifier, moment
from phoneprov_adapters.testing.stores.audit import an_entry, recorded
from phoneprov_core.auth.throttle import Attempts
from phoneprov_core.batches.model import BatchState
from phoneprov_core.batches.transitions import BatchItem
from phoneprov_core.deployments.model import Outcome
from phoneprov_core.provisioning.model import Fetch, FetchResult, Transport
from phoneprov_core.retention.model import Kept, Moment, Place
from phoneprov_core.stores import Database

OWNER = identifier(900)
PROFILE = a_profile(800, OWNER)
LATE = moment(5000)


async def pruned(database: Database, kind: Kept, before: Moment, limit: int = 2) -> list[int]:
    """The numbers of removed records, piece by piece; ``look`` announced each."""
    removed: list[int] = []
    after: Place | None = None
    while True:
        async with database.read() as tx:
            piece = await tx.retention.look(kind, before, limit, after=after)
            assert piece == await tx.retention.look(kind, before, limit, after=after)
        if piece is None:
            return removed
        async with database.write() as tx:
            removed.append(await tx.retention.remove(kind, before, piece, after=after))
        assert removed[-1] == piece.removable
        after = piece.last


class RetentionFixture:
    """A user with a profile."""

    @pytest_asyncio.fixture(autouse=True)
    async def _profile(self, database: Database) -> None:
        async with database.write() as tx:
            await tx.users.add(a_user(900))
            await tx.profiles.add(PROFILE)


@pytest.mark.asyncio
class RetentionContract(RetentionFixture):
    """The contract of ``RetentionStore``; see also ``DeploymentRetentionContract``."""

    @pytest.mark.parametrize("kind", Kept)
    async def test_empty_database_has_no_piece(self, database: Database, kind: Kept) -> None:
        before = 9_000 if kind in {Kept.SESSIONS, Kept.ATTEMPTS} else LATE
        assert await pruned(database, kind, before) == []

    async def test_ended_batches_are_removed_with_their_phones(self, database: Database) -> None:
        ended: dict[str, Any] = {"state": BatchState.DONE}
        async with database.write() as tx:
            for batch in (
                a_batch(1, **ended, ended_at=moment(10)),
                a_batch(2, **ended, ended_at=moment(40)),
                a_batch(3),
            ):
                await tx.batches.add(batch)
                phone = BatchItem(batch.uuid, 1, a_mac(1), identifier(10_000))
                await tx.batches.add_phones([phone])

        assert await pruned(database, Kept.BATCHES, moment(40)) == [1]

        async with database.read() as tx:
            found = [await tx.batches.find(identifier(number)) for number in (1, 2, 3)]
        assert [batch is None for batch in found] == [True, False, False]

    async def test_fetches_before_the_time_are_removed(self, database: Database) -> None:
        async with database.write() as tx:
            for number in range(1, 6):
                await tx.fetches.add(_fetch(number))

        assert await pruned(database, Kept.FETCHES, moment(4)) == [2, 1]

        async with database.read() as tx:
            left = await tx.fetches.newest(a_mac(1), 9)
        assert [fetch.uuid for fetch in left] == [identifier(5), identifier(4)]

    async def test_audit_entries_before_the_time_are_removed(self, database: Database) -> None:
        async with database.write() as tx:
            for number in range(1, 6):
                await tx.audit.add(an_entry(number, at=moment(number)))

        assert await pruned(database, Kept.AUDIT, moment(4)) == [2, 1]

        assert [entry.at for entry in await recorded(database)] == [moment(4), moment(5)]

    async def test_unneeded_revisions_are_removed(self, database: Database) -> None:
        """1 is named by a deployment, 2 by a running batch, 3 by one that ended; 5 replaced 4
        recently."""
        made = {1: 1, 2: 2, 3: 3, 4: 4, 5: 60, 6: 70}
        async with database.write() as tx:
            for number, at in made.items():
                revision = a_revision(
                    10 + number, PROFILE, number=number, created_at=moment(at), cnf_xml="<a/>"
                )
                await tx.revisions.add(revision, "<a/>")
            await tx.batches.add(a_batch(70, profile_uuid=PROFILE.uuid, revision=2))
            ended: dict[str, Any] = {"state": BatchState.DONE, "ended_at": moment(9)}
            await tx.batches.add(a_batch(71, profile_uuid=PROFILE.uuid, revision=3, **ended))
        await add_deployment(database, 1, 1, 1, 1)

        assert sum(await pruned(database, Kept.REVISIONS, moment(50))) == 1
        async with database.read() as tx:
            left = [one.number for one in await tx.revisions.rows(9, owner=PROFILE.uuid)]
        assert left == [1, 2, 4, 5, 6]

        assert sum(await pruned(database, Kept.REVISIONS, LATE)) == 2
        async with database.read() as tx:
            left = [one.number for one in await tx.revisions.rows(9, owner=PROFILE.uuid)]
        assert left == [1, 2, 6]

    async def test_ended_and_expired_sessions_are_removed(self, database: Database) -> None:
        async with database.write() as tx:
            for session in (
                a_session(1, OWNER, created_at=1, expires_at=100, ends_at=900),
                a_session(2, OWNER, created_at=1, expires_at=900, ends_at=100),
                a_session(3, OWNER, created_at=1, expires_at=500, ends_at=900),
            ):
                await tx.sessions.start(session)

        assert sum(await pruned(database, Kept.SESSIONS, 500)) == 2

        async with database.write() as tx:
            assert await tx.sessions.end(identifier(3))

    async def test_old_attempts_for_unknown_names_are_removed(self, database: Database) -> None:
        async with database.write() as tx:
            await tx.attempts.keep("old", Attempts(failures=2, first_at=1, last_at=99))
            await tx.attempts.keep("known", Attempts(failures=2, first_at=1, last_at=99, known=1))
            await tx.attempts.keep("new", Attempts(failures=2, first_at=1, last_at=100))

        assert sum(await pruned(database, Kept.ATTEMPTS, 100)) == 1

        async with database.write() as tx:
            assert (await tx.attempts.of("old")).failures == 0
            assert (await tx.attempts.of("known")).failures == 2
            assert (await tx.attempts.of("new")).failures == 2

    async def test_look_is_bounded_and_continues_after_a_position(self, database: Database) -> None:
        async with database.write() as tx:
            for number in range(1, 6):
                await tx.fetches.add(_fetch(number))

        places = []
        after: Place | None = None
        async with database.read() as tx:
            while piece := await tx.retention.look(Kept.FETCHES, LATE, 2, after=after):
                places.append((piece.last[-1], piece.removable))
                after = piece.last
        assert places == [(identifier(2), 2), (identifier(4), 2), (identifier(5), 1)]


async def add_deployment(
    database: Database, uuid: int, phone: int, number: int, revision: int, **changes: Any
) -> None:
    """Record a deployment of a revision to a phone."""
    values: dict[str, Any] = {
        "number": number,
        "revision": revision,
        "sha256": f"{revision:064}",
        "profile_uuid": PROFILE.uuid,
        "outcome": Outcome.DEPLOYED,
        "place": "there",
    }
    async with database.write() as tx:
        await tx.deployments.add(a_deployment(uuid, a_mac(phone), **(values | changes)))


def _fetch(number: int) -> Fetch:
    return Fetch(
        uuid=identifier(number),
        mac=a_mac(1),
        name="SEP001BD4000001.cnf.xml",
        transport=Transport.TFTP,
        client_ip="10.20.30.40",
        result=FetchResult.SERVED,
        bytes=1,
        duration_ms=1,
        created_at=moment(number),
    )
