"""The whole service without HTTP: over memory, over a real database, and without ``await``."""

import asyncio
import signal
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, main_thread
from typing import Any

import pytest

from phoneprov_adapters.api import (
    Run,
    Settings,
    blocking,
    open_in_memory,
    open_phoneprov,
    read_settings,
)
from phoneprov_core.api import (
    Actor,
    Confirmation,
    Conflict,
    CreatePermission,
    CreatePhone,
    CreateProfile,
    CreateUser,
    Credentials,
    Forbidden,
    LevelRule,
    NotFound,
    Reach,
    Refused,
    Registration,
    SwitchRequest,
    Unavailable,
    UseCases,
    User,
)
from phoneprov_core.kernel.actor import SYSTEM
from phoneprov_core.people.access import CreateAssignment

MAC = "00:1B:D4:12:34:56"
IP = "10.20.30.40"
FILE = "SEP001BD4123456.cnf.xml"
PASSWORD = "a long one for the tests"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return read_settings({"PHONEPROV_DATA_DIR": str(tmp_path / "data")})


async def a_user(phoneprov: UseCases, name: str = "ada") -> User:
    new = CreateUser(
        first_name=name.title(),
        last_name="Lovelace",
        username=name,
        email=f"{name}@example.com",
        password=PASSWORD,
    )
    return await phoneprov.users.create(phoneprov.system_actor(), new)


async def a_request(phoneprov: UseCases, user: User) -> SwitchRequest:
    """A phone, and a profile for it."""
    actor = phoneprov.system_actor()
    await phoneprov.phones.create(
        actor, CreatePhone(mac=MAC, model="CP-7945G", phone_ip=IP, software_type="SCCP")
    )
    profile = await phoneprov.profiles.create(
        actor, CreateProfile(user_uuid=user.uuid, name="Ada", cnf_xml="<device/>")
    )
    return SwitchRequest(profile_uuid=profile.uuid, mac=MAC)


async def test_memory_service_runs_a_switch_from_start_to_end() -> None:
    async with open_in_memory() as phoneprov:
        user = await a_user(phoneprov)
        request = await a_request(phoneprov, user)

        switched = await phoneprov.switch_profile(phoneprov.system_actor(), request)

        assert (switched.mac, switched.restart) == (MAC, "ok")
        assert phoneprov.uploader.files == {f"{IP}:21": {FILE: b"<device/>"}}
        assert phoneprov.phone.sent[IP][:2] == ["Init:Services", "Key:Settings"]
        assert phoneprov.manager.performed == []


async def test_memory_service_replaces_asterisk_and_ftp_server() -> None:
    settings = read_settings({"PHONEPROV_AMI_HOST": "pbx", "PHONEPROV_FTP_HOST": "tftp"})
    async with open_in_memory(settings) as phoneprov:
        request = await a_request(phoneprov, await a_user(phoneprov))
        await phoneprov.switch_profile(phoneprov.system_actor(), request)

        assert set(phoneprov.uploader.files) == {"tftp:21"}
        assert [action.name for action in phoneprov.manager.performed] == ["SCCPDeviceRestart"]


async def test_memory_phone_registers_again_on_request() -> None:
    async with asyncio.timeout(60), open_in_memory() as phoneprov:
        actor = phoneprov.system_actor()
        request = await a_request(phoneprov, await a_user(phoneprov))
        phoneprov.reachability.at_phone = Reach(False, "No answer.", 3000)
        assert (await phoneprov.preview_switch(actor, request)).phone.reachable is False
        made = await phoneprov.switch_profile.deployment(actor, request)
        assert made.confirmation is Confirmation.PENDING

        phoneprov.watch.comes_back(MAC)
        async with asyncio.timeout(60):
            while made.confirmation is Confirmation.PENDING:
                made = await phoneprov.deployments.get(actor, made.uuid)
        assert made.confirmation is Confirmation.CONFIRMED
        phoneprov.uploader.fail_next(Refused("No room."))
        with pytest.raises(Refused, match="No room"):
            await phoneprov.switch_profile(actor, request)
        # A watched phone does not delay the close.
        await phoneprov.switch_profile(actor, request)
    assert phoneprov.watch.watched == []


async def test_memory_clock_and_identifiers_are_predictable() -> None:
    async with open_in_memory() as phoneprov:
        first = await a_user(phoneprov)
        phoneprov.clock.advance(1.5)
        second = await a_user(phoneprov, "bob")

    assert (first.uuid[-1], second.uuid[-1]) == ("1", "2")
    assert first.created_at == "2026-01-31T08:15:30.250Z"
    assert second.created_at == "2026-01-31T08:15:31.750Z"


async def test_memory_services_share_nothing_and_leave_nothing() -> None:
    async with open_in_memory() as one, open_in_memory() as other:
        await a_user(one)
        assert (await other.users.all(other.system_actor())).first == []

    async with open_in_memory() as again:
        assert (await again.users.all(again.system_actor())).first == []


@pytest.mark.parametrize("rule", LevelRule)
async def test_system_actor_may_do_everything_but_remove_the_last_superadmin(
    rule: LevelRule,
) -> None:
    settings = read_settings({"PHONEPROV_LEVEL_RULE": rule.value})
    async with open_in_memory(settings) as phoneprov:
        actor = phoneprov.system_actor()
        user = await a_user(phoneprov)
        permission = await phoneprov.permissions.create(
            actor, CreatePermission(level=0, name="all")
        )
        await phoneprov.user_permissions.assign(
            actor, CreateAssignment(user_uuid=user.uuid, perm_uuid=permission.uuid)
        )

        with pytest.raises(Conflict) as caught:
            await phoneprov.users.delete(actor, user.uuid)

    assert caught.value.code == "last_superadmin"
    assert actor.level_rule is rule
    assert user.created_by == SYSTEM
    assert user.created_ip == "127.0.0.1"


async def test_acting_as_a_user_is_explicit() -> None:
    async with open_in_memory() as phoneprov:
        ada = Actor((await a_user(phoneprov)).uuid, level=None)
        logged_in = await phoneprov.login(Credentials(username="ada", password=PASSWORD), "::1")
        found = await phoneprov.authenticate(logged_in.tokens.access_token, "::1")
        assert (found.user_uuid, found.level) == (ada.user_uuid, None)
        me = await phoneprov.me.profile(ada)

        assert me.username == "ada"
        with pytest.raises(Forbidden):
            await phoneprov.phones.create(ada, CreatePhone(mac=MAC))
        with pytest.raises(NotFound):
            await phoneprov.me.profile(phoneprov.system_actor())


async def test_service_of_settings_runs_without_http(settings: Settings) -> None:
    account = Registration(
        first_name="Ada", last_name="L", username="ada", email="a@example.com", password=PASSWORD
    )
    async with open_phoneprov(settings) as phoneprov:
        made = await phoneprov.create_admin(account)
        logged_in = await phoneprov.login(Credentials(username="ada", password=PASSWORD), "::1")
    async with open_phoneprov(settings) as phoneprov:
        actor = await phoneprov.authenticate(logged_in.tokens.access_token, "::1")

    assert made.is_new
    assert (actor.user_uuid, actor.level) == (made.user.uuid, 0)


# Without await


def test_synchronous_service_runs_without_an_event_loop(settings: Settings) -> None:
    with blocking(open_phoneprov(settings)) as (phoneprov, run):
        actor = phoneprov.system_actor()
        run(phoneprov.phones.create(actor, CreatePhone(mac=MAC)))

    with blocking(open_phoneprov(settings)) as (phoneprov, run):
        listing = run(phoneprov.phones.all(phoneprov.system_actor()))
        assert [phone.mac for phone in run(listing.everything())] == [MAC]


def test_synchronous_service_raises_errors_and_closes_everything() -> None:
    with blocking(open_in_memory()) as (phoneprov, run):
        actor = phoneprov.system_actor()
        run(phoneprov.phones.create(actor, CreatePhone(mac=MAC)))
        with pytest.raises(Conflict):
            run(phoneprov.phones.create(actor, CreatePhone(mac=MAC)))

    with pytest.raises(ZeroDivisionError), blocking(open_in_memory()) as (phoneprov, run):
        raise ZeroDivisionError
    with pytest.raises(Unavailable):
        asyncio.run(phoneprov.phones.get(actor, MAC))


async def test_synchronous_service_in_a_running_loop_is_refused() -> None:
    with pytest.raises(RuntimeError, match="await"), blocking(open_in_memory()):
        pass


def test_synchronous_service_answers_every_thread(settings: Settings) -> None:
    with blocking(open_phoneprov(settings)) as (phoneprov, run), ThreadPoolExecutor(8) as threads:
        actor = phoneprov.system_actor()

        def create(number: int) -> str:
            new = CreatePhone(mac=f"001bd45{number:05x}")
            return run(phoneprov.phones.create(actor, new)).mac

        said = list(threads.map(create, range(40)))
        listing = run(phoneprov.phones.all(actor))
        written = [phone.mac for phone in run(listing.everything())]

    assert len(set(said)) == 40
    assert sorted(written) == sorted(said)


def test_synchronous_service_after_its_end_or_within_a_loop_runs_nothing() -> None:
    ran = []

    async def work() -> None:
        ran.append(1)

    async def within() -> None:
        with pytest.raises(RuntimeError, match="event loop is running"):
            run(work())

    with blocking(open_in_memory()) as (_, run):
        asyncio.run(within())
        with pytest.raises(RuntimeError, match="event loop is running"):
            run(_nested(run, work()))
    with pytest.raises(RuntimeError, match="closed"):
        run(work())

    assert ran == []


async def _nested(run: Run, work: Coroutine[Any, Any, None]) -> None:
    run(work)


def test_synchronous_service_interrupted_wait_cancels_the_call() -> None:
    cancelled = Event()

    async def endless() -> None:
        await asyncio.sleep(0.1)  # until the other thread waits
        try:
            signal.pthread_kill(main_thread().ident or 0, signal.SIGINT)
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    with blocking(open_in_memory()) as (_, run):
        with pytest.raises(KeyboardInterrupt):
            run(endless())
        assert cancelled.wait(10)
