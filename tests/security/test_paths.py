"""One spelling of each path, and headers that are no URL, at a served process."""

import itertools
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from security.listening import read_reply
from support.served import Served, served

TOKEN = "a service token of the tests"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("paths")
    with served(folder, {"PHONEPROV_METRICS_TOKEN": TOKEN}) as running:
        yield running


def asked(service: Served, target: str, *headers: str, method: str = "GET") -> tuple[int, bytes]:
    """The status and the body of a reply."""
    url = urlsplit(service.url)
    fields = [f"Authorization: Bearer {TOKEN}", "Content-Length: 2", *headers]
    if not any(field.startswith("Host:") for field in headers):
        fields.append("Host: phoneprov")
    head = "\r\n".join([f"{method} {target} HTTP/1.1", *fields, "Connection: close", "", "{}"])
    with socket.create_connection((url.hostname or "", url.port or 0), timeout=20) as client:
        client.sendall(head.encode("latin-1"))
        reply = read_reply(client)
    first, _, body = reply.partition(b"\r\n\r\n")
    return int(first.split(b" ", 2)[1]), body


def test_path_with_another_spelling_is_404(service: Served) -> None:
    for target in (
        *("/%6Detrics", "//metrics", "/metrics%2F", "/%256detrics", "/METRICS"),
        *("/%70hone/services", "/phone%2Fservices", "//phone/services", "/%2570hone/services"),
        *("http://phoneprov/%70hone/services", "http://phoneprov//phone/services"),
        *("/x/../phone/services", "/./phone/services", "/%2e/phone/services", "/phone"),
        *("/phone//services", "/phone/%73ervices", "/phone/authentic%61tion", "/PHONE/services"),
        *("/%63onsole/", "//console/", "/console%2f", "/CONSOLE/", "/console/%61pp.js"),
        *("/%64ocs", "/health/%6cive", "//health/live", "/%2564ocs", "/api%252Fv1/me"),
        *("/%61pi/v1/me", "/api%2fv1/me"),
    ):
        status, body = asked(service, target)

        assert (status, json.loads(body)["error"]["code"]) == (404, "not_found"), target


def test_path_with_its_one_spelling_is_served(service: Served) -> None:
    assert asked(service, "/metrics")[0] == 200
    assert asked(service, "/console/")[0] == 200
    for target in ("/phone/services", "http://phoneprov/phone/services", "/phone/services?x=//%70"):
        status, body = asked(service, target)
        assert (status, b"<CiscoIPPhone" in body) == (200, True)


def test_header_that_is_no_url_is_no_internal_error(service: Served) -> None:
    headers = [
        *("Origin: http://[", "Origin: http://[::1", "Origin: \xff", "Origin: http://a]b"),
        *("Host: [", "Host: [::1", "Host: a]b", "Host: \xff", "Host: "),
        *("Referer: http://[", "X-Forwarded-For: [", "Forwarded: for=[", "X-Console-Path: //["),
    ]
    operations = [
        ("POST", "/console/session"), ("DELETE", "/console/session"), ("GET", "/console/"),
        ("GET", "/docs"), ("GET", "/phone/services"), ("GET", "/api/v1/me"),
        ("POST", "/api/v1/auth/login"),
    ]  # fmt: skip
    for header, (method, path) in itertools.product(headers, operations):
        assert asked(service, path, header, method=method)[0] < 500, (header, method, path)
