"""Endpoints, auths and AORs that a real Asterisk asks the service for (``make
test-asterisk-lines``)."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from asterisk.check_lines import TOKEN, Office, block
from asterisk.exchange import Sipp, running
from faults.served import Served
from support.api import data_of

NUMBER, PASSWORD = "1001", "s1p&secret=1%41"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The service, not yet started."""
    made = Served(
        tmp_path_factory.mktemp("office"),
        PHONEPROV_ASTERISK_TOKEN=TOKEN,
        PHONEPROV_ASTERISK_PJSIP="on",
    )
    yield made
    made.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def office(service: Served) -> AsyncIterator[Office]:
    port = f":{service.port}/"
    tables = block("extconfig.conf") + block("extconfig.conf, PJSIP")
    files = {
        "extconfig.conf": tables.replace(":8000/", port),
        "res_curl.conf": block("res_curl.conf").replace("THE-TOKEN", TOKEN),
        "sorcery.conf": block("sorcery.conf"),
    }
    service.start()
    async with running("", more=files) as exchange:
        made = Office(service, exchange)
        async with made.client:
            await made.begin()
            yield made


pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_phone_registers_with_an_extension_that_asterisk_asks_for(office: Office) -> None:
    body = {"type": "chan_pjsip", "extension": NUMBER, "name": 'Zoë "Z" <1>', "password": PASSWORD,
            "voicemail": True}  # fmt: skip
    extension = data_of(await office.admin.post("/extensions", body), 201)["uuid"]
    user = {"first_name": "Ada", "last_name": "Lovelace", "username": "ada",
            "email": "ada@example.com", "password": "analytical engine 1843"}  # fmt: skip
    uuid = data_of(await office.admin.post("/users", user), 201)["uuid"]
    link = {"user_uuid": uuid, "extension_uuid": extension}
    data_of(await office.admin.post("/user-extensions", link), 201)

    await Sipp(office.exchange, NUMBER, PASSWORD).register()
    shown = await office.exchange.command(f"pjsip show endpoint {NUMBER}")
    assert f"{NUMBER}/sip:{NUMBER}@127.0.0.1" in shown
    assert "(g722|alaw|ulaw)" in shown
    assert "Zoë" in shown
    assert PASSWORD not in office.exchange.log()


async def test_extension_that_is_not_active_is_refused(office: Office) -> None:
    [extension] = data_of(await office.admin.get("/extensions"))
    data_of(await office.admin.put(f"/extensions/{extension['uuid']}", {"is_active": False}))
    with pytest.raises(AssertionError):
        async with asyncio.timeout(40):
            await Sipp(office.exchange, NUMBER, PASSWORD).register()
