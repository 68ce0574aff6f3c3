"""A flood of requests for files adds a bounded number of rows, and hides no request of a phone."""

import http.client
import signal
import socket
import sqlite3
from collections import Counter
from pathlib import Path

from contract.cli.test_provision_command import free_ports
from phoneprov_core.features.serving.model import MOST_DISCOVERED, SERVED, UNSERVED
from support.command_line import without_settings
from support.forked_commands import Forked
from support.scale import note, rounds

REQUESTS = rounds(2 * UNSERVED, 100 * UNSERVED)
RING = "ringlist.xml"
PHONE = "127.9.9.9"


def names(first: int) -> list[str]:
    """Names of configurations of different phones."""
    return [f"SEP001BD4{number:06X}.cnf.xml" for number in range(first, first + REQUESTS)]


def by_http(port: int, source: str, *wanted: str) -> None:
    host = "::1" if ":" in source else "127.0.0.1"
    connection = http.client.HTTPConnection(host, port, timeout=60, source_address=(source, 0))
    for name in wanted:
        connection.request("GET", f"/{name}")
        connection.getresponse().read()
    connection.close()


def by_tftp(port: int, source: str, *wanted: str) -> None:
    """Each transfer is of one block."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(60)
        client.bind((source, 0))
        for name in wanted:
            client.sendto(b"\0\1" + name.encode() + b"\0octet\0", ("127.0.0.1", port))
            packet, server = client.recvfrom(1024)
            if packet.startswith(b"\0\3"):
                client.sendto(b"\0\4" + packet[2:4], server)


def test_flood_of_requests_adds_a_bounded_number_of_rows(tmp_path: Path) -> None:
    data, files = tmp_path / "data", tmp_path / "files"
    files.mkdir()
    http_port, tftp_port = free_ports("::", socket.AF_INET6)
    (files / RING).write_text("<rings/>", encoding="utf-8")
    with Forked(
        [
            *("provision", "--host", "::"),
            *("--http-port", str(http_port), "--tftp-port", str(tftp_port)),
        ],
        env=without_settings(
            PHONEPROV_DATA_DIR=str(data),
            PHONEPROV_FILES_DIR=str(files),
            PHONEPROV_PHONE_NETWORKS="127.0.0.0/8,::1/128",
        ),
    ) as process:
        assert any("serves on" in line for line in process.stderr)
        by_http(http_port, "127.0.0.1", *names(0))
        by_http(http_port, "::1", *names(REQUESTS))
        by_tftp(tftp_port, "127.0.0.2", *names(2 * REQUESTS))
        by_http(http_port, "127.0.0.3", *[RING] * 100, *[f"{RING}.{n}" for n in range(REQUESTS)])
        by_tftp(tftp_port, "127.0.0.4", *[RING] * 100)
        for number in range(100):
            by_http(http_port, f"127.1.0.{number}", *["SEP001BD4FFFFFF.cnf.xml"] * 3)
        by_tftp(tftp_port, PHONE, RING)
        by_http(http_port, PHONE, RING)
        process.send_signal(signal.SIGTERM)
        assert process.wait(40) == 0

    with sqlite3.connect(data / "phoneprov.db") as database:
        rows = Counter(dict(database.execute("SELECT client_ip, count(*) FROM fetches GROUP BY 1")))
        (discovered,) = database.execute("SELECT count(*) FROM discovered_phones").fetchone()
    database.close()
    note(f"{4 * REQUESTS + 500} requests for files: {rows.total()} rows, {discovered} phones")
    # The flood may last longer than the minute in which rows are counted.
    minutes = rounds(2, 10)
    addresses = ("127.0.0.1", "::1", "127.0.0.2", "127.0.0.3", "127.0.0.4")
    flooded = {address: rows.pop(address) for address in addresses}
    assert min(flooded[address] for address in addresses[:3]) >= UNSERVED
    assert max(flooded.values()) <= minutes * (UNSERVED + SERVED)
    assert flooded["127.0.0.4"] <= minutes * SERVED
    assert rows.pop(PHONE) == 2
    assert len(rows) == 100
    assert max(rows.values()) <= minutes
    # Three addresses make up phones, each within its part of the table; a hundred others are one.
    assert discovered == 3 * MOST_DISCOVERED // 20 + 1
