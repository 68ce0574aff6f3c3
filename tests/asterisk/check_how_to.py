"""The how-to of lines, from its top to its end, on a Debian with Asterisk and chan_sccp whose
configuration is that of the packages (``make test-asterisk-lines``).

It runs in a network and a mount namespace of its own: the addresses, ports and paths are those of
the page.
"""

import asyncio
import os
import re
import ssl
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
import trustme

from asterisk.check_lines import PAGE, DeskPhone, Office, block, mac_of
from asterisk.exchange import ROOT, Exchange
from faults.served import SERVE, Served
from support.api import data_of
from support.polling import until, wait_for
from support.scale import note

PBX, PHONES = "10.20.0.250", "10.20.0.1"
HOSTS = ("10.0.0.2", "10.0.0.3")
PORT = 8000
FILES = ("extconfig.conf", "res_curl.conf", "sccp.conf", "extensions.conf", "voicemail.conf")
SECONDS = 60.0


def commands(marker: str) -> str:
    """The block of commands of the page that contains this text."""
    [found] = [
        one for one in re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL) if marker in one
    ]
    return str(found)


def run(*command: str | Path, **more: str) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **more}
    )
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


class At(Served):
    """A host of the service, at the port of the page."""

    def __init__(self, folder: Path, address: str, environment: dict[str, str]) -> None:
        super().__init__(folder, command=(*SERVE, "--host", address))
        self.environment |= environment
        self.port, self._address = PORT, address

    def listens(self) -> bool:
        return bool(run("ss", "-ltnH", "src", f"{self._address}:{PORT}"))


class Debian(Exchange):
    """An Asterisk as the packages configure it, in a copy of the root folder."""

    process: subprocess.Popen[bytes] | None = None

    def write(self, name: str, text: str, *, add: bool = False) -> None:
        with (self.folder / "etc/asterisk" / name).open("a" if add else "w") as file:
            file.write(text)

    def start(self) -> None:
        self.process = subprocess.Popen(
            ["chroot", self.folder, "/usr/sbin/asterisk", "-f"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        wait_for(lambda: "fully booted" in self.rx("core waitfullybooted"), seconds=SECONDS)

    def rx(self, line: str) -> str:
        done = subprocess.run(
            ["chroot", self.folder, "asterisk", "-rx", line],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.stdout

    async def command(self, line: str) -> str:
        return await asyncio.to_thread(self.rx, line)

    def follow(self, marker: str) -> None:
        """Run the commands of the page for Asterisk."""
        run("chroot", self.folder, "sh", "-e", "-c", commands(marker))

    def log(self) -> str:
        return (self.folder / "var/log/asterisk/messages").read_text(errors="replace")


@pytest.fixture(scope="module")
def debian(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Debian]:
    """The addresses of the page, and Asterisk with its files, not yet started."""
    folder = tmp_path_factory.mktemp("debian")
    for kept, mounted in ((ROOT, folder / "root"), (Path("/etc"), Path("/etc"))):
        upper, work = folder / f"upper{mounted.name}", folder / f"work{mounted.name}"
        for one in (upper, work, mounted):
            one.mkdir(exist_ok=True)
        options = f"lowerdir={kept},upperdir={upper},workdir={work}"
        run("mount", "-t", "overlay", "overlay", "-o", options, mounted)
    run("ip", "link", "set", "lo", "up")
    for address in (PBX, PHONES, *HOSTS):
        run("ip", "address", "add", f"{address}/32", "dev", "lo")
    made = Debian(5038, 5060, folder / "root", sccp=2000)
    yield made
    if made.process is not None:
        made.process.kill()
        made.process.wait()
    run("umount", folder / "root")


@pytest.fixture(scope="module")
def service(debian: Debian, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The service, as the page starts it, and Asterisk with the files of the page."""
    # The folder of the page's token is made in the overlay of /etc alone.
    exported = run("sh", "-e", "-c", f"{commands('openssl rand')} env -0")
    environment = dict(
        one.split("=", 1) for one in exported.split("\0") if one.startswith("PHONEPROV_")
    )
    token = Path(environment["PHONEPROV_ASTERISK_TOKEN_FILE"])
    assert token.stat().st_mode & 0o077 == 0
    manager = (PAGE.parent / "asterisk.md").read_text()
    found = re.search(r"; manager\.conf\n(.*?)```", manager, re.DOTALL)
    assert found
    account = re.sub(r"^ +", "", found[1], flags=re.MULTILINE).replace("10.0.0.5", "127.0.0.1")
    debian.write("manager.conf", account.replace("= ...", "= ami-secret"), add=True)
    debian.follow("chan_skinny")
    for name in FILES:
        debian.write(name, block(name))
    # A phone and a number from before, and a wrong token.
    debian.write("sccp.conf", STATIC, add=True)
    debian.start()
    assert "Not Running" not in debian.rx("module show like chan_sccp")
    debian.write(
        "res_curl.conf", block("res_curl.conf").replace("THE-TOKEN", token.read_text().strip())
    )
    made = At(
        tmp_path_factory.mktemp("office"),
        "127.0.0.1",
        {
            **environment,
            "PHONEPROV_UPLOADER": "served",
            "PHONEPROV_PHONE_NETWORKS": "127.0.0.0/8",
            "PHONEPROV_RESTART": "ami",
            "PHONEPROV_AMI_HOST": "127.0.0.1",
            "PHONEPROV_AMI_USER": "phoneprov",
            "PHONEPROV_AMI_SECRET": "ami-secret",
        },
    )
    made.start()
    yield made
    made.close()


def static(number: int, line: str) -> str:
    name = "SEP" + mac_of(number).replace(":", "")
    return (
        f"\n[{name}]\ntype = device\ndevicetype = 7945\nbutton = line,{line}\n"
        f"\n[{line}]\ntype = line\nlabel = {line}\ncid_num = {line}\n"
    )


STATIC = static(1, "101") + static(2, "102")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def office(service: Served, debian: Debian) -> AsyncIterator[Office]:
    made = Office(service, debian)
    async with made.client:
        await made.begin()
        yield made
    for phone in made.phones.values():
        await phone.stop()


pytestmark = pytest.mark.asyncio(loop_scope="module")


def near(phone: DeskPhone) -> DeskPhone:
    """The phone in the network that sccp.conf permits."""
    phone.host, phone.source = PBX, PHONES
    return phone


async def started(phone: DeskPhone, seconds: float = SECONDS) -> float:
    """Start a phone; the seconds until it is registered."""
    began = time.monotonic()
    try:
        async with asyncio.timeout(seconds):
            await near(phone).start()
    except TimeoutError:
        await phone.disconnected()
        raise
    return time.monotonic() - began


async def test_phones_move_one_after_the_other(office: Office, debian: Debian) -> None:
    first, second = await office.phone(1), await office.phone(2)
    await started(first)
    await started(second)
    await office.user("ada", "101")
    [user] = [one for one in data_of(await office.admin.get("/users")) if one["username"] == "ada"]
    [profile] = data_of(await office.admin.get("/phone-profiles"), metadata=False)
    assert profile["user_uuid"] == user["uuid"]
    order = {"profile_uuid": profile["uuid"], "mac": first.mac}
    assert (await office.admin.post("/phone-profiles/switch", order)).status_code == 200
    await first.registered(2)
    debian.follow("module reload")  # with the right token from here on

    debian.write("sccp.conf", block("sccp.conf") + static(2, "102"))
    moving = re.findall(r"asterisk -rx '(sccp .*?)'", commands("sccp reload device"))
    name = "SEP" + first.mac.replace(":", "")
    for command in moving:
        await office.exchange.command(command.replace("SEP001BD4123456", name))
    await first.registered(3)
    assert await office.rings_at("101") == {first.mac}
    assert second.registrations == 1
    assert await office.rings_at("102") == {second.mac}


async def test_checks_of_the_page_succeed(office: Office, service: Served) -> None:
    text = commands("phoneprov doctor").replace("001bd4123456", mac_of(1))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**service.environment, "token": office.admin.token, "PATH": path}
    found = await asyncio.create_subprocess_exec(
        "sh", "-c", text, env={**os.environ, **environment}, stdout=asyncio.subprocess.PIPE
    )
    out = (await found.communicate())[0].decode()
    assert "The service answers for SEP001BD4000001 as Asterisk asks." in out
    assert "Asterisk has" in out
    assert '"name":"101"' in out


async def test_voicemail_takes_a_call_to_a_user_without_a_phone(
    office: Office, debian: Debian
) -> None:
    await office.phones[mac_of(1)].stop()
    await office.exchange.command("channel originate Local/101@default application Wait 5")

    async def is_taken() -> bool:
        return "VoiceMail" in await office.exchange.command("core show channels")

    await until(is_taken)
    await office.exchange.command("channel request hangup all")
    del office.phones[mac_of(1)]


async def test_port_of_chan_sccp_is_closed_to_other_networks(office: Office) -> None:
    phone = office.phones[mac_of(1)] = DeskPhone(mac_of(1), 2000)
    with pytest.raises((TimeoutError, OSError)):
        async with asyncio.timeout(3):
            await phone.start()
    await phone.disconnected()
    assert await started(phone) < 5


@asynccontextmanager
async def hanging(address: str) -> AsyncIterator[None]:
    """A host that accepts connections and says nothing."""

    held: list[asyncio.StreamWriter] = []

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        held.append(writer)
        await reader.read()

    server = await asyncio.start_server(silent, address, PORT)
    try:
        yield
    finally:
        server.close()
        for writer in held:
            writer.close()


async def test_second_host_answers_for_one_that_is_away_or_hangs(
    office: Office, service: Served, debian: Debian
) -> None:
    debian.write("extconfig.conf", block("extconfig.conf, two hosts"))
    debian.follow("module reload")
    more = {"PHONEPROV_ASTERISK_NETWORKS": ",".join(HOSTS)}
    second = At(service.folder, HOSTS[1], {**service.environment, **more})
    await asyncio.to_thread(second.start)
    try:
        phone = await office.phone(3, own="903")
        away = await started(phone)
        await phone.leave()
        async with hanging(HOSTS[0]):
            ringing = asyncio.create_task(office.rings_at("102"))
            hung = await started(phone)
            assert await ringing == {mac_of(2)}
        note(
            f"how-to: the second host answers in {away:.1f} s for one that is away, and in "
            f"{hung:.1f} s for one that hangs"
        )
        assert away < 5
        assert await office.rings_at("903") == {phone.mac}
    finally:
        await asyncio.to_thread(second.close)


async def test_asterisk_asks_over_tls_and_verifies_the_certificate(
    office: Office, debian: Debian
) -> None:
    known, unknown = trustme.CA(), trustme.CA()
    authorities = debian.folder / "etc/ssl/certs/ca-certificates.crt"
    authorities.parent.mkdir(parents=True, exist_ok=True)
    with authorities.open("ab") as file:
        file.write(known.cert_pem.bytes())
    debian.write(
        "extconfig.conf",
        block("extconfig.conf").replace("http://127.0.0.1:8000", "https://127.0.0.1:8443"),
    )
    debian.follow("module reload")
    for authority, is_admitted in ((unknown, False), (known, True)):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(context)
        async with tls_before(context):
            phone = await office.phone(4) if not is_admitted else office.phones[mac_of(4)]
            if is_admitted:
                await started(phone)
            else:
                with pytest.raises(TimeoutError):
                    await started(phone, 3)


@asynccontextmanager
async def tls_before(context: ssl.SSLContext) -> AsyncIterator[None]:
    """TLS before the service."""

    opened: list[asyncio.StreamWriter] = []

    async def copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened.append(writer)
        while data := await reader.read(65536):
            writer.write(data)
        writer.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner = await asyncio.open_connection("127.0.0.1", PORT)
        await asyncio.gather(copied(reader, inner[1]), copied(inner[0], writer))

    server = await asyncio.start_server(connected, "127.0.0.1", 8443, ssl=context)
    try:
        yield
    finally:
        server.close()
        for writer in opened:
            writer.transport.abort()
