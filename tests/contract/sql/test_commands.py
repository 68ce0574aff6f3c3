"""The commands and the start of the service with a shared database."""

import asyncio
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from phoneprov_adapters.composition.lifecycle import prepare, readiness, running
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.sql.engines.revisions import newest
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_http.main.cli import main
from support import postgres
from support.postgres_proxy import Proxy

PASSWORD = "correct horse battery"


async def phoneprov(folder: Path, url: str, *arguments: str, stdin: str = "") -> Result:
    environment = {"PHONEPROV_DATA_DIR": str(folder), "PHONEPROV_DATABASE_URL": url}
    return await asyncio.to_thread(
        CliRunner().invoke, main, arguments, input=stdin, env=environment
    )


async def test_create_admin_in_an_empty_database_succeeds(tmp_path: Path) -> None:
    async with postgres.new_database(migrated=False) as url:
        before = await phoneprov(tmp_path, url, "db", "current")
        assert (before.exit_code, before.stderr) == (1, "")
        assert "The schema is missing" in before.stdout

        create = ("create-admin", "--username", "ada", "--email", "a@b.ch", "--password-stdin")
        # A shared database is changed only by ``db upgrade`` or ``--migrate``.
        refused = await phoneprov(tmp_path, url, *create, stdin=PASSWORD)
        assert refused.exit_code == 1
        assert "schema" in refused.stderr

        upgraded = await phoneprov(tmp_path, url, "db", "upgrade")
        assert upgraded.exit_code == 0, upgraded.output
        after = await phoneprov(tmp_path, url, "db", "current")
        assert after.exit_code == 0
        assert f"The schema is {newest()}" in after.stdout

        created = await phoneprov(tmp_path, url, *create, stdin=PASSWORD)
        assert created.exit_code == 0, created.output
        assert await postgres.ask(
            url,
            "SELECT username, level FROM users JOIN assignments ON user_uuid = users.uuid"
            " JOIN permissions ON perm_uuid = permissions.uuid",
        ) == [("ada", 0)]


@pytest.mark.parametrize(
    ("change", "expected", "code"),
    [
        (("/test_", "/no_such_"), "no database of that name", 1),
        (("postgres@", f"{postgres.WITH_PASSWORD}:planted@"), "user name or the password", 1),
        (("host=", "host=/nowhere"), "cannot be reached", 1),
        (("postgres@", "postgres:planted@nowhere.invalid"), "cannot be reached", 1),
        (("host=", "pgbouncer=planted&host="), "pgbouncer must be true or false", 2),
        (("postgres@", "postgres:plan#ted@"), "cannot be parsed as a URL", 2),
        (("postgres@", "postgres:planted@[::"), "cannot be parsed as a URL", 2),
    ],
)
@pytest.mark.parametrize("command", ["upgrade", "current"])
async def test_invalid_database_address_is_one_line_without_the_password(
    tmp_path: Path, url: str, command: str, change: tuple[str, str], expected: str, code: int
) -> None:
    done = await phoneprov(tmp_path, url.replace(*change, 1), "db", command)

    assert (done.exit_code, done.stdout) == (code, "")
    assert expected in done.stderr
    assert done.stderr.count("\n") == 1
    assert "plan" not in done.stderr


async def test_unready_service_reports_it_and_recovers(
    tmp_path: Path, proxy: Proxy, url: str
) -> None:
    environment = {"PHONEPROV_DATA_DIR": str(tmp_path), "PHONEPROV_DATABASE_URL": proxy.url(url)}
    container = prepare(read_settings(environment))
    ready = readiness(container)

    async with running(container):
        assert await ready() is None
        await proxy.refuse()
        assert await ready() is not None
        assert await ready() == "The database cannot be reached; try again."
        await proxy.listen()
        assert await ready() is None
        await postgres.ask(url, "UPDATE alembic_version SET version_num = '0000'")
        assert "schema" in (await ready() or "")


async def test_serve_with_unavailable_database_does_not_start(
    tmp_path: Path, proxy: Proxy, url: str
) -> None:
    await proxy.refuse()
    environment = {"PHONEPROV_DATA_DIR": str(tmp_path), "PHONEPROV_DATABASE_URL": proxy.url(url)}
    container = prepare(read_settings(environment))

    with pytest.raises(Unavailable, match="cannot be reached"):
        async with running(container):
            raise AssertionError("it must not start")
