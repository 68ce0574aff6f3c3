"""TLS, and invalid settings."""

import ssl
from pathlib import Path
from typing import Any

import pytest
import trustme

from phoneprov_adapters.asterisk.connection import ManagerConnection, ManagerSettings
from phoneprov_adapters.asterisk.manager import Manager
from phoneprov_core.kernel.errors import Refused, TimedOut
from support.ami_client import RESTART, TIMEOUT, manager
from support.ami_stub import SECRET, USER, AmiStub

AUTHORITY = trustme.CA()


def tls(name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    AUTHORITY.issue_cert(name).configure_cert(context)
    return context


@pytest.fixture(scope="module")
def authority_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("ca") / "ca.pem"
    AUTHORITY.cert_pem.write_to_path(path)
    return str(path)


async def test_trusted_certificate_is_accepted(authority_file: str) -> None:
    async with AmiStub(tls=tls("127.0.0.1")) as stub:
        await manager(stub, tls=True, tls_ca=authority_file).perform(RESTART)
        await stub.closed.wait()

    assert stub.names == ["Login", "SCCPDeviceRestart", "Logoff"]


@pytest.mark.parametrize(
    ("name", "is_trusted", "words"),
    [
        ("127.0.0.1", False, "certificate"),
        ("pbx.example", True, "certificate"),
        (None, True, "PHONEPROV_AMI_TLS"),
    ],
)
async def test_server_with_another_or_without_a_certificate_gets_nothing(
    authority_file: str, name: str | None, is_trusted: bool, words: str
) -> None:
    trusted = {"tls_ca": authority_file} if is_trusted else {}
    async with AmiStub(tls=tls(name) if name else None) as stub:
        with pytest.raises(Refused, match=words):
            await manager(stub, tls=True, **trusted).perform(RESTART)

    assert stub.received == []


async def test_silent_manager_times_out_in_the_handshake(
    stub: AmiStub, authority_file: str
) -> None:
    stub.banner = None

    with pytest.raises(TimedOut):
        await manager(stub, tls=True, tls_ca=authority_file, timeout=TIMEOUT).perform(RESTART)

    await stub.closed.wait()


def test_authority_file_without_certificates_is_refused_at_start(tmp_path: Path) -> None:
    empty = tmp_path / "empty.pem"
    empty.write_text("nothing\n")

    for name in (str(empty), str(tmp_path / "missing.pem")):
        settings = ManagerSettings(host="pbx", user=USER, secret=SECRET, tls=True, tls_ca=name)
        with pytest.raises(ValueError, match=Path(name).name):
            Manager(ManagerConnection(settings))


@pytest.mark.parametrize(
    "changes",
    [
        {"host": ""},
        {"host": "a b"},
        {"host": "a\r\n"},
        {"host": "x" * 64},
        {"host": "a..b"},
        {"port": 0},
        {"port": 65536},
        {"user": "a\r\nAction: Command"},
        {"secret": f"{SECRET}\n"},
        {"secret": f"{SECRET}\0"},
        {"timeout": 0},
        {"timeout": float("nan")},
    ],
)
def test_invalid_setting_is_refused(changes: dict[str, Any]) -> None:
    values = {"host": "pbx", "user": USER, "secret": SECRET} | changes

    with pytest.raises(ValueError, match="manager") as caught:
        ManagerSettings(**values)

    assert SECRET not in str(caught.value)
