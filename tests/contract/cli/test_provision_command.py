"""``phoneprov provision`` prints the addresses that it serves on."""

import re
import signal
import socket
from pathlib import Path

import httpx
import pytest

from support.command_line import without_settings
from support.forked_commands import Forked

BOTH = r"phoneprov provision serves on (http://{0}:\d+) and (tftp://{0}:\d+)"
WITH_HTTP = r"phoneprov provision serves on (http://{0}:\d+)"
WITH_TFTP = r"phoneprov provision serves on (tftp://{0}:\d+)"
READ = b"\0\1ringlist.xml\0octet\0"


def free_ports(host: str, family: socket.AddressFamily) -> list[int]:
    """A free port for TCP and one for UDP."""
    found = []
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(family, kind) as probe:
            probe.bind((host, 0))
            found.append(int(probe.getsockname()[1]))
    return found


@pytest.mark.parametrize(
    ("host", "shown", "pattern", "http", "tftp"),
    [
        ("127.0.0.1", r"127\.0\.0\.1", BOTH, True, True),
        ("127.0.0.1", r"127\.0\.0\.1", WITH_HTTP, True, False),
        ("127.0.0.1", r"127\.0\.0\.1", WITH_TFTP, False, True),
        ("::1", r"\[::1\]", BOTH, True, True),
    ],
    ids=["both", "http", "tftp", "ipv6"],
)
def test_printed_urls_of_provision_serve_files(
    tmp_path: Path, host: str, shown: str, pattern: str, http: bool, tftp: bool
) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "ringlist.xml").write_text("<rings/>", encoding="utf-8")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    ports = free_ports(host, family)
    with Forked(
        [
            *("provision", "--host", host),
            *("--http-port", str(ports[0] if http else 0)),
            *("--tftp-port", str(ports[1] if tftp else 0)),
        ],
        env=without_settings(
            PHONEPROV_DATA_DIR=str(tmp_path / "data"),
            PHONEPROV_FILES_DIR=str(files),
            PHONEPROV_PHONE_NETWORKS="127.0.0.0/8,::1/128",
        ),
    ) as process:
        line = next(line for line in process.stderr if "serves on" in line)
        found = re.fullmatch(pattern.format(shown), line.strip())
        assert found is not None, line
        urls = found.groups()

        assert [int(url.rpartition(":")[2]) for url in urls] == [
            port for port, served in zip(ports, (http, tftp), strict=True) if served
        ]
        if http:
            assert httpx.get(f"{urls[0]}/ringlist.xml", timeout=60).content == b"<rings/>"
        if tftp:
            with socket.socket(family, socket.SOCK_DGRAM) as phone:
                phone.settimeout(20)
                phone.sendto(READ, (host, ports[1]))
                assert phone.recv(1024) == b"\0\3\0\1<rings/>"
        process.send_signal(signal.SIGTERM)
        assert process.wait(40) == 0
