"""TLS, and invalid settings."""

import ssl
from pathlib import Path
from typing import Any

import pytest
import trustme

from phoneprov_adapters.asterisk.connection import ManagerConnection
from phoneprov_adapters.asterisk.manager import Manager
from phoneprov_adapters.asterisk.settings import ManagerSettings
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


async def test_certificate_that_the_system_does_not_trust_is_refused() -> None:
    async with AmiStub(tls=tls("127.0.0.1")) as stub:
        with pytest.raises(Refused, match="certificate"):
            await manager(stub, tls=True).perform(RESTART)

    assert stub.received == []


async def test_certificate_for_another_name_is_refused(authority_file: str) -> None:
    async with AmiStub(tls=tls("pbx.example")) as stub:
        with pytest.raises(Refused, match="certificate"):
            await manager(stub, tls=True, tls_ca=authority_file).perform(RESTART)

    assert stub.received == []


async def test_manager_without_tls_gets_nothing_in_clear(
    stub: AmiStub, authority_file: str
) -> None:
    with pytest.raises(Refused, match="PHONEPROV_AMI_TLS"):
        await manager(stub, tls=True, tls_ca=authority_file).perform(RESTART)

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
