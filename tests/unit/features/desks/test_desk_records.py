"""The rules of desks."""

import msgspec
import pytest

from phoneprov_core.features.desks.records import DeskChanged, DeskRecord, DeskUse, Due

ADA, PROFILE, DEFAULT = "ada", "ada's profile", "the lobby's"
NOW, LATER = "2026-01-01T08:00:00.000Z", "2026-01-01T16:00:00.000Z"
DESK = DeskRecord("00:1B:D4:00:00:01", DEFAULT, hotdesk=False, version=4)
USED = DESK.used(DeskUse(ADA, PROFILE, LATER), NOW)


def test_use_says_who_uses_the_phone_and_begins_a_turn() -> None:
    assert DeskRecord(DESK.mac, DEFAULT, False, 5, ADA, PROFILE, NOW, LATER) == USED
    assert USED.used(DeskUse(), LATER) == DeskRecord(DESK.mac, DEFAULT, False, 6)


def test_use_does_the_logout_that_was_due_and_leaves_a_change_recorded() -> None:
    due = DeskRecord(DESK.mac, due=Due.EXPIRY, change_uuid="c", change_user_uuid=ADA, not_before=9)
    assert due.used(DeskUse(ADA), NOW) == DeskRecord(
        DESK.mac, version=1, user_uuid=ADA, since=NOW, change_uuid="c", change_user_uuid=ADA
    )


@pytest.mark.parametrize("due", list(Due))
def test_ended_use_begins_a_turn_with_something_due(due: Due) -> None:
    ended = DeskRecord(DESK.mac, DEFAULT, False, 6, due=due, left_user_uuid=ADA)
    assert USED.ended(due) == ended
    assert ended.used(DeskUse(), LATER) == DeskRecord(DESK.mac, DEFAULT, False, 7)


def test_desk_that_is_left_keeps_who_left_it_and_is_due_until_the_phone_was_called() -> None:
    left = DeskRecord(DESK.mac, DEFAULT, False, 6, due=Due.LOGOUT, not_before=9, left_user_uuid=ADA)
    assert USED.changing("c", ADA).left(not_before=9) == left
    expired = msgspec.structs.replace(left, version=7, due=Due.EXPIRY)
    assert USED.ended(Due.EXPIRY).left(not_before=9) == expired


def test_desk_as_of_the_end_of_its_use_is_an_ended_one() -> None:
    assert USED.as_of(NOW) == USED
    assert USED.as_of(LATER) == USED.ended(Due.EXPIRY)


def test_desk_without_a_user_cannot_end() -> None:
    assert DESK.ended(Due.LOGOUT) == DESK


def test_turn_follows_the_current_one_alone() -> None:
    assert DESK.next_version(4).version == DESK.next_version(None).version == 5
    for version in (0, 3, 5):
        with pytest.raises(DeskChanged):
            DESK.next_version(version)


def test_change_is_recorded_until_it_ends() -> None:
    changing = USED.changing("login", ADA)
    assert (changing.change_uuid, changing.change_user_uuid) == ("login", ADA)
    assert changing.changed("another") == changing
    assert changing.changed("login") == USED
    assert changing.changing("switch").change_user_uuid is None


def test_settled_desk_has_nothing_due_and_no_change() -> None:
    due = USED.ended(Due.EXPIRY)
    left = msgspec.structs.replace(DESK.next_version(4).next_version(5), left_user_uuid=ADA)
    assert due.changing("c", ADA).settled() == due.settled() == left


def test_use_is_over_from_its_end_on() -> None:
    assert USED.is_used(NOW)
    assert not USED.is_over(NOW)
    assert USED.is_over(LATER)
    assert not USED.is_used(LATER)
    endless = DESK.used(DeskUse(ADA), NOW)
    assert endless.is_used("9999")
    assert not endless.is_over("9999")
    assert not DESK.is_used(NOW)
