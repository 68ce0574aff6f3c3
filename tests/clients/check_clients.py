"""Clients that generators make from the OpenAPI document, used against a running service.

``make test-clients`` installs the generators in a folder of their own and names it in
``PHONEPROV_TEST_CLIENTS``.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from phoneprov_adapters.testing.records import a_phone
from phoneprov_http.main.commands.openapi import describe
from support.served import Served, served

TOOLS = Path(os.environ["PHONEPROV_TEST_CLIENTS"])
USERNAME, PASSWORD = "ada", "correct horse battery"

PYTHON_CLIENT = f"""
import sys
from phoneprov_client import AuthenticatedClient, Client
from phoneprov_client.api.auth import log_in, register_account
from phoneprov_client.api.phones import all_phones, get_phone
from phoneprov_client.models import Credentials, Failure, Registration

url = sys.argv[1]
public = Client(base_url=url)
account = Registration(first_name="Ada", last_name="Lovelace", username="{USERNAME}",
                       email="ada@example.com", password="{PASSWORD}")
assert register_account.sync(client=public, body=account).data.username == "{USERNAME}"
credentials = Credentials(username="{USERNAME}", password="{PASSWORD}")
token = log_in.sync(client=public, body=credentials).data.access_token
client = AuthenticatedClient(base_url=url, token=token)
[phone] = all_phones.sync(client=client).data
assert get_phone.sync(phone.mac, client=client).data.phone_ip == phone.phone_ip
missing = get_phone.sync("00:1B:D4:99:99:99", client=client)
assert isinstance(missing, Failure) and missing.error.code == "not_found"
"""

GENERATOR_CLIENT = f"""
import sys
import openapi_client as made

client = made.ApiClient(made.Configuration(host=sys.argv[1]))
auth = made.AuthApi(client)
account = made.Registration(first_name="Ada", last_name="Lovelace", username="{USERNAME}",
                            email="ada@example.com", password="{PASSWORD}")
assert auth.register_account(account).data.username == "{USERNAME}"
credentials = made.Credentials(username="{USERNAME}", password="{PASSWORD}")
client.configuration.access_token = auth.log_in(credentials).data.access_token
[phone] = made.PhonesApi(client).all_phones().data
assert made.PhonesApi(client).get_phone(phone.mac).data.phone_ip == phone.phone_ip
try:
    made.PhonesApi(client).get_phone("00:1B:D4:99:99:99")
except made.ApiException as error:
    assert error.status == 404 and "not_found" in error.body
else:
    raise AssertionError("a phone that does not exist was read")
"""


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("document") / "openapi.json"
    path.write_bytes(msgspec.json.encode(describe()))
    return path


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path, {"PUBLIC_REGISTER": "true"}) as running:
        running.run(_with_a_phone(running))
        yield running


async def _with_a_phone(service: Served) -> None:
    async with service.container.database().write() as tx:
        await tx.phones.add(a_phone(1))


def run(*command: str | Path, path: Path | None = None) -> str:
    environment = {**os.environ, "PATH": f"{TOOLS / 'bin'}:{os.environ['PATH']}"}
    if path:
        environment["PYTHONPATH"] = str(path)
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_openapi_python_client_makes_a_working_client(
    document: Path, tmp_path: Path, service: Served
) -> None:
    said = run(
        TOOLS / "bin/openapi-python-client", "generate", "--meta", "none", "--fail-on-warning",
        "--path", document, "--output-path", tmp_path / "made/phoneprov_client",
    )  # fmt: skip

    assert "Unable" not in said
    run(TOOLS / "bin/python", "-c", PYTHON_CLIENT, service.url, path=tmp_path / "made")


def test_openapi_generator_makes_a_working_python_client(
    document: Path, tmp_path: Path, service: Served
) -> None:
    generator = TOOLS / "bin/openapi-generator-cli"
    run(generator, "generate", "-i", document, "-g", "python", "-o", tmp_path / "made")

    run(TOOLS / "bin/python", "-c", GENERATOR_CLIENT, service.url, path=tmp_path / "made")


@pytest.mark.parametrize("language", ["go", "typescript-fetch"])
def test_openapi_generator_makes_other_clients(
    document: Path, tmp_path: Path, language: str
) -> None:
    generator = TOOLS / "bin/openapi-generator-cli"
    run(generator, "generate", "-i", document, "-g", language, "-o", tmp_path / "made")

    if language == "typescript-fetch":
        compiler = TOOLS / "node_modules/.bin/tsc"
        run(compiler, "--noEmit", "--strict", "--skipLibCheck", "--target", "es2020",
            "--moduleResolution", "node", "--lib", "es2020,dom",
            tmp_path / "made/index.ts")  # fmt: skip


def test_openapi_typescript_makes_types_that_compile(document: Path, tmp_path: Path) -> None:
    binaries = TOOLS / "node_modules/.bin"
    run(binaries / "openapi-typescript", document, "-o", tmp_path / "made.d.ts")

    run(binaries / "tsc", "--noEmit", "--strict", tmp_path / "made.d.ts")
