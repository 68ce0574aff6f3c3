"""Five guesses at a password are verified, for any number of processes. A user with the right
password can still log in."""

from collections import Counter
from pathlib import Path

import msgspec
import pytest

from phoneprov_core.people.throttle import GUESSES, account_key
from races.direct import PASSWORD, Direct
from races.harness import WORKERS, Service, running
from races.wire import Line, Reply, kept_open, replies
from support.scale import note, rounds

WRONG = "incorrect horse battery"


async def all_at_once(lines: list[Line], username: str, password: str) -> list[Reply]:
    await kept_open(lines)
    for line in lines:
        line.send("POST", "/auth/login", {"username": username, "password": password})
    return await replies(*lines)


async def log_in(line: Line, username: str, password: str = PASSWORD) -> Reply:
    (reply,) = await all_at_once([line], username, password)
    return reply


async def failures(direct: Direct, username: str) -> int:
    async with direct.database.read() as tx:
        return (await tx.attempts.of(account_key(username))).failures


async def expire_lock(direct: Direct, username: str) -> None:
    """Wait for the end of a lock."""
    async with direct.database.write() as tx:
        attempts = await tx.attempts.of(account_key(username))
        await tx.attempts.keep(
            account_key(username), msgspec.structs.replace(attempts, locked_until=0)
        )


async def test_concurrent_guesses_five_are_verified(service: Service) -> None:
    count = rounds(60, 200)
    for _ in range(rounds(1, 20)):
        async with service.direct() as direct, service.lines(count // WORKERS) as lines:
            ada = await direct.account()
            for name in (ada.username, f"unknown {ada.username}"):
                answers = await all_at_once(lines, name, WRONG)

                assert Counter(a.status for a in answers) == {401: GUESSES, 429: count - GUESSES}
                for answer in answers:
                    if answer.status == 429:
                        assert 1 <= int(answer.headers["retry-after"]) <= 30
                        assert answer.code == "too_many_attempts"
                assert await failures(direct, name) == GUESSES
                # From now on even the right password is not verified.
                answers = await all_at_once(lines[:16], name, PASSWORD)
                assert {answer.status for answer in answers} == {429}
    note(
        f"guesses, {service.name}: {count} at once over {WORKERS} processes, {GUESSES} verified, "
        f"{count - GUESSES} refused with 429, the same for known and unknown names"
    )


async def test_correct_password_among_guesses_counts_as_one_of_five(service: Service) -> None:
    async with service.direct() as direct, service.lines(20 // WORKERS) as lines:
        ada = await direct.account()
        wrong, right = lines[:GUESSES], lines[GUESSES:]
        first = await all_at_once(wrong, ada.username, WRONG)
        then = await all_at_once(right, ada.username, PASSWORD)

    assert [answer.status for answer in first] == [401] * GUESSES
    assert {answer.status for answer in then} == {429}


@pytest.mark.parametrize("wrong_before", [0, GUESSES - 1])
async def test_concurrent_correct_logins_all_succeed(service: Service, wrong_before: int) -> None:
    """Several programs of one user may log in at the same time."""
    statuses = Counter[int]()
    async with service.direct() as direct, service.lines(16 // WORKERS) as lines:
        for _ in range(rounds(1, 50)):
            ada = await direct.account()
            for line in lines[:wrong_before]:
                assert (await log_in(line, ada.username, WRONG)).status == 401
            answers = await all_at_once(lines, ada.username, PASSWORD)
            statuses.update(answer.status for answer in answers)

            assert {answer.status for answer in answers} == {200}
            assert await failures(direct, ada.username) == 0
    note(
        f"right logins of one account, {service.name}: {len(lines)} at once over {WORKERS} "
        f"processes, {wrong_before} wrong ones before: {dict(statuses)}"
    )


async def test_locked_account_is_locked_in_a_new_process(service: Service, tmp_path: Path) -> None:
    async with service.direct() as direct:
        ada = await direct.account()
        async with service.lines(GUESSES) as lines:
            await all_at_once(lines[:GUESSES], ada.username, WRONG)
        with running(tmp_path, service.settings.database_url, 1) as later:
            async with later.lines(1) as (line,):
                assert (await log_in(line, ada.username)).status == 429

                await expire_lock(direct, ada.username)
                assert (await log_in(line, ada.username, WRONG)).status == 401
                again = await log_in(line, ada.username)
                assert again.status == 429
                # The second lock lasts longer than the first one of 30 seconds.
                assert 30 < int(again.headers["retry-after"]) <= 60

                await expire_lock(direct, ada.username)
                assert (await log_in(line, ada.username)).status == 200
                assert await failures(direct, ada.username) == 0
    note(f"a locked login, {service.name}: locked after a start too")
