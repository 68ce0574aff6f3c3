"""A user who is logged in at one phone logs in at another."""

import asyncio
from pathlib import Path

import pytest

from support.api import data_of
from support.hotdesk import LOBBY, OTHER_IP, OTHER_MAC, PIN, Hotdesk, hotdesk
from support.switch_rig import XML


async def test_elsewhere_move_logs_the_user_out_at_the_other_phone(office: Hotdesk) -> None:
    other = await office.another_phone()
    await office.log_in()

    assert (await other.log_in("ada", PIN)).title == "Logged in"
    await office.settled(OTHER_MAC)
    assert (await office.desk())["user_uuid"] is None
    assert await office.keep_desks() == 1

    assert office.on_phone() == LOBBY.encode()
    assert office.on_phone(OTHER_IP, OTHER_MAC) == XML.encode()
    assert (await office.desk(OTHER_MAC))["user_uuid"] == office.ada.uuid
    assert (await office.record()).due is None
    assert await office.keep_desks() == 0


@pytest.mark.parametrize(
    ("elsewhere", "second", "users"), [("refuse", "Not possible", 1), ("allow", "Logged in", 2)]
)
async def test_elsewhere_setting_refuses_or_allows_a_second_phone(
    tmp_path: Path, elsewhere: str, second: str, users: int
) -> None:
    async with hotdesk(tmp_path, PHONEPROV_DESK_ELSEWHERE=elsewhere) as office:
        other = await office.another_phone()
        await office.log_in()

        assert (await other.log_in("ada", PIN)).title == second
        await office.settled(OTHER_MAC)
        desks = data_of(await office.admin.get("/desks"), 200, "2 desk(s) found")
        assert [desk["user_uuid"] for desk in desks].count(office.ada.uuid) == users


async def test_elsewhere_refuse_lets_one_of_two_concurrent_logins_succeed(tmp_path: Path) -> None:
    async with hotdesk(tmp_path, PHONEPROV_DESK_ELSEWHERE="refuse") as office:
        other = await office.another_phone()
        answers = await asyncio.gather(office.phone().log_in("ada", PIN), other.log_in("ada", PIN))
        assert sorted(answer.title for answer in answers) == ["Logged in", "Not possible"]
