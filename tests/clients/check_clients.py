"""Generated clients of the OpenAPI document, used with a running service.

``make test-clients`` installs the generators in a folder of their own and names it in
``PHONEPROV_TEST_CLIENTS``.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from phoneprov_http.main.commands.openapi import describe
from support.phone_records import a_phone
from support.served import Served, served

TOOLS = Path(os.environ["PHONEPROV_TEST_CLIENTS"])
USERNAME, PASSWORD = "ada", "correct horse battery"
ENVIRONMENT = {"PUBLIC_REGISTER": "true", "PHONEPROV_SHARED_WRITE": "bearer"}
MAC = "00:1B:D4:00:00:77"

PYTHON_CLIENT = f"""
import sys
from phoneprov_client import AuthenticatedClient, Client
from phoneprov_client.api.auth import log_in, register_account
from phoneprov_client.api.phones import all_phones, create_phone, delete_phone, get_phone
from phoneprov_client.models import CreatePhone, Credentials, Failure, Registration

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
new = create_phone.sync(client=client, body=CreatePhone(mac="{MAC}")).data
assert get_phone.sync(new.mac, client=client).data.mac == "{MAC}"
assert delete_phone.sync(new.mac, client=client).success
missing = get_phone.sync(new.mac, client=client)
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
new = made.PhonesApi(client).create_phone(made.CreatePhone(mac="{MAC}")).data
assert made.PhonesApi(client).delete_phone(new.mac).success
try:
    made.PhonesApi(client).get_phone(new.mac)
except made.ApiException as error:
    assert error.status == 404 and "not_found" in error.body
else:
    raise AssertionError("a phone that does not exist was read")
"""

GO_PROGRAM = f"""
package main

import (
	"context"
	"fmt"
	"os"

	made "github.com/example/phones"
)

func main() {{
	settings := made.NewConfiguration()
	settings.Servers = made.ServerConfigurations{{{{URL: os.Args[1]}}}}
	client := made.NewAPIClient(settings)
	ctx := context.Background()
	account := made.NewRegistration(
		"Ada", "Lovelace", "{USERNAME}", "ada@example.com", "{PASSWORD}")
	_, _, err := client.AuthAPI.RegisterAccount(ctx).Registration(*account).Execute()
	check(err)
	credentials := made.NewCredentials("{USERNAME}", "{PASSWORD}")
	login, _, err := client.AuthAPI.LogIn(ctx).Credentials(*credentials).Execute()
	check(err)
	ctx = context.WithValue(ctx, made.ContextAccessToken, login.Data.AccessToken)
	phone := made.NewCreatePhone("{MAC}")
	created, _, err := client.PhonesAPI.CreatePhone(ctx).CreatePhone(*phone).Execute()
	check(err)
	fmt.Print("created ")
	read, _, err := client.PhonesAPI.GetPhone(ctx, created.Data.Mac).Execute()
	check(err)
	if read.Data.Mac != created.Data.Mac {{
		panic(read.Data.Mac)
	}}
	fmt.Print("read ")
	_, _, err = client.PhonesAPI.DeletePhone(ctx, created.Data.Mac).Execute()
	check(err)
	_, reply, err := client.PhonesAPI.GetPhone(ctx, created.Data.Mac).Execute()
	if err == nil {{
		panic("a deleted phone was read")
	}}
	fmt.Println("deleted", reply.StatusCode)
}}

func check(err error) {{
	if err != nil {{
		panic(err)
	}}
}}
"""

TYPESCRIPT_PROGRAM = f"""
import {{ AuthApi, Configuration, PhonesApi, ResponseError }} from "./index";

declare const process: {{ argv: string[]; exit(code: number): void }};

async function main(): Promise<void> {{
  const basePath = process.argv[2];
  const auth = new AuthApi(new Configuration({{ basePath }}));
  await auth.registerAccount({{ registration: {{ firstName: "Ada", lastName: "Lovelace",
    username: "{USERNAME}", email: "ada@example.com", password: "{PASSWORD}" }} }});
  const login = await auth.logIn({{ credentials: {{ username: "{USERNAME}",
    password: "{PASSWORD}" }} }});
  const accessToken = login.data.accessToken;
  const phones = new PhonesApi(new Configuration({{ basePath, accessToken }}));
  const created = await phones.createPhone({{ createPhone: {{ mac: "{MAC}" }} }});
  const mac = created.data.mac;
  const read = await phones.getPhone({{ mac }});
  if (read.data.mac !== mac) throw new Error(read.data.mac);
  await phones.deletePhone({{ mac }});
  const status = await phones.getPhone({{ mac }}).then(() => 0,
    (error: ResponseError) => error.response.status);
  console.log("created read deleted " + status);
}}

main().catch((error) => {{ console.error(error); process.exit(1); }});
"""


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("document") / "openapi.json"
    path.write_bytes(msgspec.json.encode(describe()))
    return path


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path, ENVIRONMENT) as running:
        running.run(_with_a_phone(running))
        yield running


async def _with_a_phone(service: Served) -> None:
    async with service.container.database().write() as tx:
        await tx.phones.add(a_phone(1))


def run(*command: str | Path, path: Path | None = None, cwd: Path | None = None) -> str:
    environment = {**os.environ, "PATH": f"{TOOLS / 'bin'}:{os.environ['PATH']}"}
    if path:
        environment["PYTHONPATH"] = str(path)
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, cwd=cwd, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_openapi_python_client_generates_a_working_client(
    document: Path, tmp_path: Path, service: Served
) -> None:
    output = run(
        TOOLS / "bin/openapi-python-client", "generate", "--meta", "none", "--fail-on-warning",
        "--path", document, "--output-path", tmp_path / "made/phoneprov_client",
    )  # fmt: skip

    assert "Unable" not in output
    run(TOOLS / "bin/python", "-c", PYTHON_CLIENT, service.url, path=tmp_path / "made")


def test_openapi_generator_generates_a_working_python_client(
    document: Path, tmp_path: Path, service: Served
) -> None:
    generator = TOOLS / "bin/openapi-generator-cli"
    run(generator, "generate", "-i", document, "-g", "python", "-o", tmp_path / "made")

    run(TOOLS / "bin/python", "-c", GENERATOR_CLIENT, service.url, path=tmp_path / "made")


def test_openapi_generator_generates_a_working_go_client(
    document: Path, tmp_path: Path, service: Served
) -> None:
    made = tmp_path / "made"
    run(TOOLS / "bin/openapi-generator-cli", "generate", "-i", document, "-g", "go", "-o", made,
        "--git-user-id", "example", "--git-repo-id", "phones")  # fmt: skip
    shutil.rmtree(made / "test")  # It needs another module.
    (made / "use").mkdir()
    (made / "use/main.go").write_text(GO_PROGRAM)

    run("go", "vet", ".", cwd=made)
    assert run("go", "run", "./use", service.url, cwd=made) == "created read deleted 404\n"


def test_openapi_generator_generates_a_working_typescript_client(
    document: Path, tmp_path: Path, service: Served
) -> None:
    generator = TOOLS / "bin/openapi-generator-cli"
    made = tmp_path / "made"
    run(generator, "generate", "-i", document, "-g", "typescript-fetch", "-o", made)
    (made / "use.ts").write_text(TYPESCRIPT_PROGRAM)
    (made / "package.json").write_text("{}")

    run(TOOLS / "node_modules/.bin/tsc", "--strict", "--skipLibCheck", "--target", "es2020",
        "--module", "commonjs", "--moduleResolution", "node", "--lib", "es2020,dom",
        "--outDir", made / "out", made / "use.ts")  # fmt: skip
    assert run("node", made / "out/use.js", service.url) == "created read deleted 404\n"


def test_openapi_typescript_generates_types_that_compile(document: Path, tmp_path: Path) -> None:
    binaries = TOOLS / "node_modules/.bin"
    run(binaries / "openapi-typescript", document, "-o", tmp_path / "made.d.ts")

    run(binaries / "tsc", "--noEmit", "--strict", tmp_path / "made.d.ts")
