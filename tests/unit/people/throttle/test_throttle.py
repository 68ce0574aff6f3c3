"""The counting of failed logins, without a store."""

import pytest
from hypothesis import given, strategies as st

from phoneprov_core.people.throttle import (
    FIRST_WAIT,
    GUESSES,
    LONGEST_LOOK,
    LONGEST_WAIT,
    WINDOW,
    Attempts,
    account_key,
)

START = 1_700_000_000_000
MINUTE = 60 * 1000

# Pauses between attempts, in milliseconds: moments, the locks themselves, hours.
pauses = st.one_of(
    st.integers(0, 2000),
    st.integers(0, 20 * MINUTE),
    st.sampled_from([FIRST_WAIT, FIRST_WAIT - 1, WINDOW, WINDOW + 1, LONGEST_WAIT, 86_400_000]),
)


def guessed(*moments: int) -> Attempts:
    """The count after failures at these moments, each of which was allowed."""
    attempts = Attempts()
    for moment in moments:
        assert attempts.wait(moment) == 0
        attempts = attempts.counted(moment)
    return attempts


def test_five_failures_within_15_minutes_lock_for_30_seconds() -> None:
    assert guessed(*(START + n for n in range(4))).wait(START + 4) == 0
    slower = guessed(START, START, START, START, START + WINDOW + 1)
    assert (slower.wait(START + WINDOW + 1), slower.failures) == (0, 1)
    attempts = guessed(START, START, START, START, START + WINDOW)

    assert attempts.wait(START + WINDOW) == 30
    assert attempts.wait(START + WINDOW + 29_999) == 1
    assert attempts.wait(START + WINDOW + 30_000) == 0
    # A clock that is set back makes no long lock.
    earlier = START + WINDOW - 3_600_000
    assert attempts.wait(earlier) == 0
    again = attempts.counted(earlier)
    assert (again.failures, again.in_a_row) == (1, GUESSES + 1)


def test_each_further_failure_doubles_the_lock_up_to_15_minutes() -> None:
    attempts = guessed(*[START] * GUESSES)
    now, waits = START, []
    for _ in range(8):
        wait = attempts.wait(now)
        waits.append(wait)
        now += wait * 1000
        attempts = attempts.counted(now)

    assert waits == [30, 60, 120, 240, 480, 900, 900, 900]


def test_failures_older_than_15_minutes_count_only_in_a_row() -> None:
    attempts = guessed(*[START] * GUESSES)
    closed_until = START + FIRST_WAIT

    assert attempts.counted(closed_until + WINDOW).wait(closed_until + WINDOW) == 60
    assert attempts.counted(closed_until + WINDOW + 1) == Attempts(
        1, closed_until + WINDOW + 1, closed_until + WINDOW + 1, 0, 1, in_a_row=GUESSES + 1
    )


@given(st.lists(pauses, max_size=60))
def test_lock_is_bounded_and_never_negative(steps: list[int]) -> None:
    attempts, now = Attempts(), START
    for pause in steps:
        now += pause
        wait = attempts.wait(now)
        assert 0 <= wait * 1000 <= LONGEST_WAIT + 999
        if not wait:
            attempts = attempts.counted(now)


@given(st.lists(pauses, max_size=60))
def test_attempt_is_allowed_after_retry_after_and_not_before(steps: list[int]) -> None:
    attempts, now = Attempts(), START
    for pause in steps:
        now += pause
        wait = attempts.wait(now)
        if wait:
            assert attempts.wait(now + (wait - 1) * 1000) == 1
            now += wait * 1000
        assert attempts.wait(now) == 0
        attempts = attempts.counted(now)


@given(st.lists(st.integers(0, 3 * MINUTE), max_size=200))
def test_attempts_within_any_15_minutes_are_bounded(steps: list[int]) -> None:
    attempts, now = Attempts(), START
    allowed: list[int] = []
    for pause in steps:
        now += pause
        if not attempts.wait(now):
            allowed.append(now)
            attempts = attempts.counted(now)

    # Four at the end of one window, then five, then those that the growing locks allow.
    for moment in allowed:
        assert sum(moment <= other <= moment + WINDOW for other in allowed) <= 2 * GUESSES + 4


def test_attempts_of_a_day_are_about_a_hundred() -> None:
    attempts, now, tried = Attempts(), START, 0
    while now < START + 86_400_000:
        now += attempts.wait(now) * 1000
        attempts = attempts.counted(now)
        tried += 1

    assert tried <= 105


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_clock_set_back_does_not_prolong_a_lock(back: int, failures: int) -> None:
    attempts = Attempts(failures, START, START, 0).counted(START - back)

    assert attempts.wait(START) * 1000 <= LONGEST_WAIT


def test_attempts_100_in_a_row_lock_at_any_interval() -> None:
    attempts = Attempts()
    for day in range(100):
        assert not attempts.is_locked
        assert not attempts.counted(START + day * 86_400_000).taken_back().is_locked
        attempts = attempts.counted(START + day * 86_400_000).decided(START, known=True)

    assert attempts.is_locked
    assert (attempts.in_a_row, attempts.known) == (100, 1)
    assert attempts.counted(START + 100 * 86_400_000).taken_back().is_locked


def test_attempt_is_undecided_until_it_is_verified() -> None:
    one = guessed(START)
    two = one.counted(START + 1)

    assert one.is_undecided(START)
    assert two.decided(START).is_undecided(START)
    assert not two.decided(START).decided(START).is_undecided(START)
    assert two.decided(START).decided(START).failures == 2
    assert not Attempts().is_undecided(START)


def test_interrupted_attempts_are_not_counted() -> None:
    four = guessed(*[START] * 4).decided(START).decided(START).decided(START).decided(START)
    cut_off = four.counted(START)
    later = START + LONGEST_LOOK

    assert cut_off.settled(later - 1) == cut_off
    assert (cut_off.wait(later), cut_off.settled(later).wait(later)) == (25, 0)
    assert cut_off.settled(later) == four
    assert four.settled(later) == four
    locked = guessed(*[START] * GUESSES, START + FIRST_WAIT)
    for _ in range(GUESSES):
        locked = locked.decided(START)
    seventh = locked.settled(START + 100_000).counted(START + 100_000)
    assert (seventh.failures, seventh.in_a_row, seventh.wait(START + 100_000)) == (6, 6, 60)


def test_wrong_attempt_that_was_thought_to_be_interrupted_is_counted() -> None:
    """Its check took longer, or a right one cleared the count meanwhile."""
    later = START + LONGEST_LOOK
    settled = guessed(START, START).settled(later)

    assert settled.failures == 0
    assert settled.decided(later).decided(later).failures == 2
    assert settled.counted(later).decided(later).decided(later).failures == 2
    assert Attempts().decided(START) == Attempts(1, START, START, 0, 0, in_a_row=1)
    assert settled.taken_back() == settled


def test_attempt_without_verification_is_no_failure() -> None:
    four = guessed(*[START] * (GUESSES - 1))
    five = four.counted(START)

    assert five.wait(START) == 30
    assert five.taken_back() == four
    assert guessed(START).taken_back() == Attempts(0, START, START)
    assert Attempts().taken_back() == Attempts()


def test_attempts_of_an_account_ignore_case() -> None:
    assert account_key("Ada") == account_key("ADA") != account_key("bob")
    assert account_key("Zo\u00eb") == account_key("zoe\u0308")


@pytest.mark.parametrize("name", ["", "ada", "hunter2", "\ud800", "x" * 100_000, "\x00"])
def test_key_reveals_nothing_of_the_input(name: str) -> None:
    key = account_key(name)

    assert len(key) == 64
    assert set(key) <= set("0123456789abcdef")


def test_phone_count_in_a_row_loses_one_failure_in_six_hours_without_a_guess() -> None:
    count = Attempts(failures=7, last_at=START, in_a_row=50)

    assert count.rested(START - 1).in_a_row == 50
    assert count.rested(START + 6 * 3_600_000 - 1).in_a_row == 50
    assert count.rested(START + 6 * 3_600_000).in_a_row == 49
    assert count.rested(START + 10_000 * 3_600_000).in_a_row == 0
