"""Files for phones over HTTP."""

import asyncio
from typing import Any

import pytest

from phoneprov_core.features.serving.model import FetchResult
from phoneprov_core.features.serving.use_cases import Ended
from phoneprov_http.phone.app import PhoneFiles
from unit.features.serving.conftest import CONTENT, MAC, NAME, OTHER_IP, PHONE_IP, Office, office

__all__ = ["office"]


class Reply:
    """What the application sent."""

    def __init__(self, sent: list[dict[str, Any]]) -> None:
        self.status = sent[0]["status"]
        self.headers = dict(sent[0]["headers"])
        self.body = b"".join(message.get("body", b"") for message in sent[1:])


async def ask(
    office: Office, path: str, *, method: str = "GET", ip: str = PHONE_IP, leaves: bool = False
) -> Reply:
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, str]:
        if not leaves:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)
        await asyncio.sleep(0)

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "client": (ip, 50000),
        "headers": [(b"x-ciscoipphonemodelname", b"CP-7942G")],
    }
    provide = office.provide()
    ended: list[Ended] = []
    await PhoneFiles(provide, ended.append)(scope, receive, send)
    if ended:
        await provide.record(ended)
    return Reply(sent)


async def results(office: Office) -> list[FetchResult]:
    async with office.database.read() as tx:
        return [fetch.result for fetch in await tx.fetches.newest(MAC, 10)]


async def test_configuration_is_sent_with_its_length(office: Office) -> None:
    reply = await ask(office, f"/{NAME}")

    assert (reply.status, reply.body) == (200, CONTENT)
    assert reply.headers[b"content-length"] == str(len(CONTENT)).encode()
    assert await results(office) == [FetchResult.SERVED]


@pytest.mark.parametrize("path", [f"//{NAME}", f"///{NAME.lower()}"])
async def test_slashes_before_a_name_are_one(office: Office, path: str) -> None:
    assert (await ask(office, path)).status == 200
    assert (await ask(office, f"{path}/")).status == 403


async def test_head_sends_no_body_and_is_not_recorded(office: Office) -> None:
    reply = await ask(office, f"/{NAME}", method="HEAD")

    assert (reply.status, reply.body) == (200, b"")
    assert reply.headers[b"content-length"] == str(len(CONTENT)).encode()
    assert await results(office) == []


async def test_large_file_is_sent_in_pieces(office: Office) -> None:
    (office.folder / "firmware.bin").write_bytes(b"f" * 300_000)

    assert (await ask(office, "/firmware.bin")).body == b"f" * 300_000


async def test_disconnected_client_gets_a_failed_record(office: Office) -> None:
    (office.folder / "sep001bd4123456.tlv").write_bytes(b"f" * 3_000_000)

    reply = await ask(office, "/sep001bd4123456.tlv", leaves=True)

    assert len(reply.body) < 3_000_000
    assert await results(office) == [FetchResult.FAILED]


@pytest.mark.parametrize(
    ("path", "ip", "status"),
    [
        ("/missing.xml", PHONE_IP, 404),
        (f"/{NAME}", OTHER_IP, 403),
        ("/../etc/passwd", PHONE_IP, 403),
        ("/", PHONE_IP, 403),
    ],
)
async def test_failure_has_a_status_and_no_body(
    office: Office, path: str, ip: str, status: int
) -> None:
    reply = await ask(office, path, ip=ip)

    assert (reply.status, reply.body) == (status, b"")


async def test_other_methods_are_not_allowed(office: Office) -> None:
    reply = await ask(office, f"/{NAME}", method="PUT")

    assert (reply.status, reply.headers[b"allow"]) == (405, b"GET, HEAD")


async def test_unavailable_database_is_503(office: Office) -> None:
    await office.database.close()

    assert (await ask(office, f"/{NAME}")).status == 503


async def test_model_header_is_recorded_for_an_unknown_phone(office: Office) -> None:
    await ask(office, "/SEP001BD4999999.cnf.xml")

    async with office.database.read() as tx:
        [phone] = await tx.discovered_phones.rows(5)
    assert phone.model == "CP-7942G"
