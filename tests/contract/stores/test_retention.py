"""The contract of ``RetentionStore``."""

from typing import Any

import pytest

from contract.stores.test_audit import an_entry
from phoneprov_core.features.batches.model import BatchState
from phoneprov_core.features.batches.ports import BatchItem
from phoneprov_core.features.fleet.states import FleetState, SeenPhone
from phoneprov_core.features.retention import Expiring, Moment, Place
from phoneprov_core.people.throttle import Attempts
from phoneprov_core.switching.deployments.model import DeploymentFilter, Outcome
from phoneprov_core.switching.deployments.ports import rollback_target
from support.phone_records import a_batch, a_deployment, a_fetch, a_phone, a_profile, a_revision
from support.records import OWNER, a_mac, a_session, a_user, identifier, moment
from support.store_tests import DatabaseTests, existing

PROFILE = a_profile(800)
LATE = moment(5000)


class TestRetention(DatabaseTests):
    """The contract of ``RetentionStore``."""

    async def revisions(self) -> list[int]:
        """The numbers of the revisions of the profile."""
        async with self.database.read() as tx:
            return [one.number for one in await tx.revisions.rows(99, owner=PROFILE.uuid)]

    async def pruned(self, kind: Expiring, before: Moment, limit: int = 2) -> list[int]:
        """The numbers of removed records, piece by piece; ``look`` announced each."""
        removed: list[int] = []
        after: Place | None = None
        while True:
            async with self.database.read() as tx:
                piece = await tx.retention.look(kind, before, limit, after=after)
                assert piece == await tx.retention.look(kind, before, limit, after=after)
            if piece is None:
                return removed
            count = 0
            for part in piece.parts():
                async with self.database.write() as tx:
                    count += await tx.retention.remove(kind, before, part, after=after)
            assert count == piece.removable
            removed.append(count)
            after = piece.last

    async def add_deployment(
        self, uuid: int, phone: int, number: int, revision: int, **changes: Any
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
        await self.add(a_deployment(uuid, a_mac(phone), **(values | changes)))

    async def arrange(self) -> None:
        await self.add(a_user(900), PROFILE)

    @pytest.mark.parametrize("kind", Expiring)
    async def test_empty_database_has_no_piece(self, kind: Expiring) -> None:
        before = 9_000 if kind in {Expiring.SESSIONS, Expiring.ATTEMPTS} else LATE
        assert await self.pruned(kind, before) == []

    async def test_ended_batches_are_removed_with_their_phones(self) -> None:
        ended: dict[str, Any] = {"state": BatchState.DONE}
        async with self.database.write() as tx:
            for batch in (
                a_batch(1, **ended, ended_at=moment(10)),
                a_batch(2, **ended, ended_at=moment(40)),
                a_batch(3),
            ):
                await tx.batches.add(batch)
                phone = BatchItem(batch.uuid, 1, a_mac(1), identifier(10_000))
                await tx.batches.add_phones([phone])

        assert await self.pruned(Expiring.BATCHES, moment(40)) == [1]

        async with self.database.read() as tx:
            found = [await tx.batches.find(identifier(number)) for number in (1, 2, 3)]
        assert [batch is None for batch in found] == [True, False, False]

    async def test_fetches_before_the_time_are_removed(self) -> None:
        await self.add(*(a_fetch(number) for number in range(1, 6)))

        assert await self.pruned(Expiring.FETCHES, moment(4)) == [2, 1]

        left = await self.read(lambda tx: tx.fetches.newest(a_mac(1), 9))
        assert [fetch.uuid for fetch in left] == [identifier(5), identifier(4)]

    async def test_audit_entries_before_the_time_are_removed(self) -> None:
        await self.add(*(an_entry(number, at=moment(number)) for number in range(1, 6)))

        assert await self.pruned(Expiring.AUDIT, moment(4)) == [2, 1]

        assert [entry.at for entry in await self.recorded()] == [moment(4), moment(5)]

    async def test_unneeded_revisions_are_removed(self) -> None:
        """1 is named by a deployment, 2 by a running batch, 3 by one that ended; 5 replaced 4
        recently."""
        made = {1: 1, 2: 2, 3: 3, 4: 4, 5: 60, 6: 70}
        async with self.database.write() as tx:
            for number, at in made.items():
                revision = a_revision(
                    10 + number, PROFILE, number=number, created_at=moment(at), cnf_xml="<a/>"
                )
                await tx.revisions.add(revision, "<a/>")
            await tx.batches.add(a_batch(70, profile_uuid=PROFILE.uuid, revision=2))
            ended: dict[str, Any] = {"state": BatchState.DONE, "ended_at": moment(9)}
            await tx.batches.add(a_batch(71, profile_uuid=PROFILE.uuid, revision=3, **ended))
        await self.add_deployment(1, 1, 1, 1)

        assert sum(await self.pruned(Expiring.REVISIONS, moment(50))) == 1
        assert await self.revisions() == [1, 2, 4, 5, 6]

        assert sum(await self.pruned(Expiring.REVISIONS, LATE)) == 2
        assert await self.revisions() == [1, 2, 6]

    async def test_ended_and_expired_sessions_are_removed(self) -> None:
        await self.add(
            a_session(1, OWNER, created_at=1, expires_at=100, ends_at=900),
            a_session(2, OWNER, created_at=1, expires_at=900, ends_at=100),
            a_session(3, OWNER, created_at=1, expires_at=500, ends_at=900),
        )

        assert sum(await self.pruned(Expiring.SESSIONS, 500)) == 2

        assert await self.write(lambda tx: tx.sessions.end(identifier(3)))

    async def test_old_attempts_for_unknown_names_are_removed(self) -> None:
        async with self.database.write() as tx:
            await tx.attempts.keep("old", Attempts(failures=2, first_at=1, last_at=99))
            await tx.attempts.keep("known", Attempts(failures=2, first_at=1, last_at=99, known=1))
            await tx.attempts.keep("new", Attempts(failures=2, first_at=1, last_at=100))

        assert sum(await self.pruned(Expiring.ATTEMPTS, 100)) == 1

        async with self.database.write() as tx:
            assert (await tx.attempts.of("old")).failures == 0
            assert (await tx.attempts.of("known")).failures == 2
            assert (await tx.attempts.of("new")).failures == 2

    async def test_changes_of_states_are_removed_but_for_the_newest_of_a_phone(self) -> None:
        """One phone changed at 1 to 4 and 90, another at 2 and 3."""
        changes = [(1, at) for at in (1, 2, 3, 4, 90)] + [(2, 2), (2, 3)]
        await self.add(a_phone(1), a_phone(2))
        async with self.database.write() as tx:
            for phone, at in changes:
                seen = SeenPhone(a_mac(phone), FleetState.FINE, moment(at))
                await tx.fleet.put(seen, is_change=True)

        assert sum(await self.pruned(Expiring.STATES, moment(4))) == 4

        async with self.database.read() as tx:
            left = [[one.at for one in await tx.fleet.history(a_mac(n), 9)] for n in (1, 2)]
        assert left == [[moment(90), moment(4)], [moment(3)]]

    async def test_state_at_the_moment_is_kept_with_the_later_ones(self) -> None:
        await self.add(a_phone(1))
        async with self.database.write() as tx:
            for at in (1, 3, 5):
                seen = SeenPhone(a_mac(1), FleetState.FINE, moment(at))
                await tx.fleet.put(seen, is_change=True)

        assert sum(await self.pruned(Expiring.STATES, moment(4))) == 1

        async with self.database.read() as tx:
            left = [one.at for one in await tx.fleet.history(a_mac(1), 9)]
        assert left == [moment(5), moment(3)]

    async def test_numbers_of_days_are_removed_but_not_how_far_they_are_counted(self) -> None:
        for number, day in enumerate(("2026-01-01", "2026-01-02", "2026-01-03"), 1):
            at = f"{day}T10:00:00.000Z"
            for outcome in (Outcome.DEPLOYED, Outcome.FAILED):
                count = 10 * number + (outcome is Outcome.FAILED)
                await self.add_deployment(count, count, 1, 1, outcome=outcome, created_at=at)
        for begin, until in (("2026-01-01", "2026-01-02"), ("2026-01-02", "2026-01-04")):
            async with self.database.write() as tx:
                await tx.fleet.sum_days(begin, until)

        # Two days, and the row that says that one was counted.
        assert await self.pruned(Expiring.DAYS, "2026-01-02T12:00:00.000Z") == [2, 2, 1]
        assert sum(await self.pruned(Expiring.DAYS, "2027-01-01T00:00:00.000Z")) == 2

        async with self.database.read() as tx:
            assert await tx.fleet.summed_until() == "2026-01-04"
            assert await tx.fleet.days("2026-01-01", "2026-01-09") == {}

    async def test_look_is_bounded_and_continues_after_a_position(self) -> None:
        await self.add(*(a_fetch(number) for number in range(1, 6)))

        places = []
        after: Place | None = None
        async with self.database.read() as tx:
            while piece := await tx.retention.look(Expiring.FETCHES, LATE, 2, after=after):
                places.append((piece.last[-1], piece.removable))
                after = piece.last
        assert places == [(identifier(2), 2), (identifier(4), 2), (identifier(5), 1)]

    async def _numbers(self, phone: int) -> list[int]:
        async with self.database.read() as tx:
            found = tx.deployments.matching(DeploymentFilter(mac=a_mac(phone)))
            return [one.number for one in await found.rows(99)]

    async def test_deployments_current_and_rollback_targets_are_kept(self) -> None:
        """A phone had the revisions 1 to 6 and again 5; another alternates between two."""
        for number, revision in enumerate((1, 2, 3, 4, 5, 6, 5), 1):
            await self.add_deployment(number, 1, number, revision)
        for number, revision in enumerate((1, 2, 1, 2, 1), 1):
            await self.add_deployment(20 + number, 2, number, revision)

        assert sum(await self.pruned(Expiring.DEPLOYMENTS, LATE)) == 6

        assert await self._numbers(1) == [3, 4, 6, 7]
        assert await self._numbers(2) == [4, 5]
        async with self.database.read() as tx:
            current = existing(await tx.deployments.current(a_mac(1)))
            assert existing(await tx.deployments.previous(current)).number == 6

    @pytest.mark.parametrize("size", [7, 9])
    async def test_deployments_rollback_target_stays_before_many_equal_texts(
        self, size: int
    ) -> None:
        """Revision 1 has another text than the eight that followed, which have the same one."""
        text: dict[str, Any] = {"sha256": "b" * 64, "size": 7}
        await self.add_deployment(1, 1, 1, 1, size=size)
        await self.add_deployment(2, 1, 2, 1, size=size, outcome=Outcome.UNKNOWN)
        for number in range(3, 11):
            await self.add_deployment(number, 1, number, number, **text)
        target = existing(await self.read(lambda tx: rollback_target(tx.deployments, a_mac(1))))
        assert target.number == 1

        assert sum(await self.pruned(Expiring.DEPLOYMENTS, LATE, limit=3)) == 5

        assert await self._numbers(1) == [1, 7, 8, 9, 10]
        assert await self.read(lambda tx: rollback_target(tx.deployments, a_mac(1))) == target

    async def test_deployments_since_look_are_not_removed(self) -> None:
        text: dict[str, Any] = {"sha256": "b" * 64, "size": 7}
        await self.add_deployment(1, 1, 1, 1, size=7)
        for number in range(2, 8):
            await self.add_deployment(number, 1, number, number, **text)
        piece = existing(
            await self.read(lambda tx: tx.retention.look(Expiring.DEPLOYMENTS, LATE, 9))
        )
        await self.add_deployment(8, 1, 8, 8, **text)

        # What the deployment of 8 made unneeded, another pass removes.
        removed = await self.write(
            lambda tx: tx.retention.remove(Expiring.DEPLOYMENTS, LATE, piece)
        )
        assert (removed, piece.keys) == (2, (identifier(3), identifier(2)))
        assert await self._numbers(1) == [1, 4, 5, 6, 7, 8]
        assert sum(await self.pruned(Expiring.DEPLOYMENTS, LATE)) == 1
        assert await self._numbers(1) == [1, 5, 6, 7, 8]

    async def test_piece_has_all_deployments_of_its_phones(self) -> None:
        for phone, count in ((1, 5), (2, 1), (3, 2), (4, 7), (5, 1)):
            for number in range(1, count + 1):
                await self.add_deployment(100 * phone + number, phone, number, 1)

        places, after = [], None
        async with self.database.read() as tx:
            while piece := await tx.retention.look(Expiring.DEPLOYMENTS, LATE, 4, after=after):
                places.append((piece.last, piece.removable))
                after = piece.last

        assert [removable for _, removable in places if removable] == [4, 1, 6]
        assert places[-1][0] == (a_mac(5),)

    @pytest.mark.parametrize(
        ("outcomes", "left"),
        [
            # Without a file, unless it is running.
            ([(Outcome.DEPLOYED, "f"), (Outcome.FAILED, None), (Outcome.RUNNING, None),
              (Outcome.UNKNOWN, "f")], [1, 3, 4]),
            # The newest of a phone.
            ([(Outcome.FAILED, None), (Outcome.FAILED, None)], [2]),
        ],
    )  # fmt: skip
    async def test_deployments_without_a_file_are_removed_unless_running_or_newest(
        self, outcomes: list[tuple[Outcome, str | None]], left: list[int]
    ) -> None:
        for number, (outcome, place) in enumerate(outcomes, 1):
            await self.add_deployment(number, 1, number, number, outcome=outcome, place=place)

        assert sum(await self.pruned(Expiring.DEPLOYMENTS, LATE)) == 1

        assert await self._numbers(1) == left

    async def test_deployments_younger_than_the_limit_are_kept(self) -> None:
        for number in range(1, 10):
            await self.add_deployment(number, 1, number, number)

        assert await self.pruned(Expiring.DEPLOYMENTS, moment(4)) == [2]

        # The third one was on the phone until the fourth.
        assert await self._numbers(1) == list(range(3, 10))
