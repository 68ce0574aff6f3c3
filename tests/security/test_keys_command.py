"""A missing or wrong key that stored secrets need is always reported, and ``phoneprov keys`` says
what to do."""

import asyncio
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from phoneprov_adapters.security.keys import SecretKeys, key_file
from phoneprov_http.main.cli import main
from support.command_line import PROGRAM, spawn_on_terminal, without_settings
from support.keys import BOTH_KEYS, NEW_KEY, NEW_KEYS, OLD_KEY, OLD_KEYS
from support.records import a_session, a_user, identifier
from support.sealing import Vault, empty_database, set_pin

Run = Callable[..., Result]

OLD, NEW = OLD_KEYS.current.id, NEW_KEYS.current.id
CREATE_ADMIN = ("create-admin", "--username", "ada", "--email", "a@b.ch", "--password-stdin")


class Deployment:
    """A data folder, a database, and commands."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.vault = Vault(url)

    def environment(self, keys: str) -> dict[str, str]:
        return {
            "PHONEPROV_DATA_DIR": str(self.folder),
            "PHONEPROV_DATABASE_URL": self.vault.url,
            "PHONEPROV_SECRET_KEYS": keys,
        }

    def run(self, *arguments: str, keys: str = "") -> Result:
        """One command in this process."""
        environment = {**self.environment(keys), "PHONEPROV_SECRET_KEYS_FILE": ""}
        return CliRunner().invoke(main, arguments, env=environment, input="correct horse battery\n")

    def fill(self, keys: SecretKeys = OLD_KEYS, count: int = 2) -> None:
        asyncio.run(self.vault.fill(keys, count))


@pytest.fixture(params=["postgres", "sqlite"])
def deployment(request: pytest.FixtureRequest, tmp_path: Path) -> Deployment:
    return Deployment(tmp_path, asyncio.run(empty_database(request.param, tmp_path)))


def refused(result: Result) -> str:
    """The one line of a command that its settings end."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    return line


def test_rotate_prints_the_count_and_the_status(deployment: Deployment) -> None:
    deployment.fill()

    before = deployment.run("keys", "status", keys=f"{NEW_KEY},{OLD_KEY}")
    rotated = deployment.run("keys", "rotate", keys=f"{NEW_KEY},{OLD_KEY}")
    after = deployment.run("keys", "status", keys=f"{NEW_KEY},{OLD_KEY}")
    without = deployment.run("keys", "status", keys=NEW_KEY)

    uses = (
        "2 configuration_templates.body, 2 deployments.sha256, 2 extensions.password, "
        "2 extensions.voicemail_passcode, 2 served_files.content, 2 template_texts.body, "
        "2 profile_revisions.sha256, 2 profile_revisions.cnf_xml, 2 renderings.content"
    )
    assert (before.exit_code, before.stderr) == (1, "")
    assert before.stdout.splitlines() == [
        f"{NEW} (the first): nothing needs it",
        f"{OLD} (older): {uses}",
    ]
    assert (rotated.exit_code, rotated.stderr) == (0, "")
    assert rotated.stdout.splitlines() == [
        f"18 secret(s) were encrypted with the key {NEW}.",
        f"{NEW} (the first): {uses}",
        f"{OLD} (older): nothing needs it",
    ]
    assert (after.exit_code, without.exit_code) == (0, 0)
    assert without.stdout == f"{NEW} (the first): {uses}\n"


def test_pins_keep_their_key_and_status_names_the_users(deployment: Deployment) -> None:
    async def two_pins() -> None:
        async with deployment.vault.opened(OLD_KEYS) as sealer:
            await set_pin(sealer, 1, "ada")
            await set_pin(sealer, 2, "bob")

    asyncio.run(two_pins())

    rotated = deployment.run("keys", "rotate", keys=f"{NEW_KEY},{OLD_KEY}")
    status = deployment.run("keys", "status", keys=f"{NEW_KEY},{OLD_KEY}")

    line = f"{OLD} (older): 2 pins; PINs can only be set again, by ada, bob"
    assert line in rotated.stdout.splitlines()
    assert status.stdout.splitlines()[1:] == [line]
    assert status.exit_code == 1
    assert OLD in refused(deployment.run(*CREATE_ADMIN, keys=NEW_KEY))


def test_key_marked_for_pins_serves_pins_and_nothing_else(deployment: Deployment) -> None:
    async def pin_and_session() -> None:
        async with deployment.vault.opened(OLD_KEYS) as sealer:
            await set_pin(sealer, 1, "ada")

    asyncio.run(pin_and_session())
    deployment.fill(count=1)

    line = refused(deployment.run(*CREATE_ADMIN, keys=f"{NEW_KEY},pin:{OLD_KEY}"))
    assert f"marks the key {OLD} with pin:" in line
    status = deployment.run("keys", "status", keys=f"{NEW_KEY},pin:{OLD_KEY}")
    assert status.stdout.splitlines()[1].startswith(
        f"{OLD} (MISSING, for PINs only): 1 configuration_templates.body, 1 dep"
    )

    deployment.run("keys", "rotate", keys=f"{NEW_KEY},{OLD_KEY}")
    assert deployment.run(*CREATE_ADMIN, keys=f"{NEW_KEY},pin:{OLD_KEY}").exit_code == 0
    status = deployment.run("keys", "status", keys=f"{NEW_KEY},pin:{OLD_KEY}")
    assert status.stdout.splitlines()[1:] == [
        f"{OLD} (older, for PINs only): 1 pins; PINs can only be set again, by ada"
    ]


def test_rotate_end_sessions_ends_all_and_prints_the_count(deployment: Deployment) -> None:
    async def open_sessions() -> None:
        async with deployment.vault.opened(NEW_KEYS) as sealer, sealer.database.write() as tx:
            for number in (1, 2):
                await tx.users.add(a_user(number, username=f"user{number}"))
                await tx.sessions.start(a_session(10 + number, identifier(number)))

    asyncio.run(open_sessions())

    kept = deployment.run("keys", "rotate", keys=NEW_KEY)
    ended = deployment.run("keys", "rotate", "--end-sessions", keys=NEW_KEY)
    again = deployment.run("keys", "rotate", "--end-sessions", keys=NEW_KEY)

    assert "session" not in kept.stdout
    assert ended.stdout.splitlines()[1] == "2 session(s) were ended."
    assert again.stdout.splitlines()[1] == "0 session(s) were ended."


@pytest.mark.parametrize("command", [CREATE_ADMIN, ("keys", "rotate"), ("serve", "--port", "0")])
def test_key_in_use_cannot_be_removed(deployment: Deployment, command: tuple[str, ...]) -> None:
    deployment.fill()

    line = refused(deployment.run(*command, keys=NEW_KEY))

    assert line.startswith(f"phoneprov: PHONEPROV_SECRET_KEYS lacks the key {OLD}, ")
    assert "phoneprov keys rotate" in line
    assert NEW_KEY not in line
    status = deployment.run("keys", "status", keys=NEW_KEY)
    assert status.exit_code == 1
    assert status.stdout.splitlines()[1].startswith(
        f"{OLD} (MISSING): 2 configuration_templates.body"
    )


def test_lost_key_file_is_an_error_and_not_replaced(deployment: Deployment) -> None:
    file = key_file(deployment.folder)
    deployment.run(*CREATE_ADMIN)
    kept = file.read_bytes()
    deployment.fill(SecretKeys.parse(kept.decode().strip()))
    assert deployment.run(*CREATE_ADMIN).exit_code == 0
    file.unlink()

    for command in (CREATE_ADMIN, ("keys", "rotate"), ("serve", "--port", "0")):
        line = refused(deployment.run(*command))
        assert line.startswith(f"phoneprov: The key file {file} does not exist")
        assert not file.exists()
    for command in (("keys", "status"), ("db", "upgrade"), ("db", "current")):
        deployment.run(*command)
        assert not file.exists()

    file.write_bytes(kept)
    file.chmod(0o600)
    assert deployment.run(*CREATE_ADMIN).exit_code == 0


def test_key_file_with_another_key_is_an_error(deployment: Deployment) -> None:
    deployment.fill()
    file = key_file(deployment.folder)
    file.write_text(NEW_KEY)
    file.chmod(0o600)

    line = refused(deployment.run(*CREATE_ADMIN))

    assert line.startswith(f"phoneprov: The key file {file} lacks the key {OLD}, ")
    assert file.read_text() == NEW_KEY
    file.write_text(f"{NEW_KEY},{OLD_KEY}")
    assert deployment.run(*CREATE_ADMIN).exit_code == 0


def test_key_file_hidden_by_a_setting_is_reported(deployment: Deployment) -> None:
    deployment.run(*CREATE_ADMIN)
    kept = key_file(deployment.folder).read_text().strip()
    deployment.fill(SecretKeys.parse(kept))

    assert "the key file in the data folder is not read" in refused(
        deployment.run(*CREATE_ADMIN, keys=NEW_KEY)
    )


def test_rotate_names_an_altered_secret_and_rotates_the_others(deployment: Deployment) -> None:
    deployment.fill(count=1)

    async def swap() -> None:
        """Store the secret of one column in another one."""
        async with deployment.vault.opened(BOTH_KEYS) as sealer, sealer.database.write() as tx:
            sealed = sealer.box.seal(b"x", "elsewhere")
            found = await tx.deployments.find("00000000-0000-4000-8000-000000000001")
            assert found is not None
            row = tx.deployments._row_of(found)
            row |= {"sha256_sealed": sealed.data, "sha256_key_id": OLD}
            row["the_key"] = row.pop("uuid")
            await tx.users._connection.fetch_all(tx.deployments.records.put, **row)

    asyncio.run(swap())

    rotated = deployment.run("keys", "rotate", keys=f"{NEW_KEY},{OLD_KEY}")

    assert rotated.exit_code == 1
    assert rotated.stdout.startswith("8 secret(s) were encrypted")
    (line,) = rotated.stderr.splitlines()
    assert "deployments|sha256|00000000-0000-4000-8000-000000000001" in line


def test_serve_with_a_key_error_ends_in_one_line_before_workers_start(tmp_path: Path) -> None:
    deployment = Deployment(tmp_path, asyncio.run(empty_database("sqlite", tmp_path)))
    deployment.fill()

    done = subprocess.run(
        [*PROGRAM, "serve", "--port", "0", "--workers", "2"],
        env=without_settings(**deployment.environment(NEW_KEY)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert OLD in line


def test_rotate_progress_is_shown_on_a_terminal_only(tmp_path: Path) -> None:
    deployment = Deployment(tmp_path, asyncio.run(empty_database("sqlite", tmp_path)))
    deployment.fill(count=3)

    code, output, terminal = spawn_on_terminal(
        "keys", "rotate", **deployment.environment(f"{NEW_KEY},{OLD_KEY}")
    )

    assert code == 0
    assert b"Encrypting" in terminal
    assert b"27/27" in terminal
    assert b"Encrypting" not in output
