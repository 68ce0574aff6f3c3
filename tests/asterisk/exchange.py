"""A real Asterisk and SIPp in a folder that debootstrap filled (``make test-asterisk``)."""

import asyncio
import os
import re
import shutil
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct

ROOT = Path(os.environ.get("PHONEPROV_TEST_ASTERISK", ""))
USER, SECRET = "phoneprov", "ami-secret"
_ELSEWHERE = "permit = 192.0.2.1/255.255.255.255\n"
ACCOUNTS = {
    "calls-only": ("call", ""),
    "driller": ("system,call,user", ""),
    "notifier": ("system,call", ""),
    "permit-only": ("system,call", _ELSEWHERE),
    "deny-and-permit": ("system,call", "deny = 0.0.0.0/0.0.0.0\n" + _ELSEWHERE),
}
"""Further accounts with the same secret: their rights, and the addresses that they permit."""

SECONDS = 30.0
WITHIN = "srv"
"""The folder of our files in the root folder."""


class Exchange(Struct):
    """The ports of a running Asterisk, and its files."""

    ami: int
    sip: int
    folder: Path
    tls: int = 0
    sccp: int = 0

    def log(self) -> str:
        """The log of Asterisk."""
        return (self.folder / "messages").read_text(errors="replace")

    async def command(self, line: str) -> str:
        """Run a command of Asterisk's own command line."""
        return (await _run(f"/{WITHIN}/{self.folder.name}/asterisk.conf", line)).decode()


def free_port(kind: int = socket.SOCK_STREAM) -> int:
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@asynccontextmanager
async def running(
    pjsip: str,
    certificate: str = "",
    sccp: Callable[[int], str] | None = None,
    more: Mapping[str, str] | None = None,
) -> AsyncIterator[Exchange]:
    """Start an Asterisk with these sections in its pjsip.conf, with TLS if a certificate with its
    key is given, with the sccp.conf for a port if there is one, and with more files."""
    name = f"phoneprov-{os.getpid()}-{free_port()}"
    folder = ROOT / WITHIN / name
    exchange = Exchange(free_port(), free_port(socket.SOCK_DGRAM), folder, free_port(), free_port())
    folder.mkdir(parents=True)
    inside = f"/{WITHIN}/{name}"
    tls = ""
    if certificate:
        (folder / "ami.pem").write_text(certificate)
        tls = (
            f"tlsenable = yes\ntlsbindaddr = 127.0.0.1:{exchange.tls}\n"
            f"tlscertfile = {inside}/ami.pem\ntlsprivatekey = {inside}/ami.pem\n"
        )
    files = {
        "asterisk.conf": "[directories]\n"
        f"astetcdir => {inside}\nastmoddir => {modules()}\nastvarlibdir => /var/lib/asterisk\n"
        f"astdbdir => {inside}\nastspooldir => {inside}\nastrundir => {inside}\n"
        f"astlogdir => {inside}\nastkeydir => {inside}\n",
        "logger.conf": "[general]\n[logfiles]\nmessages => notice,warning,error,security\n",
        "modules.conf": "[modules]\nautoload = yes\n"
        + "".join(f"noload => {m}\n" for m in ("chan_sip.so", "chan_skinny.so", "pbx_dundi.so")),
        "manager.conf": f"[general]\nenabled = yes\nport = {exchange.ami}\n"
        f"bindaddr = 127.0.0.1\nallowmultiplelogin = no\n{tls}\n"
        f"[{USER}]\nsecret = {SECRET}\ndeny = 0.0.0.0/0.0.0.0\n"
        "permit = 127.0.0.1/255.255.255.255\nread = system,call\nwrite = system,reporting\n"
        + "".join(
            f"\n[{name}]\nsecret = {SECRET}\nread = {read}\n"
            f"write = system,reporting,originate\n{addresses}"
            for name, (read, addresses) in ACCOUNTS.items()
        ),
        "pjsip.conf": "[udp]\ntype = transport\nprotocol = udp\n"
        f"bind = 127.0.0.1:{exchange.sip}\n\n" + pjsip,
        "extensions.conf": "[default]\n",
        # Without this file res_pjsip_notify does not load.
        "pjsip_notify.conf": "",
    }
    if sccp is not None:
        files["sccp.conf"] = sccp(exchange.sccp)
    files |= more or {}
    for file, text in files.items():
        (folder / file).write_text(text)
    process = await asyncio.create_subprocess_exec(
        "chroot", ROOT, "/usr/sbin/asterisk", "-f", "-C", f"{inside}/asterisk.conf",
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        async with asyncio.timeout(2 * SECONDS):
            while not (await _has_booted(f"{inside}/asterisk.conf")):
                assert process.returncode is None, "Asterisk ended; see the folder's messages"
                await asyncio.sleep(0.2)
        yield exchange
    finally:
        process.kill()  # on SIGTERM it first unloads all modules, which takes long
        await process.wait()
        shutil.rmtree(folder)


def modules() -> str:
    [found] = {module.parent for module in (ROOT / "usr/lib").rglob("res_pjsip.so")}
    return f"/{found.relative_to(ROOT)}"


async def _has_booted(configuration: str) -> bool:
    return b"fully booted" in await _run(configuration, "core waitfullybooted")


async def _run(configuration: str, line: str) -> bytes:
    process = await asyncio.create_subprocess_exec(
        "chroot", ROOT, "/usr/sbin/asterisk", "-C", configuration, "-rx", line,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    out, _ = await process.communicate()
    return out


class Sipp:
    """SIPp as a phone on one port."""

    def __init__(
        self,
        exchange: Exchange,
        number: str,
        password: str,
        *,
        address: str = "127.0.0.1",
        call_id: str = "%u-%p@%s",
    ) -> None:
        self.port = free_port(socket.SOCK_DGRAM)
        self._address = address
        self._call_id = call_id
        self._exchange = exchange
        self._number = number
        self._password = password

    async def register(self, expires: int = 3600, *, retry_ms: int = 4000) -> str:
        """Register, or unregister with 0; the Call-ID."""
        output = await self._run(
            _register(self._number, self._password, expires, retry_ms), "register"
        )
        [call_id, *_] = re.findall(r"^Call-ID: (\S+)", output, re.MULTILINE)
        return str(call_id)

    async def notified(self) -> str:
        """Wait for a NOTIFY and respond to it; the message as sent."""
        output = await self._run(_NOTIFIED, "notified")
        return output[output.index("NOTIFY ") :].partition("-----")[0]

    async def rings(self) -> str:
        """Wait for a call and refuse it; the messages."""
        return await self._run(_BUSY, "rings")

    async def calls(self, number: str) -> str:
        """Call a number until the exchange ends the call; the messages."""
        return await self._run(_call(self._number, self._password, number), "calls")

    async def answers_options(self, times: int) -> None:
        """Respond to the next qualify requests."""
        await self._run(_OPTIONS, "options", times)

    async def _run(self, scenario: str, name: str, times: int = 1) -> str:
        folder, name = self._exchange.folder, f"{name}-{self.port}"
        (folder / f"{name}.xml").write_text(scenario)
        trace = folder / f"{name}.log"
        trace.unlink(missing_ok=True)
        inside = f"/{WITHIN}/{folder.name}"
        process = await asyncio.create_subprocess_exec(
            "chroot", ROOT, "/usr/bin/sipp", f"127.0.0.1:{self._exchange.sip}",
            "-sf", f"{inside}/{name}.xml", "-i", self._address, "-p", str(self.port),
            "-m", str(times), "-cid_str", self._call_id,
            "-trace_msg", "-message_file", f"{inside}/{name}.log", "-timeout", "30", "-nostdin",
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        out, _ = await process.communicate()
        assert process.returncode == 0, out.decode(errors="replace")[-2000:]
        return trace.read_text(errors="replace").replace("\r", "")


def _register(number: str, password: str, expires: int, retry_ms: int) -> str:
    def message(extra: str, cseq: int) -> str:
        return (
            f'<send retrans="{retry_ms}"><![CDATA[\n'
            "REGISTER sip:[remote_ip]:[remote_port] SIP/2.0\n"
            "Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]\n"
            f"From: <sip:{number}@[remote_ip]>;tag=[call_number]\n"
            f"To: <sip:{number}@[remote_ip]>\n"
            "Call-ID: [call_id]\n"
            f"CSeq: {cseq} REGISTER\n"
            f"Contact: <sip:{number}@[local_ip]:[local_port]>\n"
            f"{extra}Max-Forwards: 70\nExpires: {expires}\nContent-Length: 0\n\n]]></send>\n"
        )

    login = f"[authentication username={number} password={password}]\n"
    return (
        '<?xml version="1.0" encoding="ISO-8859-1" ?><scenario name="register">\n'
        + message("", 1)
        + '<recv response="401" auth="true"/>\n'
        + message(login, 2)
        + '<recv response="200"/></scenario>\n'
    )


def _call(caller: str, password: str, called: str) -> str:
    def message(method: str, cseq: int, extra: str = "", to: str = "", body: str = "") -> str:
        return (
            "<send><![CDATA[\n"
            f"{method} sip:{called}@[remote_ip]:[remote_port] SIP/2.0\n"
            "Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]\n"
            f"From: <sip:{caller}@[remote_ip]>;tag=[call_number]\n"
            f"To: <sip:{called}@[remote_ip]>{to}\n"
            f"Call-ID: [call_id]\nCSeq: {cseq} {method}\n"
            f"Contact: <sip:{caller}@[local_ip]:[local_port]>\n"
            f"{extra}Max-Forwards: 70\n"
            + ("Content-Type: application/sdp\n" if body else "")
            + f"Content-Length: [len]\n\n{body}]]></send>\n"
        )

    sdp = (
        "v=0\no=- 1 1 IN IP4 [local_ip]\ns=-\nc=IN IP4 [local_ip]\nt=0 0\n"
        "m=audio 40000 RTP/AVP 8\na=rtpmap:8 PCMA/8000\n"
    )
    login = f"[authentication username={caller} password={password}]\n"
    answered = (
        "<send><![CDATA[\nSIP/2.0 200 OK\n[last_Via:]\n[last_From:]\n[last_To:]\n[last_Call-ID:]\n"
        "[last_CSeq:]\nContent-Length: 0\n\n]]></send>\n"
    )
    return (
        '<?xml version="1.0" encoding="ISO-8859-1" ?><scenario name="calls">\n'
        + message("INVITE", 1, body=sdp)
        + '<recv response="401" auth="true"/>\n'
        + message("ACK", 1, to="[peer_tag_param]")
        + message("INVITE", 2, login, body=sdp)
        + '<recv response="100" optional="true"/><recv response="200" rrs="true"/>\n'
        + message("ACK", 2, to="[peer_tag_param]")
        + '<recv request="BYE"/>\n'
        + answered
        + "</scenario>\n"
    )


_ACCEPTING = """<?xml version="1.0" encoding="ISO-8859-1" ?><scenario name="accepting">
<recv request="{method}"/>
<send><![CDATA[
SIP/2.0 200 OK
[last_Via:]
[last_From:]
[last_To:];tag=[call_number]
[last_Call-ID:]
[last_CSeq:]
Content-Length: 0

]]></send></scenario>
"""
_BUSY = (
    _ACCEPTING.format(method="INVITE")
    .replace("200 OK", "486 Busy here")
    .replace("</scenario>", '<recv request="ACK"/></scenario>')
)
_OPTIONS = _ACCEPTING.format(method="OPTIONS")
_NOTIFIED = _ACCEPTING.format(method="NOTIFY")
