"""Every command that changes something leaves an audit entry, and the table knows every command."""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import Result

from phoneprov_adapters.composition.lifecycle import open_phoneprov
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.security.keys import key_file
from phoneprov_core.features.batches.commands import CreateBatch
from support.command_line import Commands, every_command
from support.desk import ADA, BOB, MAC, configuration, phone_beside, populate, settings_for
from support.keys import NEW_KEY

TEMPLATE = "<device><name>{{ phone.name }}</name></device>"
SYSTEM = "00000000-0000-0000-0000-000000000000"

READING = {
    "audit", "batch show", "db current", "desks", "doctor", "export", "fleet", "history",
    "keys status", "lint", "load check", "openapi", "phone-urls", "plan", "preview",
    "rehearse", "settings", "template check", "template diff", "template list", "template plan",
    "template render", "template revisions", "template show",
}  # fmt: skip
ELSEWHERE = {
    "backup": "copies the database",
    "db upgrade": "changes the schema and no record",
    "demo": "has a temporary database",
    "drill": "records what the exchange says, which are observations",
    "provision": "records fetches, which are observations",
    "serve": "tests/contract/http/test_access.py walks the routes",
    "simulate-phone": "has no database",
    "template learn": "writes files, and has no database",
    "watch": "records what it sees, which are observations",
}


class Installation(Commands):
    """A data folder with an office, and commands beside a simulated phone."""

    def __init__(self, environment: dict[str, str], folder: Path) -> None:
        super().__init__({"PHONEPROV_RESTART": "none", **environment})
        self.folder = folder

    def run(self, *arguments: str, stdin: str = "", **more: str) -> Result:
        done = super().run(*arguments, stdin=stdin, **more)
        assert done.exit_code in {0, 3}, done.output  # 3: the phone was not restarted
        return done

    def file(self, name: str, content: str) -> str:
        place = self.folder / name
        place.write_text(content)
        return str(place)

    def waiting_batch(self) -> str:
        """The uuid of a batch that no process works on."""

        async def start() -> str:
            async with open_phoneprov(read_settings(self.environment)) as phoneprov:
                actor = phoneprov.system_actor()
                new = CreateBatch(action="restart", macs=(MAC,), at_once=1)
                return (await phoneprov.batches.start(actor, new)).uuid

        return asyncio.run(start())


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("office")
    populate({"PHONEPROV_DATA_DIR": str(folder / "data")})
    with phone_beside(folder / "phone") as phone:
        made = Installation(settings_for(phone, folder / "data"), folder)
        made.run("switch", ADA, MAC)
        made.run("switch", BOB, MAC)
        yield made


def _create_admin(office: Installation) -> None:
    account = ("create-admin", "--username", "root", "--email", "root@example.com")
    office.run(*account, "--password-stdin", stdin="a pass-phrase of the tests\n")


def _rotate(office: Installation) -> None:
    old = key_file(Path(office.environment["PHONEPROV_DATA_DIR"])).read_text().strip()
    keys = {"PHONEPROV_SECRET_KEYS": f"{NEW_KEY},{old}"}
    office.run("keys", "rotate", "--end-sessions", **keys)
    office.environment |= keys


def _restore(office: Installation) -> None:
    # The key is in no backup.
    folder = Path(office.environment["PHONEPROV_DATA_DIR"])
    if "PHONEPROV_SECRET_KEYS" not in office.environment:
        office.environment["PHONEPROV_SECRET_KEYS"] = key_file(folder).read_text().strip()
    backup = str(office.folder / "office.backup")
    office.run("backup", backup)
    place = str(office.folder / "restored")
    office.run("restore", backup, PHONEPROV_DATA_DIR=place)
    office.environment["PHONEPROV_DATA_DIR"] = place


def _update_template(office: Installation, name: str = "floor") -> None:
    office.run("template", "add", office.file("new.xml", TEMPLATE), "--name", name)
    office.run("template", "update", office.file("new.xml", f"{TEMPLATE}\n"), name)


def _restore_template(office: Installation) -> None:
    _update_template(office, "hall")
    office.run("template", "restore", "hall", "1")


def _desk_logout(office: Installation) -> None:
    office.run("desk", "set-default", MAC, ADA)
    office.run("desk", "logout", MAC)


PERSON = "k1,grace,Grace,Hopper,grace@example.com\n"

JOINER = "username,first_name,last_name,email\n{0},Hedy,Kiesler,{0}@office.example\n"


def _join(office: Installation, name: str) -> str:
    """Let a person join; the act."""
    done = office.run("join", office.file("people.csv", JOINER.format(name)), "--json")
    return str(json.loads(done.stdout)["act"])


def _leave(office: Installation) -> None:
    _join(office, "leaver")
    office.run("leave", office.file("leavers.csv", "username\nleaver\n"))


def _undo(office: Installation) -> None:
    office.run("undo", _join(office, "undone"))


def _prune(office: Installation) -> None:
    file = Path(office.environment["PHONEPROV_DATA_DIR"]) / "phoneprov.db"
    with closing(sqlite3.connect(file, timeout=60)) as connection:
        connection.execute("UPDATE audit SET at = '2001-01-01T00:00:00.000Z' WHERE rowid = 1")
        connection.commit()
    office.run("prune")


CHANGING: dict[str, tuple[Callable[[Installation], object], set[str]]] = {
    "create-admin": (_create_admin, {"user.created", "permission.created", "assignment.created"}),
    "switch": (lambda o: o.run("switch", ADA, MAC), {"deployment.created", "phone.switched"}),
    "rollback": (lambda o: o.run("rollback", MAC), {"deployment.created", "phone.rolled_back"}),
    "restart": (
        lambda o: Commands.run(o, "restart", MAC),  # exit code 1: restarts are switched off
        {"phone.restart_requested", "phone.restarted"},
    ),
    "batch start": (
        lambda o: o.run("batch", "start", "switch", "--profile", ADA, "--mac", MAC),
        {"batch.created", "deployment.created", "phone.switched", "batch.finished"},
    ),
    "batch cancel": (
        lambda o: o.run("batch", "cancel", o.waiting_batch()),
        {"batch.created", "batch.cancelled"},
    ),
    "profile add": (
        lambda o: o.run(
            *("profile", "add", o.file("new.xml", configuration("New"))),
            *("--name", "New", "--user", "ada"),
        ),
        {"profile.created"},
    ),
    "profile update": (
        lambda o: o.run(
            "profile", "update", o.file("n.xml", configuration("Newer")), "--profile", BOB
        ),
        {"profile.updated"},
    ),
    "template add": (
        lambda o: o.run("template", "add", o.file("office.xml", TEMPLATE), "--name", "office"),
        {"template.created"},
    ),
    "template update": (_update_template, {"template.updated"}),
    "template restore": (_restore_template, {"template.updated"}),
    "rollout": (
        lambda o: o.run("rollout", "--profile", ADA, "--mac", MAC, "--all-phones"),
        {"batch.created", "deployment.created", "phone.switched", "batch.finished"},
    ),
    "import": (
        lambda o: o.run("import", "phones", o.file("phones.csv", f"mac,name\n{MAC},Desk\n")),
        {"phone.updated"},
    ),
    "desk set-default": (lambda o: o.run("desk", "set-default", MAC, ADA), {"desk.updated"}),
    "desk logout": (_desk_logout, {"desk.logout", "deployment.created"}),
    "keys rotate": (_rotate, {"key.rotated", "session.ended"}),
    "sync people": (
        lambda o: o.run(
            "sync",
            "people",
            o.file("people.csv", "key,username,first_name,last_name,email\n" + PERSON),
            "--source",
            "hr",
        ),
        {"user.created", "sync.finished"},
    ),
    "join": (lambda o: _join(o, "hedy"), {"person.joined"}),
    "leave": (_leave, {"person.joined", "person.left"}),
    "undo": (_undo, {"person.joined", "person.joined_undone"}),
    "prune": (_prune, {"retention.pruned"}),
    "restore": (_restore, {"database.restored"}),
}


def test_table_has_every_command() -> None:
    assert sorted(every_command()) == sorted({*READING, *ELSEWHERE, *CHANGING})


@pytest.mark.parametrize("name", CHANGING)
def test_command_with_changes_writes_audit_entries(office: Installation, name: str) -> None:
    run, actions = CHANGING[name]
    before = {entry["uuid"] for entry in office.lines("audit")}

    run(office)

    added = [entry for entry in office.lines("audit") if entry["uuid"] not in before]
    assert actions <= {entry["action"] for entry in added}
    assert {entry["actor_uuid"] for entry in added} == {SYSTEM}
    assert {entry["actor"] for entry in added} == {"system"}
