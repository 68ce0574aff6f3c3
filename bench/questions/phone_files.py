"""A fleet of phones that boots at once: ``python -m bench.questions.phone_files``.

500 phones fetch five names each by TFTP, two of them missing, from ``phoneprov provision`` and from
Debian's tftpd-hpa in one run; 16 clients fetch configurations of 4 KB one after the other, and
1,000 at once; then by HTTP from ``phoneprov provision`` and from nginx. Last, one
client fetches 200 MiB of firmware while the memory of ``phoneprov provision`` is measured. Needs
root (tftpd-hpa changes its root folder) and the Debian packages tftpd-hpa, nginx-light and curl.
Exits with 1 if a phone's fetch fails or a rate is less than its part (GOALS) of tftpd-hpa's.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from phoneprov_adapters.composition.lifecycle import open_phoneprov
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_core.inventory.phones.model import CreatePhone
from phoneprov_core.inventory.profiles.model import CreateProfile, SwitchRequest
from phoneprov_core.kernel.actor import system_actor
from phoneprov_core.people.users.model import CreateUser

PHONES = 500
ROUNDS = 3
CLIENTS = 16
FETCHES = 800
CROWD = 1000
PASSWORD = "enchantress-of-numbers"
FIRMWARE = 200 * 1024 * 1024
CONFIGURATION = f"<device>{'x' * (4096 - 17)}</device>"


def mac_of(number: int) -> str:
    return f"001BD4{number:06X}"


def address_of(number: int) -> str:
    """Each phone has an address of its own: transfers are limited for each address."""
    return f"127.1.{number // 250}.{number % 250 + 1}"


def names_of(number: int) -> list[str]:
    mac = mac_of(number)
    return [
        f"CTLSEP{mac}.tlv",
        f"ITLSEP{mac}.tlv",
        f"SEP{mac}.cnf.xml",
        "dialplan.xml",
        "ringlist.xml",
    ]


async def tftp(address: tuple[str, int], name: str, source: str = "127.0.0.1") -> int:
    """The number of bytes of a file, -1 for a missing one. Repeats lost requests like a phone."""
    loop = asyncio.get_running_loop()
    for _ in range(5):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.setblocking(False)
            client.bind((source, 0))
            await loop.sock_sendto(client, b"\0\x01" + name.encode() + b"\0octet\0", address)
            received, expected = 0, 1
            try:
                while True:
                    async with asyncio.timeout(5):
                        packet, transfer = await loop.sock_recvfrom(client, 2048)
                    if packet[1] == 5:
                        return -1
                    block = int.from_bytes(packet[2:4], "big")
                    await loop.sock_sendto(client, b"\0\x04" + packet[2:4], transfer)
                    if block == expected & 0xFFFF:
                        received += len(packet) - 4
                        expected += 1
                    if len(packet) < 516:
                        return received
            except TimeoutError:
                continue
    raise RuntimeError(f"{name} was not served")


async def http(address: tuple[str, int], name: str, source: str = "127.0.0.1") -> int:
    """The number of bytes of a file, -1 for a missing one."""
    reader, writer = await asyncio.open_connection(*address, local_addr=(source, 0))
    writer.write(f"GET /{name} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
    reply = await reader.read(-1)
    writer.close()
    head, _, body = reply.partition(b"\r\n\r\n")
    return len(body) if b" 200 " in head.split(b"\r\n")[0] else -1


async def boot(fetch: Any, address: tuple[str, int]) -> float:
    """Boot all phones; phones per second."""
    sizes = {".tlv": -1, ".cnf.xml": len(CONFIGURATION), "dialplan.xml": 900, "ringlist.xml": 2000}

    async def phone(number: int) -> None:
        for name in names_of(number):
            expected = next(size for end, size in sizes.items() if name.endswith(end))
            if (size := await fetch(address, name, address_of(number))) != expected:
                raise RuntimeError(f"{name}: {size} bytes instead of {expected}")

    began = time.perf_counter()
    await asyncio.gather(*map(phone, range(1, PHONES + 1)))
    return PHONES / (time.perf_counter() - began)


async def configuration(fetch: Any, address: tuple[str, int], number: int) -> None:
    """Fetch the configuration of one phone."""
    name = f"SEP{mac_of(number)}.cnf.xml"
    if (size := await fetch(address, name, address_of(number))) != len(CONFIGURATION):
        raise RuntimeError(f"{name}: {size} bytes")


async def busy(fetch: Any, address: tuple[str, int]) -> float:
    """CLIENTS fetch one configuration after the other; files per second."""
    left = iter(range(FETCHES))

    async def client(number: int) -> None:
        for _ in left:
            await configuration(fetch, address, number)

    began = time.perf_counter()
    await asyncio.gather(*map(client, range(1, CLIENTS + 1)))
    return FETCHES / (time.perf_counter() - began)


async def crowd(fetch: Any, address: tuple[str, int]) -> float:
    """CROWD fetches at once; files per second."""
    numbers = (number % PHONES + 1 for number in range(CROWD))
    began = time.perf_counter()
    await asyncio.gather(*(configuration(fetch, address, number) for number in numbers))
    return CROWD / (time.perf_counter() - began)


GOALS = {boot: 0.5, busy: 0.5, crowd: 0.7}


async def fill(environment: Mapping[str, str], address: Callable[[int], str] = address_of) -> None:
    """A user, a profile, and the phones, each switched to the profile."""
    settings = read_settings(environment)
    async with open_phoneprov(settings) as use_cases:
        actor = system_actor(settings.level_rule)
        user = await use_cases.users.create(
            actor,
            CreateUser(
                first_name="Ada",
                last_name="Lovelace",
                username="ada",
                email="ada@example.com",
                password=PASSWORD,
            ),
        )
        profile = await use_cases.profiles.create(
            actor, CreateProfile(user_uuid=user.uuid, name="Ada", cnf_xml=CONFIGURATION)
        )
        for number in range(1, PHONES + 1):
            mac = mac_of(number)
            await use_cases.phones.create(actor, CreatePhone(mac=mac, phone_ip=address(number)))
            await use_cases.switch_profile(actor, SwitchRequest(profile_uuid=profile.uuid, mac=mac))


@contextlib.contextmanager
def running(command: list[str], environment: dict[str, str] | None = None) -> Iterator[int]:
    """Run a server in a process group of its own; its process id."""
    process = subprocess.Popen(
        command, env=environment, start_new_session=True, stderr=subprocess.DEVNULL
    )
    try:
        yield process.pid
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


async def answering(fetch: Any, address: tuple[str, int]) -> None:
    for _ in range(100):
        with contextlib.suppress(OSError, RuntimeError, TimeoutError):
            async with asyncio.timeout(1):
                if await fetch(address, "dialplan.xml") == 900:
                    return
        await asyncio.sleep(0.1)
    raise RuntimeError("the server does not answer")


def resident(pid: int) -> float:
    """Largest resident memory so far, in MiB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


async def measured(
    fetch: Any, addresses: dict[str, tuple[str, int]], load: Any = boot
) -> dict[str, float]:
    """The largest rate of each server under a load, in alternating rounds."""
    rates: dict[str, list[float]] = {name: [] for name in addresses}
    for address in addresses.values():
        await answering(fetch, address)
    for _ in range(ROUNDS):
        for name, address in addresses.items():
            rates[name].append(await load(fetch, address))
    return {name: max(each) for name, each in rates.items()}


async def main() -> int:
    """Measure and print; the exit code."""
    for program in ("in.tftpd", "nginx", "curl"):
        if shutil.which(program) is None:
            sys.exit(f"{program} is not installed: apt-get install tftpd-hpa nginx-light curl")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        root.chmod(0o755)
        files = root / "files"
        files.mkdir()
        (files / "dialplan.xml").write_bytes(b"d" * 900)
        (files / "ringlist.xml").write_bytes(b"r" * 2000)
        with (files / "firmware.bin").open("wb") as firmware:
            for _ in range(FIRMWARE // (1024 * 1024)):
                firmware.write(os.urandom(1024 * 1024))
        peer = root / "peer"
        shutil.copytree(files, peer)
        for number in range(1, PHONES + 1):
            (peer / f"SEP{mac_of(number)}.cnf.xml").write_text(CONFIGURATION, encoding="ascii")
        environment = {
            **os.environ,
            "PHONEPROV_DATA_DIR": str(root / "data"),
            "PHONEPROV_UPLOADER": "served",
            "PHONEPROV_FILES_DIR": str(files),
            "PHONEPROV_RESTART": "none",
            "PHONEPROV_CONFIRM_TIMEOUT": "0",
            "PHONEPROV_PHONE_HTTP_PORT": "1",
            "PHONEPROV_PHONE_NETWORKS": "127.0.0.0/8",
        }
        await fill(environment)
        ours = [sys.executable, "-m", "phoneprov_http.main", "provision", "--host", "127.0.0.1"]
        nginx = root / "nginx.conf"
        nginx.write_text(
            "daemon off; error_log /dev/null; worker_processes 1;\n"
            "events { worker_connections 4096; }\n"
            f"pid {root}/nginx.pid; user root;\n"
            f"http {{ access_log off; server {{ listen 127.0.0.1:26971; root {peer}; }} }}\n",
            encoding="ascii",
        )
        peer_tftp = ["in.tftpd", "--foreground", "--address", "127.0.0.1:26968", "--secure"]
        with (
            running([*ours, "--http-port", "26970", "--tftp-port", "26969"], environment) as pid,
            running([*peer_tftp, str(peer)]),
            running(["nginx", "-c", str(nginx)]),
        ):
            servers = {"phoneprov": ("127.0.0.1", 26969), "tftpd-hpa": ("127.0.0.1", 26968)}
            by_tftp = {load: await measured(tftp, servers, load) for load in GOALS}
            servers = {"phoneprov": ("127.0.0.1", 26970), "nginx": ("127.0.0.1", 26971)}
            by_http = {load: await measured(http, servers, load) for load in GOALS}
            before = resident(pid)
            began = time.perf_counter()
            await asyncio.to_thread(
                subprocess.run,
                [
                    *("curl", "-sS", "--tftp-blksize", "1428", "-o", str(root / "received")),
                    "tftp://127.0.0.1:26969/firmware.bin",
                ],
                check=True,
            )
            seconds = time.perf_counter() - began
            grown = resident(pid) - before
            whole = (root / "received").stat().st_size == FIRMWARE
    for transport, loads in (("TFTP", by_tftp), ("HTTP", by_http)):
        for load, rates in loads.items():
            text = ", ".join(f"{name} {rate:.0f}" for name, rate in rates.items())
            first, second = rates.values()
            print(f"{transport}, {load.__name__}, a second: {text} ({first / second:.0%})")
    print(f"firmware of 200 MiB by TFTP: {seconds:.1f} s, memory grows by {grown:.1f} MiB")
    fast = all(
        rates["phoneprov"] >= GOALS[load] * rates["tftpd-hpa"] for load, rates in by_tftp.items()
    )
    return 0 if whole and fast and grown < 16 else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
