"""Messages with the setting or the right to change, for each kind of refusal."""

import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme

from phoneprov_adapters.ftp.client import Tls
from phoneprov_adapters.ftp.steps import FtpSettings
from phoneprov_adapters.ftp.uploader import FtpUploader
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.kernel.errors import PhoneprovError, Refused
from phoneprov_core.switching.devices.ports import Upload
from support.ftp_faults import Fault
from support.ftp_rigs import LOOPBACK
from support.ftp_scripted import ScriptedFtp

NOW = datetime.now(UTC)
UPLOAD = Upload("127.0.0.1", "SEP001122334455.cnf.xml", b"new", "a-1")
ROOT = "refusing to run with writable root inside chroot()"
Issue = Callable[[trustme.CA], trustme.LeafCert]


class SelfSigned(trustme.LeafCert):
    """The certificate of the authority itself."""

    def __init__(self, authority: trustme.CA) -> None:
        super().__init__(authority.private_key_pem.bytes(), authority.cert_pem.bytes(), [])


async def refusal(port: int, tls: Tls, ca: Path | None = None, timeout: float = 5.0) -> str:
    settings = FtpSettings(
        host="127.0.0.1", port=port, tls=tls, tls_ca=str(ca) if ca else None, timeout=timeout
    )
    with pytest.raises(PhoneprovError) as refused:
        async with FtpUploader(settings, PhoneNetworks.parse(LOOPBACK)).opened(None, timeout):
            pass
    return refused.value.message


@pytest.mark.parametrize("implicit", [False, True])
@pytest.mark.parametrize(
    ("issue", "trusted", "advice"),
    [
        (
            lambda ca: ca.issue_cert("127.0.0.1", not_after=NOW - timedelta(days=1)),
            True,
            "has expired",
        ),
        (
            lambda ca: ca.issue_cert("127.0.0.1", not_before=NOW + timedelta(days=1)),
            True,
            "not valid yet",
        ),
        (lambda ca: ca.issue_cert("127.0.0.9"), True, "for another address"),
        (lambda ca: ca.issue_cert("127.0.0.1"), False, "authority is unknown; set PHONEPROV_FTP"),
        (lambda ca: ca.issue_cert("127.0.0.1"), None, "authority is unknown; set PHONEPROV_FTP"),
        (SelfSigned, False, "its certificate is self-signed; set PHONEPROV_FTP_TLS_CA"),
    ],
    ids=["expired", "early", "name", "authority", "system", "self"],
)
async def test_bad_certificate_is_named(
    tmp_path: Path, implicit: bool, issue: Issue, trusted: bool | None, advice: str
) -> None:
    authority, file = trustme.CA(), tmp_path / "ca.pem"
    (authority if trusted else trustme.CA()).cert_pem.write_to_path(str(file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    issue(authority).configure_cert(context)

    async with ScriptedFtp(context, implicit=implicit).serving() as server:
        tls: Tls = "implicit" if implicit else "explicit"
        ca = None if trusted is None else file
        message = await refusal(server.port, tls, ca)
        assert advice in message
        assert "connecting" in message
        assert "USER" not in server.seen


@pytest.mark.parametrize(
    ("reply", "verbs", "advice"),
    [
        (f"500 OOPS: vsftpd: {ROOT}", ["PASS"], r"\(vsftpd\) .*allow_writeable_chroot=YES"),
        ("500 OOPS: cannot change directory:/x", ["PASS"], r"\(vsftpd\) .*check local_root"),
        ("500 OOPS: child died", ["PASS"], r"\(vsftpd\) .*Check vsftpd.conf"),
        ("550", ["EPSV", "PASV"], r"refuses passive data connections .*pasv_enable=YES"),
        ("553", ["STOR"], r"refused the temporary file .*anon_upload_enable=YES"),
        ("550", ["RNFR"], r"refused to rename the file .*anon_other_write_enable=YES"),
        ("550", ["RNTO"], r"refused to rename the file .*anon_other_write_enable=YES"),
    ],
)
async def test_missing_right_or_setting_of_the_server_is_named(
    reply: str, verbs: list[str], advice: str
) -> None:
    scripted = ScriptedFtp()
    scripted.files[f"/{UPLOAD.filename}"] = b"old"
    scripted.faults = [Fault(verb, "refuse", 0, reply) for verb in verbs]
    async with scripted.serving() as server:
        settings = FtpSettings(
            host="127.0.0.1", port=server.port, user=server.user, password=server.password
        )
        with pytest.raises(Refused, match=advice):
            await FtpUploader(settings, PhoneNetworks.parse(LOOPBACK)).upload(UPLOAD)

        assert scripted.files == {f"/{UPLOAD.filename}": b"old"}


@pytest.mark.parametrize(
    ("offered", "tls", "setting"),
    [
        ("off", "implicit", "PHONEPROV_FTP_TLS=explicit"),
        ("off", "explicit", "PHONEPROV_FTP_TLS=off"),
        ("implicit", "explicit", "PHONEPROV_FTP_TLS=implicit"),
    ],
)
async def test_tls_of_another_kind_names_the_setting_and_sends_no_password(
    offered: Tls, tls: Tls, setting: str
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)

    is_implicit = offered == "implicit"
    server = ScriptedFtp(context if is_implicit else None, implicit=is_implicit)
    async with server.serving():
        timeout = 0.5 if is_implicit else 5.0
        assert setting in await refusal(server.port, tls, timeout=timeout)
        assert "USER" not in server.seen
