"""The FTP servers that offices run: vsftpd, ProFTPD, Pure-FTPd and ftp-srv.

``PHONEPROV_TEST_FTP_SERVERS`` names the folder that the packages were unpacked into (they
refuse to be installed side by side), with ftp-srv in its ``node_modules``; ``make
test-ftp-servers`` sets it. Each serves a folder on
loopback to the user phone/s3cret, or, vsftpd, to anonymous: its own users are the system's.
"""

import contextlib
import json
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from phoneprov_adapters.ftp.client import Tls
from phoneprov_adapters.ftp.steps import FtpSettings
from support.ftp_servers import PASSWORD, USER

UNPACKED = os.environ.get("PHONEPROV_TEST_FTP_SERVERS", "")

REAL = tuple(
    f"{server}-{mode}"
    for server in ("vsftpd", "proftpd")
    for mode in ("plain", "explicit", "implicit", "explicit-reuse", "implicit-reuse")
    if UNPACKED
) + tuple(
    name
    for name in (
        *("vsftpd-nodots", "vsftpd-noepsv", "proftpd-noepsv"),
        *("pureftpd-plain", "pureftpd-explicit", "pureftpd-nodots"),
        *("ftpsrv-plain", "ftpsrv-explicit"),
    )
    if UNPACKED
)
"""``reuse``: a data connection must resume the TLS session of its control connection.
``nodots``: names that begin with a dot are refused. ``noepsv``: EPSV is refused with 550."""

REFUSING = tuple(
    f"{server}-{mode}"
    for server in ("vsftpd", "proftpd", "pureftpd")
    for mode in ("tlsonly", "full")
    if UNPACKED
)
"""``tlsonly``: a login without TLS is refused. ``full``: one client at a time."""

_VSFTPD = """
listen=YES
listen_address=127.0.0.1
listen_port={port}
background=NO
anonymous_enable=YES
ftp_username=daemon
nopriv_user=nobody
no_anon_password=YES
local_enable=NO
anon_root={above}
write_enable=YES
anon_upload_enable=YES
anon_other_write_enable=YES
anon_world_readable_only=NO
anon_umask=000
secure_chroot_dir={empty}
seccomp_sandbox=NO
pasv_address=127.0.0.1
"""
_VSFTPD_TLS = """
ssl_enable=YES
allow_anon_ssl=YES
force_anon_logins_ssl=YES
force_anon_data_ssl=YES
rsa_cert_file={certificate}
rsa_private_key_file={certificate}
ssl_ciphers=HIGH
implicit_ssl={implicit}
require_ssl_reuse={reuse}
"""
_VSFTPD_MODES = {
    "nodots": "deny_file={.*}\n",
    "noepsv": "cmds_denied=EPSV\n",
    "nopasv": "pasv_enable=NO\n",
    "norename": "anon_other_write_enable=NO\n",
    "noupload": "anon_upload_enable=NO\n",
    "umask": "anon_umask=077\n",
    "full": "max_clients=1\n",
    # The user phone does not exist on this system; the refusal comes before the password.
    "tlsonly": "local_enable=YES\nforce_local_logins_ssl=YES\n",
}
_PROFTPD_MODES = {
    "noepsv": "<Limit EPSV>\nDenyAll\n</Limit>\n",
    "full": "MaxClients 1\n",
}
_PUREFTPD_MODES = {"nodots": ["-x"], "full": ["-c", "1"], "umask": ["-U", "177:077"]}
_FTP_SRV = """
const {{FtpSrv}} = require({module});
const pem = require("fs").readFileSync({certificate});
const options = {{url: "ftp://127.0.0.1:{port}", pasv_url: "127.0.0.1", anonymous: false}};
if ({secure}) options.tls = {{key: pem, cert: pem}};
const server = new FtpSrv(options);
server.on("login", (login, accept, refuse) =>
  login.username === {user} && login.password === {password}
    ? accept({{root: {folder}}}) : refuse(new Error("no")));
server.on("client-error", () => {{}});
server.listen();
"""
_PROFTPD = """
ServerName phones
ServerType standalone
DefaultAddress 127.0.0.1
SocketBindTight on
Port {port}
UseIPv6 off
User nobody
Group nogroup
AuthOrder mod_auth_file.c
AuthUserFile {users}
RequireValidShell off
WtmpLog off
PidFile {empty}/pid
ScoreboardFile {empty}/scoreboard
DelayEngine off
AllowOverwrite on
UseReverseDNS off
Umask 000
ModulePath {modules}
"""
_PROFTPD_TLS = """
LoadModule mod_tls.c
TLSEngine on
TLSRequired on
TLSRSACertificateFile {certificate}
TLSRSACertificateKeyFile {certificate}
TLSOptions {options}
"""


@contextlib.contextmanager
def real_server(
    name: str, certificate: Path, ca: Path, disk: str = ""
) -> Iterator[tuple[FtpSettings, Path]]:
    """The server of this name; yields the client's settings, and its folder, which is a disk of its
    own if ``disk`` names a size."""
    server, mode, *more = name.split("-")
    tls: Tls = "explicit" if mode == "explicit" else "implicit" if mode == "implicit" else "off"
    offered: Tls = "explicit" if mode == "tlsonly" else tls
    # A folder of its own: the server becomes a user who may not pass through the tests' folders.
    with tempfile.TemporaryDirectory(prefix="phoneprov-ftp-") as made:
        port = _free_port()
        own, folder = Path(made), Path(made) / "files"
        own.chmod(0o711)
        folder.mkdir()
        if disk:
            command = ["mount", "-t", "tmpfs", "-o", f"size={disk}", "tmpfs", str(folder)]
            subprocess.run(command, check=True)
        folder.chmod(0o777)
        if server == "pureftpd":
            command = _pureftpd(own, folder, port, offered, certificate, mode)
        elif server == "ftpsrv":
            command = _ftpsrv(own, folder, port, tls, certificate)
        else:
            configure = _vsftpd if server == "vsftpd" else _proftpd
            command = configure(own, folder, port, offered, certificate, mode, reuse=bool(more))
        log = own / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(command, env=_environment(), stdout=output, stderr=output)
        try:
            _wait_for(process, port, log)
            anonymous = server == "vsftpd" and mode != "tlsonly"
            settings = FtpSettings(
                port=port,
                user="anonymous" if anonymous else USER,
                password=PASSWORD,
                tls=tls,
                tls_ca=None if tls == "off" else str(ca),
                directory=folder.name if anonymous else "",
            )
            yield settings, folder
        finally:
            process.terminate()
            process.wait(10)
            if disk:
                subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _vsftpd(
    own: Path, folder: Path, port: int, tls: Tls, certificate: Path, mode: str, *, reuse: bool
) -> list[str]:
    (own / "empty").mkdir(mode=0o755)
    # Its root must not be writable for anonymous.
    settings = _VSFTPD.format(port=port, above=folder.parent, empty=own / "empty")
    if tls != "off":
        settings += _VSFTPD_TLS.format(
            certificate=certificate,
            implicit="YES" if tls == "implicit" else "NO",
            reuse="YES" if reuse else "NO",
        )
    settings += _VSFTPD_MODES.get(mode, "")
    configuration = own / "vsftpd.conf"
    configuration.write_text(settings.lstrip())
    return [f"{UNPACKED}/usr/sbin/vsftpd", str(configuration)]


def _proftpd(
    own: Path, folder: Path, port: int, tls: Tls, certificate: Path, mode: str, *, reuse: bool
) -> list[str]:
    users = own / "users"
    users.write_text(f"{USER}:{_hashed()}:65534:65534::{folder}:/bin/false\n")
    users.chmod(0o600)
    settings = _PROFTPD.format(
        port=port, users=users, empty=own, modules=f"{UNPACKED}/usr/lib/proftpd"
    )
    if tls != "off":
        options = ["UseImplicitSSL"] if tls == "implicit" else []
        options += [] if reuse else ["NoSessionReuseRequired"]
        settings += _PROFTPD_TLS.format(certificate=certificate, options=" ".join(options))
        settings = settings.replace("TLSOptions \n", "")
    settings += _PROFTPD_MODES.get(mode, "")
    if mode == "umask":
        settings = settings.replace("Umask 000", "Umask 077")
    configuration = own / "proftpd.conf"
    configuration.write_text(settings.lstrip())
    return [f"{UNPACKED}/usr/sbin/proftpd", "--nodaemon", "--config", str(configuration)]


def _pureftpd(
    own: Path, folder: Path, port: int, tls: Tls, certificate: Path, mode: str
) -> list[str]:
    users, database = own / "users", own / "users.pdb"
    users.write_text(f"{USER}:{_hashed()}:65534:65534::{folder}/./::::::::::::\n")
    make = [f"{UNPACKED}/usr/bin/pure-pw", "mkdb", str(database), "-f", str(users)]
    subprocess.run(make, check=True, env=_environment())
    command = [f"{UNPACKED}/usr/sbin/pure-ftpd", "-S", f"127.0.0.1,{port}", "-u", "1"]
    command += ["-l", f"puredb:{database}", "-P", "127.0.0.1", "-U", "000:000"]
    command += _PUREFTPD_MODES.get(mode, [])
    return command + (["-Y", "2", "-2", str(certificate)] if tls != "off" else [])


def _ftpsrv(own: Path, folder: Path, port: int, tls: Tls, certificate: Path) -> list[str]:
    script = own / "server.js"
    words = {
        "module": f"{UNPACKED}/node_modules/ftp-srv",
        "certificate": str(certificate),
        "folder": str(folder),
        "user": USER,
        "password": PASSWORD,
    }
    quoted = {name: json.dumps(word) for name, word in words.items()}
    secure = json.dumps(tls != "off")
    script.write_text(_FTP_SRV.format(port=port, secure=secure, **quoted))
    return ["node", str(script)]


def _hashed() -> str:
    command = ["openssl", "passwd", "-6", PASSWORD]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _environment() -> dict[str, str]:
    libraries = ":".join(str(path.parent) for path in Path(UNPACKED).glob("usr/lib/*/*.so.*"))
    return {**os.environ, "LD_LIBRARY_PATH": libraries}


def _wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.02)
    raise RuntimeError(f"The FTP server did not start: {log.read_text(errors='replace')}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
