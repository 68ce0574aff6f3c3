"""The contract kit over phoneprov's phone driver, with every way to restart phones."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
from msgspec import structs

from phoneprov_adapters.asterisk.connection import ManagerConnection, ManagerSettings
from phoneprov_adapters.asterisk.manager import Manager
from phoneprov_adapters.memory.devices import MemoryPhone
from phoneprov_adapters.testing import PhoneDriverContract, PhoneDriverRig
from phoneprov_adapters.testing.phone_drivers import WORDS
from phoneprov_core.switching.devices.commands import CiscoPhones, RestartBy
from phoneprov_core.switching.devices.ports import KeyPress, PhoneCommands, Proceed, always
from support.ami_stub import SECRET, USER, AmiStub, endpoint, failure
from support.phone_records import a_phone
from support.phone_stub import PhoneStub, http, nothing, sends
from support.phone_web import IP, LOOPBACK, web

PHONE = a_phone(1, phone_ip=IP, model="CP-7945G")


class Hasty(PhoneCommands):
    """Sends the same keys without the pauses that a real phone needs."""

    def __init__(self, commands: PhoneCommands) -> None:
        self._commands = commands

    async def execute(
        self,
        phone_ip: str,
        commands: Sequence[KeyPress],
        mac: str | None = None,
        proceed: Proceed = always,
    ) -> None:
        await self._commands.execute(
            phone_ip, [structs.replace(key, pause=0.0) for key in commands], mac, proceed
        )


@asynccontextmanager
async def over_the_web() -> AsyncIterator[PhoneDriverRig]:
    async with PhoneStub() as stub:

        def answers(answer: Callable[..., object]) -> Callable[[], None]:
            def change() -> None:
                stub.answers = [answer]  # type: ignore[list-item]

            return change

        yield PhoneDriverRig(
            CiscoPhones(RestartBy.HTTP, Hasty(web(stub, timeout=4.0)), None),
            PHONE,
            restarts=lambda: stub.uris.count("Key:Settings"),
            refuse=answers(sends(http(403, WORDS))),
            fall_silent=answers(nothing),
            recover=answers(sends(http())),
            vanish=stub.stop,
        )


@asynccontextmanager
async def through_asterisk() -> AsyncIterator[PhoneDriverRig]:
    async with AmiStub() as stub:
        settings = ManagerSettings(
            host="127.0.0.1", port=stub.port, user=USER, secret=SECRET, timeout=4.0
        )
        actions = ("SCCPDeviceRestart", "PJSIPNotify")

        def refuse() -> None:
            stub.answers = dict.fromkeys(actions, failure(WORDS))

        def fall_silent() -> None:
            stub.answers = dict.fromkeys(actions)

        def recover() -> None:
            stub.answers = {"PJSIPShowEndpoint": endpoint((f"sip:phone@{IP}", "a Call-ID"))}

        recover()
        yield PhoneDriverRig(
            CiscoPhones(RestartBy.AMI, MemoryPhone(LOOPBACK), Manager(ManagerConnection(settings))),
            PHONE,
            restarts=lambda: len(stub.performed),
            refuse=refuse,
            fall_silent=fall_silent,
            recover=recover,
            secrets=(SECRET,),
            by_address=False,
        )


RIGS: dict[str, Callable[[], AbstractAsyncContextManager[PhoneDriverRig]]] = {
    "web": over_the_web,
    "asterisk": through_asterisk,
}


class TestCiscoPhones(PhoneDriverContract):
    """Over the phones' own web servers, and through Asterisk."""

    @pytest.fixture(params=RIGS)
    async def rig(self, request: pytest.FixtureRequest) -> AsyncIterator[PhoneDriverRig]:
        async with RIGS[request.param]() as rig:
            yield rig
