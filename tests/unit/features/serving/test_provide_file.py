"""Files for phones: access, and recorded fetches."""

import asyncio
from dataclasses import replace

import msgspec
import pytest

from phoneprov_adapters.memory.devices import MemoryPhone
from phoneprov_core.features.serving.model import FetchResult, Transport
from phoneprov_core.features.serving.use_cases import FileRequest, Provided
from phoneprov_core.switching.deployments.model import Confirmation, Outcome
from phoneprov_core.switching.deployments.observation import Arrival, DeviceInformation
from phoneprov_core.switching.devices.names import Binding
from support.phone_records import a_phone
from unit.features.serving.conftest import CONTENT, MAC, NAME, OTHER_IP, PHONE_IP, Office


def a_request(name: str = NAME, ip: str = PHONE_IP, model: str | None = None) -> FileRequest:
    return FileRequest(Transport.TFTP, name, ip, model)


async def fetched(office: Office, request: FileRequest, *, is_complete: bool = True) -> Provided:
    provide = office.provide()
    provided = await provide.open(request)
    size = len(provided.content or b"")
    ended = provide.ended(provided, is_complete=is_complete, size=size, duration_ms=3)
    await provide.record([ended])
    return provided


async def confirmation(office: Office) -> tuple[Confirmation, str | None]:
    async with office.database.read() as tx:
        current = await tx.deployments.current(MAC)
    assert current is not None
    return current.confirmation, current.confirmation_message


@pytest.mark.parametrize("ip", [PHONE_IP, f"::ffff:{PHONE_IP}"])
@pytest.mark.parametrize("name", [NAME, NAME.lower(), f"/{NAME.upper()}", f"//{NAME}"])
async def test_phone_gets_its_configuration(office: Office, name: str, ip: str) -> None:
    provided = await office.provide().open(a_request(name, ip))

    assert (provided.result, provided.content) == (FetchResult.SERVED, CONTENT)


@pytest.mark.parametrize(
    ("binding", "ip", "result"),
    [
        (Binding.ADDRESS, OTHER_IP, FetchResult.REFUSED),
        (Binding.ADDRESS, "192.0.2.1", FetchResult.REFUSED),
        (Binding.NETWORK, OTHER_IP, FetchResult.SERVED),
        (Binding.NETWORK, "192.0.2.1", FetchResult.REFUSED),
    ],
)
async def test_configuration_from_another_address_is_served_by_network_alone(
    office: Office, binding: Binding, ip: str, result: FetchResult
) -> None:
    provided = await office.provide(binding).open(a_request(ip=ip))

    assert (provided.result, provided.content is None) == (result, result is FetchResult.REFUSED)
    async with office.database.write() as tx:
        await tx.phones.remove(MAC)
    assert (await office.provide().open(a_request())).result is FetchResult.NOT_FOUND


@pytest.mark.parametrize("ip", [PHONE_IP, OTHER_IP, "192.0.2.1"])
async def test_configuration_of_a_phone_without_an_address_is_refused(
    office: Office, ip: str
) -> None:
    (office.folder / "CTLSEP001BD4123456.tlv").write_bytes(b"trust")
    async with office.database.write() as tx:
        await tx.phones.put(a_phone(1, mac=MAC, phone_ip=None))

    provided = await office.provide().open(a_request(ip=ip))
    assert (provided.result, provided.content) == (FetchResult.REFUSED, None)
    by_setting = await office.provide(Binding.NETWORK).open(a_request(ip=ip))
    is_inside = ip != "192.0.2.1"
    assert by_setting.result is (FetchResult.SERVED if is_inside else FetchResult.REFUSED)
    # Other files belong to no person.
    trust = await office.provide().open(a_request("CTLSEP001BD4123456.tlv", ip))
    assert trust.result is (FetchResult.SERVED if is_inside else FetchResult.REFUSED)
    if trust.file is not None:
        trust.file.close()


async def test_other_files_are_served_to_the_phone_networks(office: Office) -> None:
    (office.folder / "RINGLIST.XML").write_bytes(b"rings")

    provided = await office.provide().open(a_request("ringlist.xml", OTHER_IP))
    refused = await office.provide().open(a_request("ringlist.xml", "192.0.2.1"))

    assert provided.file is not None
    assert provided.file.size == 5
    provided.file.close()
    assert refused.result is FetchResult.REFUSED


@pytest.mark.parametrize("name", ["../secret", "a\\b", "link", "folder", "pipe"])
async def test_file_outside_the_folder_is_not_served(office: Office, name: str) -> None:
    secret = office.folder.parent / "secret"
    secret.write_bytes(b"secret")
    (office.folder / "link").symlink_to(secret)
    (office.folder / "folder").mkdir()

    provided = await office.provide().open(a_request(name))

    assert provided.result in {FetchResult.REFUSED, FetchResult.NOT_FOUND}
    assert provided.file is None


async def test_fetch_of_the_current_configuration_confirms_its_deployment(office: Office) -> None:
    await fetched(office, a_request())

    state, message = await confirmation(office)
    async with office.database.read() as tx:
        [fetch] = await tx.fetches.newest(MAC, 5)
    assert state is Confirmation.CONFIRMED
    assert message == f"The phone fetched {NAME} by TFTP (fetch {fetch.uuid})."
    assert (fetch.result, fetch.bytes, fetch.duration_ms) == (FetchResult.SERVED, len(CONTENT), 3)
    before = await confirmation(office)
    await fetched(office, a_request())
    assert await confirmation(office) == before
    assert [one.confirmation for one in office.journal] == [Confirmation.CONFIRMED]


async def test_fetch_interrupted_confirms_nothing(office: Office) -> None:
    await fetched(office, a_request(), is_complete=False)

    async with office.database.read() as tx:
        [fetch] = await tx.fetches.newest(MAC, 5)
    assert fetch.result is FetchResult.FAILED
    assert (await confirmation(office))[0] is Confirmation.PENDING


async def test_fetch_during_a_switch_confirms_nothing(office: Office) -> None:
    async with office.database.write() as tx:
        current = await tx.deployments.current(MAC)
        assert current is not None
        await tx.deployments.put(msgspec.structs.replace(current, outcome=Outcome.RUNNING))

    await fetched(office, a_request())

    assert (await confirmation(office))[0] is Confirmation.PENDING


async def test_refused_request_is_recorded(office: Office) -> None:
    await fetched(office, a_request(ip=OTHER_IP))

    async with office.database.read() as tx:
        [fetch] = await tx.fetches.newest(MAC, 5)
    assert (fetch.result, fetch.client_ip, fetch.bytes) == (FetchResult.REFUSED, OTHER_IP, 0)
    assert (await confirmation(office))[0] is Confirmation.PENDING


async def test_unknown_phone_of_the_networks_is_listed_as_discovered(office: Office) -> None:
    name = "SEP001BD4999999.cnf.xml"

    await fetched(office, a_request("SEP001BD4999998.cnf.xml", "192.0.2.1"))
    await fetched(office, a_request(name, OTHER_IP, "CP-7942G"))

    async with office.database.read() as tx:
        [phone] = await tx.discovered_phones.rows(5)
    assert (phone.mac, phone.model, phone.names) == ("00:1B:D4:99:99:99", "CP-7942G", (name,))


async def test_recorded_name_is_printable_and_short(office: Office) -> None:
    provide = office.provide()
    provided = await provide.open(a_request("\x1b[31m" + "x" * 400))

    ended = provide.ended(provided, is_complete=True, size=0, duration_ms=0)

    assert ended.fetch.name == "?[31m" + "x" * 250


@pytest.mark.parametrize("transport", Transport)
async def test_slashes_of_a_name_are_recorded_alike(office: Office, transport: Transport) -> None:
    provide = office.provide()
    for slashes in ("", "/", "//", "///"):
        provided = await provide.open(FileRequest(transport, slashes + NAME, PHONE_IP))
        ended = provide.ended(provided, is_complete=True, size=1, duration_ms=3)
        assert (provided.result, ended.fetch.name) == (FetchResult.SERVED, NAME)


@pytest.mark.parametrize(
    "name",
    ["ATA001BD4999901.cnf.xml", "gk001bd4999901", "ld001bd4999901.cnf", "VG001BD4999901.cnf.xml"],
)
async def test_adapter_or_gateway_is_discovered_by_its_name(office: Office, name: str) -> None:
    await fetched(office, a_request(name))

    async with office.database.read() as tx:
        (found,) = await tx.discovered_phones.rows(10)
    assert (found.mac, found.names) == ("00:1B:D4:99:99:01", (name,))


async def test_records_are_in_the_order_of_the_requests(office: Office) -> None:
    provide = office.provide()
    asked = [await provide.open(a_request(name)) for name in (NAME, f"ITL{NAME}", f"CTL{NAME}")]
    ended = [provide.ended(one, is_complete=True, size=1, duration_ms=3) for one in reversed(asked)]
    await provide.record(ended)

    async with office.database.read() as tx:
        newest = [fetch.name for fetch in await tx.fetches.newest(MAC, 10)]
        current = await tx.deployments.current(MAC)
    assert newest == [f"CTL{NAME}", f"ITL{NAME}", NAME]
    # The phone has the file when the transfer ended, not when it began.
    assert current is not None
    assert current.confirmation_at == ended[-1].at > ended[-1].fetch.created_at


async def test_fetch_of_a_configuration_with_a_load_awaits_the_load(office: Office) -> None:
    information = MemoryPhone()
    information.tells[PHONE_IP] = DeviceInformation(MAC, "CP-7945G", "SCCP45.9-4-2SR4-2S")
    office.confirm = replace(office.confirm, arrival=Arrival(information, asyncio.sleep))
    async with office.database.write() as tx:
        current = await tx.deployments.current(MAC)
        assert current is not None
        named = msgspec.structs.replace(current, load="SCCP45.9-4-2SR4-2S")
        await tx.deployments.put(named)

    await fetched(office, a_request())

    state, message = await confirmation(office)
    assert state is Confirmation.PENDING
    assert str(message).startswith("The phone fetched")
    assert office.journal == []
    await office.background.done()
    state, after = await confirmation(office)
    assert (state, after) == (Confirmation.CONFIRMED, f"{message} It runs SCCP45.9-4-2SR4-2S.")
    assert [one.confirmation for one in office.journal] == [Confirmation.CONFIRMED]


@pytest.mark.parametrize(("ip", "is_seen"), [(PHONE_IP, True), (OTHER_IP, False)])
async def test_fetch_is_a_sign_of_life_unless_it_is_refused(
    office: Office, ip: str, *, is_seen: bool
) -> None:
    await fetched(office, a_request(ip=ip))

    async with office.database.read() as tx:
        seen = await tx.fleet.find(MAC)
    assert (seen is not None) is is_seen
    assert seen is None or seen.seen_at is not None
