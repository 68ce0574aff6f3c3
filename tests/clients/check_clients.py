"""Generated clients of the OpenAPI document, used with a running service.

``make test-clients`` installs the generators in a folder of their own and names it in
``PHONEPROV_TEST_CLIENTS``.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import httpx
import msgspec
import pytest

from clients import drivers
from clients.plan import PASSWORD, USERNAME, Call, calls, plain
from phoneprov_core.people.users.model import Registration
from phoneprov_http.main.commands.serve import describe
from support.document import DOCUMENT
from support.fuzz_records import fill
from support.served import Served, served

TOOLS = Path(os.environ["PHONEPROV_TEST_CLIENTS"])
ENVIRONMENT = {"PUBLIC_REGISTER": "true"}
Send = Callable[[str, str, list[Call]], str]
"""Send the requests of a plan to a URL with a token; a line for each, with its status."""


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("document") / "openapi.json"
    path.write_bytes(msgspec.json.encode(describe()))
    return path


def sent(folder: Path, send: Send) -> dict[str, int]:
    """The status of each request of the plan, to a new service with records."""
    with served(folder, ENVIRONMENT) as service:
        service.run(_fill(service))
        credentials = {"username": USERNAME, "password": PASSWORD}
        reply = httpx.post(f"{service.url}/api/v1/auth/login", json=credentials).json()["data"]
        plan = calls(reply["refreshToken"])
        lines = send(service.url, reply["accessToken"], plan).split("\n")
    return {name: int(status) for name, _, status in (one.partition(" ") for one in lines if one)}


async def _fill(service: Served) -> None:
    await fill(service.container.database())
    account = Registration(
        first_name="Ada", last_name="Lovelace", username=USERNAME,
        email="ada.lovelace@example.com", password=PASSWORD,
    )  # fmt: skip
    await service.container.use_cases().create_admin(account)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """The status of every operation over plain HTTP: most succeed, the others fail as described."""
    found = sent(tmp_path_factory.mktemp("plain"), plain)
    operations = [
        one["operationId"] for item in DOCUMENT["paths"].values() for one in item.values()
    ]
    assert sorted(found) == sorted(operations)
    assert len([one for one in found.values() if one < 300]) > 0.8 * len(found)
    assert (found["create_profile"], found["log_out"]) == (201, 200)
    return found


def run(*command: str | Path, path: Path | None = None, cwd: Path | None = None) -> str:
    environment = {**os.environ, "PATH": f"{TOOLS / 'bin'}:{os.environ['PATH']}"}
    if path:
        environment["PYTHONPATH"] = str(path)
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, cwd=cwd, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def python(program: str, made: Path) -> Send:
    def send(url: str, token: str, plan: list[Call]) -> str:
        file = made / "plan.json"
        file.write_text(json.dumps([one._asdict() for one in plan]))
        return run(TOOLS / "bin/python", "-c", program, url, token, file, path=made)

    return send


def generated(generator: str, document: Path, made: Path, *options: str) -> None:
    command = (TOOLS / "bin/openapi-generator-cli", "generate", "-i", document, "-o", made)
    run(*command, "-g", generator, *options)


def test_openapi_python_client_sends_every_operation(
    document: Path, tmp_path: Path, expected: dict[str, int]
) -> None:
    made = tmp_path / "made"
    output = run(
        TOOLS / "bin/openapi-python-client", "generate", "--meta", "none", "--fail-on-warning",
        "--path", document, "--output-path", made / "phoneprov_client",
    )  # fmt: skip

    assert "Unable" not in output
    assert sent(tmp_path, python(drivers.OPENAPI_PYTHON_CLIENT, made)) == expected


def test_openapi_generator_python_client_sends_every_operation(
    document: Path, tmp_path: Path, expected: dict[str, int]
) -> None:
    generated("python", document, tmp_path / "made")

    assert sent(tmp_path, python(drivers.GENERATOR_PYTHON, tmp_path / "made")) == expected


def test_openapi_generator_go_client_sends_every_operation(
    document: Path, tmp_path: Path, expected: dict[str, int]
) -> None:
    made = tmp_path / "made"
    generated("go", document, made, "--git-user-id", "example", "--git-repo-id", "phones")
    shutil.rmtree(made / "test")  # It needs another module.
    (made / "use").mkdir()

    def send(url: str, token: str, plan: list[Call]) -> str:
        (made / "use/main.go").write_text(drivers.go(plan))
        return run("go", "run", "./use", url, token, cwd=made)

    run("go", "vet", ".", cwd=made)
    assert sent(tmp_path, send) == expected


def test_openapi_generator_typescript_client_sends_every_operation(
    document: Path, tmp_path: Path, expected: dict[str, int]
) -> None:
    made = tmp_path / "made"
    generated("typescript-fetch", document, made)
    (made / "package.json").write_text("{}")

    def send(url: str, token: str, plan: list[Call]) -> str:
        (made / "use.ts").write_text(drivers.typescript(plan))
        run(TOOLS / "node_modules/.bin/tsc", "--strict", "--skipLibCheck", "--target", "es2020",
            "--module", "commonjs", "--moduleResolution", "node", "--lib", "es2020,dom",
            "--outDir", made / "out", made / "use.ts")  # fmt: skip
        return run("node", made / "out/use.js", url, token)

    assert sent(tmp_path, send) == expected


def test_openapi_typescript_generates_types_that_compile(document: Path, tmp_path: Path) -> None:
    binaries = TOOLS / "node_modules/.bin"
    run(binaries / "openapi-typescript", document, "-o", tmp_path / "made.d.ts")

    run(binaries / "tsc", "--noEmit", "--strict", tmp_path / "made.d.ts")


def test_zod_schemas_accept_every_body_and_every_reply(
    document: Path, tmp_path: Path, expected: dict[str, int]
) -> None:
    made = tmp_path / "made"
    made.mkdir()
    binaries = TOOLS / "node_modules/.bin"
    run(binaries / "openapi-zod-client", document, "-o", made / "client.ts", "--export-schemas")
    (made / "node_modules").symlink_to(TOOLS / "node_modules")
    run(binaries / "tsc", "--skipLibCheck", "--target", "es2020", "--module", "commonjs",
        "--moduleResolution", "node", made / "client.ts")  # fmt: skip
    (made / "use.js").write_text(drivers.ZOD)

    def send(url: str, token: str, plan: list[Call]) -> str:
        (made / "plan.json").write_text(
            json.dumps([{**one._asdict(), "url": one.url} for one in plan])
        )
        return run("node", made / "use.js", url, token, made / "plan.json")

    assert sent(tmp_path, send) == expected
