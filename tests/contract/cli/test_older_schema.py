"""Only ``serve`` and ``db upgrade`` change the schema; all other commands refuse an older one."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from phoneprov_adapters.sql.engines import revisions
from phoneprov_adapters.sql.engines.revisions import newest
from phoneprov_http.main.commands.terminal import free_port
from support.command_line import every_command, run, spawn
from support.data_folder import populate

ARGUMENTS = {
    "switch": ("Ada", "001bd4000001"),
    "preview": ("Ada", "001bd4000001"),
    "rollback": ("001bd4000001",),
    "restart": ("001bd4000001",),
    "desk set-default": ("001bd4000001", "--none"),
    "desk logout": ("001bd4000001",),
    "import": ("users", "{file}"),
    "join": ("{joiners}",),
    "leave": ("{people}",),
    "undo": ("00000000-0000-4000-8000-000000000001",),
    "sync people": ("{file}", "--source", "ad"),
    "export": ("users", "-"),
    "profile add": ("{file}", "--user", "ada"),
    "profile update": ("{file}",),
    "template add": ("{file}", "--name", "office"),
    "template update": ("{file}", "office"),
    "template restore": ("office", "1"),
    "template show": ("office",),
    "template revisions": ("office",),
    "template diff": ("office",),
    "template plan": ("office",),
    "template render": ("office", "Ada", "001bd4000001"),
    "batch start": ("restart", "--mac", "001bd4000001"),
    "batch cancel": ("00000000-0000-4000-8000-000000000001",),
    "create-admin": ("--username", "ada", "--email", "a@b.ch", "--password-stdin"),
}
WITHOUT = {
    "backup": "copies any schema",
    "restore": "the schema is that of the backup",
    "db current": "shows the schema",
    "db upgrade": "upgrades it",
    "serve": "upgrades it",
    "settings": "opens no database",
    "openapi": "opens no database",
    "phone-urls": "opens no database",
    "lint": "opens no database",
    "load check": "opens no database",
    "template check": "opens no database",
    "template learn": "opens no database",
    "demo": "has a temporary database",
    "simulate-phone": "opens no database",
    "provision": "see the last test",
    "doctor": "reports it; see test_doctor.py",
}


@pytest.fixture
def older(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation whose schema is older than this version."""
    populate(tmp_path)
    (tmp_path / "file").write_text("<device></device>\n")
    (tmp_path / "people.csv").write_text("username\nada\n")
    joiner = "username,first_name,last_name,email\nhedy,Hedy,Kiesler,hedy@office.example\n"
    (tmp_path / "joiners.csv").write_text(joiner)
    made = newest()
    monkeypatch.setattr(revisions, "known", lambda: (made, "0999"))
    return tmp_path


@pytest.mark.parametrize("command", sorted(set(every_command()) - set(WITHOUT)))
def test_command_with_an_older_schema_is_refused_and_names_the_upgrade(
    older: Path, command: str
) -> None:
    words = [
        word.format(file=older / "file", people=older / "people.csv", joiners=older / "joiners.csv")
        for word in ARGUMENTS.get(command, ())
    ]
    done = run(*command.split(), *words, data=older, stdin="correct horse battery")

    assert done.exit_code == 1, done.output
    assert "is older than 0999, which this version needs. Run phoneprov db upgrade." in done.stderr
    with closing(sqlite3.connect(older / "phoneprov.db")) as connection:
        revision = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    assert revision == ("0100",)


def test_db_current_shows_schema_and_version(older: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("db", "current", data=older)
    assert done.exit_code == 1
    assert done.stdout.startswith("The schema is 0100; phoneprov 0.2.0 needs 0999.\n")
    assert "Run phoneprov db upgrade." in done.stdout

    monkeypatch.undo()
    done = run("db", "current", data=older)
    assert (done.exit_code, done.stdout) == (
        0,
        "The schema is 0100; phoneprov 0.2.0 needs 0100.\n",
    )


def test_backup_of_an_older_schema_succeeds(older: Path) -> None:
    done = run("backup", str(older / "copy"), data=older)
    assert done.exit_code == 0, done.output


def test_provision_with_an_older_schema_is_refused(tmp_path: Path) -> None:
    populate(tmp_path)
    with closing(sqlite3.connect(tmp_path / "phoneprov.db")) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '0015'")
    ports = (
        "--http-port",
        "0",
        "--tftp-port",
        str(free_port(datagrams=True)),
        "--host",
        "127.0.0.1",
    )
    done = spawn("provision", *ports, data=tmp_path)
    assert done.returncode == 1
    assert "before 0.2.0 and cannot be upgraded" in done.stderr
