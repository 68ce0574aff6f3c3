"""The lines of phones follow logins, logouts, switches and rollbacks, before the phones restart."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from phoneprov_core.features.desks.occupancy import change_use
from phoneprov_core.features.desks.records import Due, end_use
from phoneprov_core.features.lines.model import ExchangeLines
from phoneprov_core.features.lines.use_cases import CompareLines
from phoneprov_core.kernel.errors import PhoneprovError, Refused, Unavailable
from support.api import Caller, data_of
from support.hotdesk import IP, OTHER_IP, OTHER_MAC, PIN, Hotdesk, hotdesk
from support.polling import until
from support.switch_rig import MAC, STARS, switch

LOBBY, ADA, BOB, OWN = "100", "101", "102", "900"


class Office(Hotdesk):
    """An office whose exchange asks for lines."""

    async def lines(self, mac: str = MAC) -> list[str]:
        """The numbers that the exchange gets for the phone."""
        name = f"SEP{mac.replace(':', '')}"
        options = await self.api.container.lines().device(name) or []
        return [text.removeprefix("line,") for key, text in options if key == "button"]

    async def line_of(self, user: Caller, number: str) -> dict[str, Any]:
        """Give a user a line; the reply to the link."""
        extension = await self.extension(number)
        body = {"user_uuid": user.uuid, "extension_uuid": extension}
        return dict((await self.admin.post("/user-extensions", body)).json())

    async def extension(self, number: str, kind: str = "chan_sccp") -> str:
        body = {"type": kind, "extension": number, "name": number, "password": "secret"}
        return str(data_of(await self.admin.post("/extensions", body), 201)["uuid"])

    def restarts(self, ip: str) -> int:
        """How often the phone was restarted."""
        return self.world.happened.count(("phone", ip, STARS))


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with hotdesk(tmp_path, PHONEPROV_ASTERISK_TOKEN="a service token of Asterisk") as made:
        office = Office(made.api, made.world, made.admin, made.ada)
        office.profile, office.lobby = made.profile, made.lobby
        await office.line_of(office.admin, LOBBY)
        await office.line_of(office.ada, ADA)
        data_of(await switch(office.admin, office.lobby), metadata=False)
        assert await office.lines() == [LOBBY]
        yield office


async def test_login_and_logout_bring_the_lines(office: Office) -> None:
    await office.phone().log_in("ada", PIN)
    assert await office.lines() == [ADA]
    await office.settled()
    await office.phone().log_out()
    assert await office.lines() == [LOBBY]


async def test_lines_are_stored_before_the_phone_restarts(office: Office) -> None:
    seen: list[list[str]] = []
    execute = office.world.phones.execute

    async def observed(phone_ip: str, commands: Any, mac: str | None = None, *more: Any) -> None:
        seen.append(await office.lines())
        await execute(phone_ip, commands, mac, *more)

    office.world.phones.execute = observed  # type: ignore[method-assign, assignment]
    await office.log_in()
    assert len(seen) >= 2
    assert seen == [[ADA]] * len(seen)


async def test_switch_and_rollback_bring_the_lines_of_the_owner(office: Office) -> None:
    bob = await office.person("bob")
    await office.line_of(bob, BOB)
    data_of(await switch(office.admin, office.profile), metadata=False)
    assert await office.lines() == [ADA]
    data_of(await office.admin.post(f"/phones/{MAC}/rollback", {}))
    assert await office.lines() == [LOBBY]


@pytest.mark.parametrize("has_default", [True, False])
async def test_desk_that_is_left_for_another_loses_the_lines_and_restarts(
    office: Office, has_default: bool
) -> None:
    other = await office.another_phone()
    data_of(await switch(office.admin, office.lobby, OTHER_MAC), metadata=False)
    await office.log_in()
    if not has_default:
        data_of(await office.admin.put(f"/phones/{MAC}/desk", {"default_profile_uuid": None}))
    before = office.restarts(IP)

    await other.log_in("ada", PIN)

    assert await office.lines(OTHER_MAC) == [ADA]
    assert await office.lines() == []
    await office.settled(OTHER_MAC)
    assert await office.keep_desks() == 1
    await until(lambda: _is(office.restarts(IP) == before + 1))
    assert await office.lines() == ([LOBBY] if has_default else [])
    await office.api.container.tasks().drain(10)
    assert (await office.record()).due is None
    assert office.restarts(OTHER_IP) == 2


async def _is(truth: bool) -> bool:
    return truth


async def test_phone_that_a_crash_kept_from_its_restart_is_restarted_later(office: Office) -> None:
    await office.log_in()
    data_of(await office.admin.put(f"/phones/{MAC}/desk", {"default_profile_uuid": None}))
    before = office.restarts(IP)
    async with office.api.database.write() as tx:
        await tx.desks.put((await tx.desks.find(MAC)).left(not_before=0))

    assert await office.lines() == []
    assert await office.keep_desks() == 1
    await office.api.container.tasks().drain(10)
    assert office.restarts(IP) == before + 1
    assert await office.keep_desks() == 0
    assert await office.lines() == []


async def test_restart_that_fails_after_a_logout_is_not_repeated(office: Office) -> None:
    await office.log_in()
    data_of(await office.admin.put(f"/phones/{MAC}/desk", {"default_profile_uuid": None}))
    office.world.phones.fail_at(STARS[0], Refused("The phone refused."))
    data_of(await office.admin.post(f"/phones/{MAC}/desk/logout", {}), 200)
    await office.api.container.tasks().drain(10)
    assert (await office.record()).due is None
    assert await office.lines() == []


async def test_end_of_a_login_takes_the_lines_away(office: Office) -> None:
    await office.log_in()
    async with office.api.database.write() as tx:
        desk = await tx.desks.find(MAC)
        await tx.desks.put(msgspec.structs.replace(desk, until="2020-01-01T00:00:00.000Z"))
    assert await office.lines() == []
    assert await office.keep_desks() == 1
    assert await office.lines() == [LOBBY]


@pytest.mark.parametrize("deleted", [True, False])
async def test_user_that_is_deleted_or_deactivated_has_no_lines(
    office: Office, deleted: bool
) -> None:
    await office.log_in()
    path = f"/users/{office.ada.uuid}"
    if deleted:
        data_of(await office.admin.delete(path))
    else:
        data_of(await office.admin.put(path, {"is_active": False}))
    assert await office.lines() == []
    assert await office.keep_desks() == 1
    assert await office.lines() == [LOBBY]


@pytest.mark.parametrize("what", ["deactivated", "deleted", "profile deleted", "given away"])
async def test_owner_of_a_default_profile_who_loses_the_right_loses_the_lines(
    office: Office, what: str
) -> None:
    """The phone restarts without them, though no user is logged in."""
    bob = await office.person("bob")
    await office.line_of(bob, BOB)
    desk = {"default_profile_uuid": office.profile}
    data_of(await office.admin.put(f"/phones/{MAC}/desk", desk))
    data_of(await switch(office.admin, office.profile), metadata=False)
    assert (await office.lines(), (await office.record()).user_uuid) == ([ADA], None)
    before = office.restarts(IP)

    user, profile = f"/users/{office.ada.uuid}", f"/phone-profiles/{office.profile}"
    if what == "deactivated":
        reply = await office.admin.put(user, {"is_active": False})
    elif what == "deleted":
        reply = await office.admin.delete(user)
    elif what == "given away":
        reply = await office.admin.put(profile, {"user_uuid": bob.uuid})
    else:
        reply = await office.admin.delete(f"{profile}?force=true")
    assert reply.status_code == 200

    assert await office.lines() == []
    assert await office.keep_desks() == 1
    await office.api.container.tasks().drain(10)
    assert office.restarts(IP) == before + 1
    assert await office.lines() == ([BOB] if what == "given away" else [])
    assert await office.keep_desks() == 0


async def test_desk_has_its_own_number_while_no_user_is_logged_in(office: Office) -> None:
    own = await office.extension(OWN)
    data_of(await office.admin.put(f"/phones/{MAC}/desk", {"extension_uuid": own}))
    assert await office.lines() == [OWN]
    await office.phone().log_in("ada", PIN)
    assert await office.lines() == [ADA]
    await office.settled()
    async with office.api.database.write() as tx:
        await end_use(tx, await tx.desks.find(MAC), Due.LOGOUT)
    assert await office.lines() == [OWN]


async def test_database_away_before_the_restart_leads_to_another_restart(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = office.restarts(IP)

    async def failing(*arguments: Any, **more: Any) -> None:
        if office.restarts(IP) == before:
            raise Unavailable
        await change_use(*arguments, **more)

    monkeypatch.setattr("phoneprov_core.features.desks.occupancy.change_use", failing)
    monkeypatch.setattr("phoneprov_core.switching.deployments.records.STORING_SECONDS", 0.05)
    data_of(await switch(office.admin, office.profile), metadata=False)
    assert await office.lines() == [ADA]
    assert (await office.record()).change_uuid is not None
    assert await office.keep_desks() == 1
    assert office.restarts(IP) == before + 2
    assert await office.lines() == [ADA]
    assert await office.keep_desks() == 0


async def test_phone_without_lines_from_here_does_not_restart_for_its_default_profile(
    tmp_path: Path,
) -> None:
    async with hotdesk(tmp_path) as office:
        desk = {"default_profile_uuid": office.profile}
        data_of(await office.admin.put(f"/phones/{MAC}/desk", desk))
        data_of(await switch(office.admin, office.profile), metadata=False)
        happened = len(office.world.happened)
        data_of(await office.admin.put(f"/users/{office.ada.uuid}", {"is_active": False}))
        assert await office.keep_desks() == 1
        record = await office.record()
        assert (record.due, record.left_user_uuid) == (None, None)
        assert len(office.world.happened) == happened


async def test_phone_without_lines_from_here_is_not_restarted_at_a_logout(tmp_path: Path) -> None:
    async with hotdesk(tmp_path) as office:
        await office.log_in()
        data_of(await office.admin.put(f"/phones/{MAC}/desk", {"default_profile_uuid": None}))
        before = office.world.happened.count(("phone", IP, STARS))
        data_of(await office.admin.post(f"/phones/{MAC}/desk/logout", {}), 200)
        await office.api.container.tasks().drain(10)
        assert office.world.happened.count(("phone", IP, STARS)) == before


async def test_link_restarts_nothing_and_names_the_phones_that_show_it_later(
    office: Office,
) -> None:
    await office.another_phone()
    await office.log_in()
    happened = len(office.world.happened)

    linked = await office.line_of(office.ada, "103")
    assert linked["metadata"] == {"phones": [MAC]}
    assert await office.lines() == [ADA, "103"]
    sip = {"user_uuid": office.ada.uuid, "extension_uuid": await office.extension("9", "custom")}
    assert (await office.admin.post("/user-extensions", sip)).json()["metadata"] == {}
    bob = await office.person("bob")
    assert (await office.line_of(bob, BOB))["metadata"] == {}
    deleted = await office.admin.delete(f"/user-extensions/{linked['data']['uuid']}")
    assert deleted.json()["metadata"] == {"phones": [MAC]}
    assert deleted.json()["data"] is None

    assert await office.lines() == [ADA]
    assert len(office.world.happened) == happened
    for fields in ({"software_type": "SIP"}, {"software_type": "SCCP", "is_active": False}):
        data_of(await office.admin.put(f"/phones/{MAC}", fields))
        linked = await office.line_of(office.ada, f"20{len(fields)}")
        assert linked["metadata"] == {}  # it shows no line of chan_sccp
    data_of(await office.admin.put(f"/phones/{MAC}", {"is_active": True}))
    # While no user is logged in, the lobby's phones show the lines of its owner.
    await office.phone().log_out()
    assert (await office.line_of(office.admin, "104"))["metadata"] == {"phones": [MAC]}


class Exchange(ExchangeLines):
    """The lines that an exchange shows; an error is raised."""

    def __init__(self, shown: tuple[str, ...] | PhoneprovError) -> None:
        self.shown = shown

    async def numbers(self, mac: str) -> tuple[str, ...]:
        assert mac == MAC
        if isinstance(self.shown, PhoneprovError):
            raise self.shown
        return self.shown

    async def devices(self) -> frozenset[str]:
        return frozenset()


ALL_NAMED = (
    "Asterisk has the lines 200, 201, 202, 203, 204, 205, 206, 207, 208, 209, 210, 211 and 3 more "
    "at the phone, and should have the line 100."
)
MANY = tuple(str(number) for number in range(200, 215))


@pytest.mark.parametrize(
    ("shown", "ok", "message"),
    [
        ((LOBBY,), True, "Asterisk has the line 100 at the phone."),
        ((), False, "Asterisk has no line at the phone, and should have the line 100."),
        (
            (LOBBY, ADA),
            False,
            "Asterisk has the lines 100, 101 at the phone, and should have the line 100.",
        ),
        (
            MANY,
            False,
            ALL_NAMED,
        ),
        (Refused("Asterisk does not have it."), None, "Asterisk does not have it."),
    ],
)
async def test_lines_are_compared_with_those_of_the_exchange(
    office: Office, shown: tuple[str, ...] | PhoneprovError, ok: bool | None, message: str
) -> None:
    clock = office.api.container.clock()
    compare = CompareLines(office.api.database, Exchange(shown), clock)
    assert await compare(MAC) == (ok, message)


async def test_preview_warns_about_a_default_profile_without_any_line(office: Office) -> None:
    async def warned(profile: str) -> bool:
        body = {"profile_uuid": profile, "mac": MAC}
        reply = await office.admin.post("/phone-profiles/switch/preview", body)
        findings = data_of(reply, metadata=False)["findings"]
        return "no_line" in {one["code"] for one in findings}

    assert not await warned(office.lobby)
    [link] = data_of(await office.admin.get(f"/user-extensions/by-user/{office.admin.uuid}"))
    data_of(await office.admin.delete(f"/user-extensions/{link['uuid']}"))
    assert await warned(office.lobby)
    bob = await office.person("bob")
    [profile] = (await bob.get("/phone-profiles")).json()["data"]
    assert not await warned(profile["uuid"])  # it is no default profile
    own = {"extension_uuid": await office.extension(OWN)}
    data_of(await office.admin.put(f"/phones/{MAC}/desk", own))
    assert not await warned(office.lobby)
