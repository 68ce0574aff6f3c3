"""The second use of a refresh token."""

import pytest

from phoneprov_core.people.auth.model import Exchange, Session

SESSION = Session("s", "ada", "t2", 0, 9000, 9000, previous_token_id="t1", exchanged_at=1000)


def second_use(token: str, successor: str = "t3", *, now: int = 1400, **windows: int) -> Exchange:
    return SESSION.second_use(token, successor, now, **{"grace": 0, "again": 0, **windows})


@pytest.mark.parametrize("token", ["t0", "t1", "t9"])
def test_second_use_of_any_token_ends_the_session(token: str) -> None:
    assert second_use(token) is Exchange.REUSED


@pytest.mark.parametrize(
    ("now", "expected"), [(1499, Exchange.ALREADY_USED), (1500, Exchange.REUSED)]
)
def test_second_use_of_the_previous_token_in_the_grace_is_refused_alone(
    now: int, expected: Exchange
) -> None:
    assert second_use("t1", now=now, grace=500) is expected
    assert second_use("t0", now=now, grace=500) is Exchange.REUSED


@pytest.mark.parametrize(("now", "expected"), [(1499, Exchange.AGAIN), (1500, Exchange.REUSED)])
def test_second_use_for_the_same_successor_gets_it_again(now: int, expected: Exchange) -> None:
    assert second_use("t1", "t2", now=now, again=500) is expected
    assert second_use("t1", "t3", now=now, again=500) is Exchange.REUSED
    assert second_use("t0", "t2", now=now, again=500) is Exchange.REUSED


def test_second_use_in_an_expired_session_is_reuse() -> None:
    assert second_use("t1", "t2", now=9000, grace=9000, again=9000) is Exchange.REUSED
