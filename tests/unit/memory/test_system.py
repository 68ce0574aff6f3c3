"""The deterministic clock, identifiers and hasher."""

import asyncio
from datetime import UTC, datetime

import pytest

from phoneprov_adapters.memory.system import (
    CountingIds,
    FixedClock,
    PlainHasher,
    PlainTokens,
    await_directly,
)
from phoneprov_core.kernel.errors import Unauthenticated
from phoneprov_core.kernel.values import known_id, timestamp
from phoneprov_core.people.auth.model import Claims, TokenKind


def test_fixed_clock_moves_only_on_request() -> None:
    clock = FixedClock()
    assert clock() == clock()

    before = clock()
    clock.advance(1.5)
    assert (clock() - before).total_seconds() == 1.5

    clock.now = datetime(2030, 1, 1, tzinfo=UTC)
    assert timestamp(clock()) == "2030-01-01T00:00:00.000Z"


def test_identifiers_count_up_and_are_known() -> None:
    new_id = CountingIds()
    made = [new_id() for _ in range(20)]

    assert made[0] == "00000000-0000-4000-8000-000000000001"
    assert made == sorted(set(made))
    assert [known_id(uuid) for uuid in made] == made


async def test_plain_hash_contains_its_input() -> None:
    hash_ = await PlainHasher().hash("a$b$c")

    assert hash_.startswith("$plain$")
    assert hash_.endswith("a$b$c")


@pytest.mark.parametrize(
    "token",
    [
        "",
        "plain.",
        "plain.[]",
        'plain.{"typ":"at+jwt"}',
        'plain.{"typ":"at+jwt","sub":"u","sid":"s","jti":"t","iat":1,"exp":9e99}',
        'jwt.{"typ":"at+jwt","sub":"u","sid":"s","jti":"t","iat":0,"exp":9}',
        'plain.{"typ":"at+jwt","sub":"u","sid":"s","jti":"t","iat":0,"exp":9,"x":1}',
        "plain." + "[" * 100_000,
    ],
)
def test_invalid_token_is_unauthenticated(token: str) -> None:
    with pytest.raises(Unauthenticated):
        PlainTokens().read(TokenKind.ACCESS, token, 1000)


def test_token_is_readable() -> None:
    token = PlainTokens().issue(TokenKind.ACCESS, Claims("u", "s", "t", 1999, 9999))

    assert token == ('plain.{"typ":"at+jwt","sub":"u","sid":"s","jti":"t","iat":1,"exp":9}')


async def test_directly_awaited_work_is_cancelled_with_its_caller() -> None:
    ended: list[str] = []

    async def work() -> int:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cut off")
        return 1

    task = asyncio.create_task(await_directly(work()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert ended == ["cut off"]
    assert await await_directly(asyncio.sleep(0, 5)) == 5
