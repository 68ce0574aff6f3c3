"""``phoneprov doctor``: every check, its next step, and the exit code."""

import asyncio
import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from phoneprov_adapters.composition.lifecycle import opened, prepare
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.sql.stores.features.fleet import SqlStatistics
from phoneprov_core.features.fleet.states import FleetState, SeenPhone
from phoneprov_http.main.cli import main
from support.data_folder import populate
from support.phone_records import a_deployment, a_phone
from support.records import a_mac, a_user, identifier, moment


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    populate(folder)
    return folder


def examined(data: Path, **environment: str) -> tuple[int, dict[str, dict[str, str]]]:
    variables = {"PHONEPROV_DATA_DIR": str(data), "PHONEPROV_UPLOADER": "served", **environment}
    done = CliRunner(env=variables).invoke(main, ["doctor", "--json"])
    findings = json.loads(done.stdout)
    assert all((one["next_step"] is None) == (one["state"] != "failed") for one in findings)
    return done.exit_code, {one["check"]: one for one in findings}


def test_doctor_healthy_installation_ends_with_0(data: Path) -> None:
    code, found = examined(data)

    states = {check: finding["state"] for check, finding in found.items() if check != "disk"}
    skipped = dict.fromkeys(
        (("phones", "fleet", "exchange", "lines", "emergency", "snapshot", "asterisk")), "skipped"
    )
    fine = ("settings", "folder", "database", "schema", "keys", "clock", "leavers", "ftp")
    assert states == {**dict.fromkeys(fine, "ok"), **skipped}
    assert code == (found["disk"]["state"] == "failed")


def test_doctor_counts_phones_that_are_not_as_recorded(data: Path) -> None:
    _, found = examined(data, PHONEPROV_WATCH_MINUTES="30")
    assert found["fleet"]["message"] == "Every phone is as it is recorded."

    async def fill() -> None:
        container = prepare(read_settings({"PHONEPROV_DATA_DIR": str(data)}))
        async with opened(container), container.database().write() as tx:
            for number, state in enumerate(["foreign", "foreign", "fine", "unreachable"]):
                await tx.phones.add(a_phone(number + 1))
                seen = SeenPhone(a_mac(number + 1), FleetState(state), moment(1))
                await tx.fleet.put(seen, is_change=True)

    asyncio.run(fill())
    _, found = examined(data, PHONEPROV_WATCH_MINUTES="30")
    message = "Phones are not as recorded: 2 foreign, 1 unreachable; phoneprov fleet --state lists"
    assert found["fleet"]["message"] == f"{message} them."


def cannot_be_read(data: Path) -> None:
    (data / "phoneprov.db").write_bytes(b"no database" * 500)


def others_can_read_it(data: Path) -> None:
    data.chmod(0o755)


def execute(statement: str) -> Callable[[Path], None]:
    def change(data: Path) -> None:
        with closing(sqlite3.connect(data / "phoneprov.db")) as connection, connection:
            connection.execute(statement)

    return change


OF_ANOTHER_KEY = execute(
    "INSERT INTO extensions (uuid, type, extension, name, password_sealed, password_key_id,"
    " voicemail, is_active, created_at, updated_at, created_ip, updated_ip, search) VALUES"
    " ('1', 'custom', '1', 'x', 'x', 'another-key', 0, 1, '2026-01-01T00:00:00.000Z',"
    " '2026-01-01T00:00:00.000Z', '', '', '')"
)
NO_SERVER = "postgresql+asyncpg://phoneprov@127.0.0.1:1/phoneprov"
NO_FILE = {"AMI_HOST": "10.1.1.1", "AMI_TLS": "true", "AMI_TLS_CA": "/nowhere/missing.pem"}


@pytest.mark.parametrize(
    ("change", "settings", "check", "words"),
    [
        (Path.stat, {"FTP_TIMEOUT": "-1"}, "settings", "PHONEPROV_FTP_TIMEOUT"),
        (Path.stat, {"FTP_HSOT": "10.1.1.1"}, "settings", "PHONEPROV_FTP_HSOT"),
        (Path.stat, NO_FILE, "adapters", "PHONEPROV_AMI_TLS_CA"),
        (cannot_be_read, {}, "database", ""),
        (others_can_read_it, {}, "folder", ""),
        (OF_ANOTHER_KEY, {}, "keys", "another-key"),
        (Path.stat, {"DATABASE_URL": NO_SERVER}, "database", "PHONEPROV_DATABASE_URL"),
    ],
)
def test_doctor_fault_is_reported(
    data: Path,
    change: Callable[[Path], object],
    settings: dict[str, str],
    check: str,
    words: str,
) -> None:
    change(data)
    code, found = examined(data, **{f"PHONEPROV_{name}": text for name, text in settings.items()})
    assert (code, found[check]["state"]) == (1, "failed")
    assert words in f"{found[check]['message']} {found[check]['next_step']}"
    if check == "settings":
        assert list(found) == ["settings"]
    if "DATABASE_URL" in settings:
        assert found["schema"]["state"] == "skipped"


def test_doctor_missing_key_file_is_not_created(data: Path) -> None:
    (data / "secret.key").unlink()
    code, found = examined(data)
    assert (code, found["keys"]["state"]) == (1, "failed")
    assert not (data / "secret.key").exists()


def test_doctor_old_schema_names_the_upgrade(data: Path) -> None:
    execute("UPDATE alembic_version SET version_num = '0015'")(data)
    code, found = examined(data)
    assert (code, found["schema"]["state"], found["keys"]["state"]) == (1, "failed", "skipped")
    assert "Export the records" in found["schema"]["message"]
    assert found["schema"]["next_step"] == "See docs/how-to/upgrade.md."


def test_doctor_unreachable_servers_and_phones_are_reported(data: Path) -> None:
    """Nothing listens on port 1 of this host."""
    execute(
        "INSERT INTO phones (mac, brand, model, phone_ip, is_active, created_at, updated_at,"
        " search, address_confirmed, adopted_with_pin) VALUES ('00:1B:D4:12:34:56', 'Cisco',"
        " '7945', '127.0.0.1', 1, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', '', 1, 0)"
    )(data)
    code, found = examined(
        data,
        PHONEPROV_UPLOADER="ftp",
        PHONEPROV_FTP_HOST="127.0.0.1",
        PHONEPROV_FTP_PORT="1",
        PHONEPROV_AMI_HOST="127.0.0.1",
        PHONEPROV_AMI_PORT="1",
        PHONEPROV_PHONE_NETWORKS="127.0.0.0/8",
        PHONEPROV_PHONE_HTTP_PORT="1",
    )
    assert code == 1
    assert {found[check]["state"] for check in ("ftp", "asterisk", "phones")} == {"failed"}
    assert "0 of 1 phones" in found["phones"]["message"]


def test_doctor_names_the_sip_phones_of_users_who_left(data: Path) -> None:
    async def fill() -> None:
        container = prepare(read_settings({"PHONEPROV_DATA_DIR": str(data)}))
        async with opened(container), container.database().write() as tx:
            await tx.users.add(a_user(31, is_active=False))
            for number, kind in ((1, "SIP"), (2, "SCCP")):
                phone = a_phone(number, software_type=kind)
                await tx.phones.add(phone)
                deployment = a_deployment(
                    400 + number, phone.mac, owner_uuid=identifier(31), place="/cnf"
                )
                await tx.deployments.add(deployment)

    assert examined(data)[1]["leavers"]["state"] == "ok"
    asyncio.run(fill())

    code, found = examined(data)

    assert (code, found["leavers"]["state"]) == (1, "failed")
    assert a_mac(1) in found["leavers"]["message"]
    assert a_mac(2) not in found["leavers"]["message"]
    assert "another profile" in found["leavers"]["next_step"]


def test_doctor_full_disk_is_reported(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = SimpleNamespace(total=100 * 1024**3, free=1024**3)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    code, found = examined(data)
    assert (code, found["disk"]["state"]) == (1, "failed")
    assert "phoneprov prune" in found["disk"]["next_step"]


def test_doctor_clock_that_differs_is_reported(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def long_ago(_: SqlStatistics) -> int:
        return 1

    monkeypatch.setattr(SqlStatistics, "clock", long_ago)
    code, found = examined(data)
    assert (code, found["clock"]["state"]) == (1, "failed")
    assert "NTP" in found["clock"]["next_step"]


def test_doctor_table_shows_next_steps(data: Path) -> None:
    data.chmod(0o755)
    variables = {"PHONEPROV_DATA_DIR": str(data), "PHONEPROV_UPLOADER": "served"}
    done = CliRunner(env=variables).invoke(main, ["doctor"])
    assert done.exit_code == 1
    assert f"Next: Run chmod 700 {data}." in done.output
