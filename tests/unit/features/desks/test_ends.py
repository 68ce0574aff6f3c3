"""The time of day at which logins at a desk end, through the changes of a zone's clocks."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from phoneprov_core.features.desks.change import login_change
from phoneprov_core.features.desks.model import DeskPatch, DeskPolicy, next_end
from phoneprov_core.features.desks.records import DeskRecord
from phoneprov_core.kernel.errors import Invalid
from support.records import a_mac, identifier

BERLIN = "Europe/Berlin"
ZONES = [BERLIN, "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"]


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("ends_at", "now", "end"),
    [
        (f"06:00 {BERLIN}", "2026-01-10T20:00", "2026-01-11T05:00"),
        (f"06:00 {BERLIN}", "2026-07-10T20:00", "2026-07-11T04:00"),
        # An end that comes at this moment is that of the next day.
        (f"06:00 {BERLIN}", "2026-01-10T05:00", "2026-01-11T05:00"),
        # The night that begins summer time, 29 March, and the one that ends it, 25 October.
        (f"06:00 {BERLIN}", "2026-03-28T20:00", "2026-03-29T04:00"),
        (f"06:00 {BERLIN}", "2026-10-24T20:00", "2026-10-25T05:00"),
        # 02:30 does not exist in the one night, and comes twice in the other.
        (f"02:30 {BERLIN}", "2026-03-28T20:00", "2026-03-29T01:30"),
        (f"02:30 {BERLIN}", "2026-10-24T20:00", "2026-10-25T00:30"),
        (f"02:30 {BERLIN}", "2026-10-25T00:45", "2026-10-25T01:30"),
        ("00:00 UTC", "2026-01-10T23:59", "2026-01-11T00:00"),
    ],
)
def test_end_is_the_next_moment_at_which_the_clock_shows_the_time(
    ends_at: str, now: str, end: str
) -> None:
    assert next_end(ends_at, at(now)) == at(end)


@given(
    zone=st.sampled_from(ZONES),
    minutes=st.integers(0, 24 * 60 - 1),
    now=st.datetimes(datetime(2025, 1, 1), datetime(2028, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
)
def test_end_is_after_now_and_within_26_hours(zone: str, minutes: int, now: datetime) -> None:
    end = next_end(f"{minutes // 60:02}:{minutes % 60:02} {zone}", now)
    assert now < end <= now + timedelta(hours=26)


@pytest.mark.parametrize(
    "text", ["6:00 UTC", "24:00 UTC", "06:60 UTC", "06:00", "06:00 Mars/Base", "06:00 UTC x", "x"]
)
def test_end_that_is_no_time_with_a_zone_is_invalid(text: str) -> None:
    with pytest.raises(Invalid) as refused:
        DeskPatch(ends_at=text)
    assert [one.field for one in refused.value.problems] == ["ends_at"]


def test_desk_with_an_end_overrides_the_hours_of_the_office() -> None:
    policy, now = DeskPolicy(hours=2), at("2026-01-10T20:00")
    ada, profile = identifier(1), identifier(2)
    desk = DeskRecord(a_mac(1), ends_at=f"06:00 {BERLIN}")
    assert login_change(policy, ada, profile, desk, now).use.until == "2026-01-11T05:00:00.000Z"
    office = login_change(policy, ada, profile, DeskRecord(a_mac(1)), now)
    assert office.use.until == "2026-01-10T22:00:00.000Z"
