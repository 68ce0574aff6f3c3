"""Restarts and watches through a real Asterisk, with SIPp as the phone (``make test-asterisk``)."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
import trustme

from asterisk.exchange import SECONDS, SECRET, USER, Exchange, Sipp, running
from phoneprov_adapters.asterisk import events
from phoneprov_adapters.asterisk.connection import ManagerConnection, ManagerSettings
from phoneprov_adapters.asterisk.events import ManagerEvents
from phoneprov_adapters.asterisk.lists import ManagerCalls
from phoneprov_adapters.asterisk.manager import Manager
from phoneprov_core.features.transfer.asterisk import Sections
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.switching.devices.commands import RestartType, sip_restart
from support.phone_records import a_phone
from support.polling import until
from support.records import an_extension

PHONE = a_phone(1, mac="00:1B:D4:12:34:56", software_type="SIP", phone_ip="127.0.0.1")
NUMBER, PASSWORD = "1001", "s1p-secret"
AUTHORITY = trustme.CA()


def exported() -> str:
    """The sections as ``phoneprov export extensions --format pjsip --with-secrets`` writes them."""
    sections = Sections(with_secrets=True)
    extension = an_extension(1, extension=NUMBER, password=PASSWORD, type="chan_pjsip")
    phone = sections.endpoint(extension).text, sections.phone_endpoint(PHONE, [NUMBER])
    assert phone[1] is not None
    return phone[0] + phone[1].text


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def exchange() -> AsyncIterator[Exchange]:
    certificate = AUTHORITY.issue_cert("127.0.0.1")
    pem = certificate.private_key_and_cert_chain_pem.bytes().decode()
    async with running(exported(), pem) as started:
        yield started


def connection(exchange: Exchange, secret: str = SECRET, user: str = USER) -> ManagerConnection:
    settings = ManagerSettings(host="127.0.0.1", port=exchange.ami, user=user, secret=secret)
    return ManagerConnection(settings)


pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_phone_that_never_registered_is_refused(exchange: Exchange) -> None:
    with pytest.raises(Refused, match="not registered"):
        await Manager(connection(exchange)).perform(sip_restart(PHONE.mac))


@pytest.mark.parametrize("kind", RestartType)
async def test_notify_reaches_the_phone_and_its_return_is_seen(
    exchange: Exchange, kind: RestartType
) -> None:
    shared = connection(exchange)
    phone = Sipp(exchange, NUMBER, PASSWORD)
    call_id = await phone.register()

    # One login for all of this: the account has allowmultiplelogin = no.
    watching = await ManagerEvents(shared).begin(PHONE)
    assert not await ManagerCalls(shared).in_call(PHONE)
    waiting = asyncio.create_task(phone.notified())
    await asyncio.sleep(1.0)  # SIPp opens its port
    await Manager(shared).perform(sip_restart(PHONE.mac, kind), PHONE.phone_ip)
    notify = await asyncio.wait_for(waiting, SECONDS)

    head, _, body = notify.partition("\n\n")
    assert "\nEvent: service-control\n" in head
    assert head.count("Subscription-State:") == 1
    assert "\nContent-Type: text/plain\n" in head
    assert body.split()[:2] == [f"action={kind.value}", f"RegisterCallId={{{call_id}}}"]

    await phone.register(expires=0)
    await phone.register()
    assert "registered again" in await watching.returned(SECONDS)
    await watching.close()
    await phone.register(expires=0)


async def test_phone_that_registers_from_another_port_is_seen(exchange: Exchange) -> None:
    """As after a loss of power: no unregistration, a new contact; ``remove_existing`` ends the old
    one."""
    before, after = (Sipp(exchange, NUMBER, PASSWORD) for _ in range(2))
    await before.register()
    watching = await ManagerEvents(connection(exchange)).begin(PHONE)

    await after.register()

    assert "registered again" in await watching.returned(SECONDS)
    await watching.close()
    await after.register(expires=0)


async def test_return_is_seen_without_the_class_system(
    exchange: Exchange, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The account has read = call: the contacts are looked at without events."""
    monkeypatch.setattr(events, "LOOK_SECONDS", 1.0)
    phone = Sipp(exchange, NUMBER, PASSWORD)
    await phone.register()
    watching = await ManagerEvents(connection(exchange, user="calls-only")).begin(PHONE)

    await phone.register(expires=0)
    await phone.register()

    assert "registered again" in await watching.returned(SECONDS)
    await watching.close()
    await phone.register(expires=0)


async def test_network_that_was_away_confirms_nothing() -> None:
    """With qualify_frequency the contact becomes unreachable and reachable again."""
    aor = "type = aor\n"
    qualified = exported().replace(aor, f"{aor}qualify_frequency = 1\nqualify_timeout = 0.5\n")
    async with running(qualified) as exchange:
        phone = Sipp(exchange, NUMBER, PASSWORD)
        await phone.register()
        answering = asyncio.create_task(phone.answers_options(4))
        await until_contact(exchange, "Avail")
        watching = await ManagerEvents(connection(exchange)).begin(PHONE)
        waiting = asyncio.create_task(watching.returned(15.0))
        await answering

        await until_contact(exchange, "Unavail")
        answering = asyncio.create_task(phone.answers_options(4))
        await until_contact(exchange, "Avail")
        await answering

        with pytest.raises(TimedOut, match="No new registration"):
            await waiting
        await watching.close()


async def test_port_that_nat_changed_confirms_nothing(exchange: Exchange) -> None:
    before, after = (Sipp(exchange, NUMBER, PASSWORD, call_id="one@phone") for _ in range(2))
    await before.register()
    watching = await ManagerEvents(connection(exchange)).begin(PHONE)
    waiting = asyncio.create_task(watching.returned(5.0))

    await after.register()

    with pytest.raises(TimedOut, match="No new registration"):
        await waiting
    await watching.close()
    await after.register(expires=0)


async def test_phone_at_another_address_is_not_notified_and_confirms_nothing(
    exchange: Exchange,
) -> None:
    phone = Sipp(exchange, NUMBER, PASSWORD)
    await phone.register()
    watching = await ManagerEvents(connection(exchange)).begin(PHONE)
    waiting = asyncio.create_task(watching.returned(5.0))

    other = Sipp(exchange, NUMBER, PASSWORD, address="127.0.0.2")
    await other.register()

    with pytest.raises(Refused, match="another address"):
        await Manager(connection(exchange, user="notifier")).perform(
            sip_restart(PHONE.mac), PHONE.phone_ip
        )
    with pytest.raises(TimedOut, match="unregistered and did not register again"):
        await waiting
    await watching.close()
    await other.register(expires=0)


async def until_contact(exchange: Exchange, status: str) -> None:
    async def shown() -> bool:
        return f" {status} " in await exchange.command("pjsip show contacts")

    await until(shown, SECONDS)


async def test_permit_without_deny_admits_every_address(exchange: Exchange) -> None:
    """The reason for ``deny`` in the how-to."""
    for name, is_admitted in (("permit-only", True), ("deny-and-permit", False)):
        calls = ManagerCalls(connection(exchange, user=name))
        if is_admitted:
            assert not await calls.in_call(PHONE)
        else:
            with pytest.raises(Refused, match="permitted addresses"):
                await calls.in_call(PHONE)


async def test_logins_follow_each_other_at_once(exchange: Exchange) -> None:
    """Wait until Asterisk has ended a login before the next one."""
    shared = connection(exchange)
    for _ in range(30):
        assert not await ManagerCalls(shared, fresh_seconds=0.0).in_call(PHONE)


async def test_wrong_secret_is_sent_once(exchange: Exchange) -> None:
    def failures() -> int:
        return exchange.log().count('SecurityEvent="InvalidPassword"')

    before = failures()
    shared = connection(exchange, "wrong")
    with pytest.raises(Refused, match="PHONEPROV_AMI_SECRET"):
        await ManagerEvents(shared).begin(PHONE)
    with pytest.raises(Refused, match="PHONEPROV_AMI_SECRET"):
        await Manager(shared).perform(sip_restart(PHONE.mac))

    await until(lambda: failures() != before, SECONDS)
    assert failures() == before + 1


async def test_tls_private_authority_is_accepted(exchange: Exchange, tmp_path: Path) -> None:
    authority = tmp_path / "ca.pem"
    AUTHORITY.cert_pem.write_to_path(authority)
    settings = ManagerSettings(
        host="127.0.0.1", port=exchange.tls, tls=True, tls_ca=str(authority),
        user=USER, secret=SECRET,
    )  # fmt: skip

    assert not await ManagerCalls(ManagerConnection(settings)).in_call(PHONE)
