"""An import is one transaction on every database."""

import asyncio
import io
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from contract.files.conftest import transfer_over
from phoneprov_adapters.files.csv import CsvText, CsvWriter
from phoneprov_adapters.sql.engines.transaction import Database
from phoneprov_core.features.transfer.importing import Reader
from phoneprov_core.features.transfer.model import RowProblem
from phoneprov_core.features.transfer.sheets import Index
from phoneprov_core.features.transfer.use_cases import Transfer, columns_out
from phoneprov_core.kernel.actor import Actor, LevelRule, system_actor
from support.stores import DATABASES
from support.table import ListTable


@pytest.fixture(params=sorted(DATABASES))
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    async with DATABASES[request.param](tmp_path) as opened:
        yield opened


@pytest.fixture
def actor() -> Actor:
    return system_actor(LevelRule.HIERARCHICAL)


ROWS = [(str(number), "custom", "Mine", "pw") for number in range(1000, 1006)]


@pytest.mark.parametrize("kind", ["users", "extensions", "phones", "kems", "company-directory"])
async def test_every_kind_is_imported_and_exported(
    transfer: Transfer, actor: Actor, kind: str
) -> None:
    tables = {
        "users": ListTable(
            "username,first_name,last_name,email,password",
            ("ada", "Ada", "L", "ada@example.com", "a long one for the tests"),
        ),
        "extensions": ListTable("extension,type,name,password", *ROWS),
        "phones": ListTable("mac,name", ("00:1B:D4:12:34:56", "Desk")),
        "kems": ListTable("mac,model", ("00:1B:D4:12:34:56", "CP-7916"), ("", "CP-7915")),
        "company-directory": ListTable("name,work", ("Ada", "1"), ("Bob", "")),
    }

    first = await transfer.into(actor, kind, tables[kind])
    rows = [row async for piece in transfer.out(actor, kind, with_secrets=True) for row in piece]
    texts = [tuple(_text(value) for value in row.values()) for row in rows]
    again = await transfer.into(actor, kind, ListTable(",".join(rows[0]), *texts))

    assert first.problems == again.problems == ()
    assert (again.unchanged, again.total) == (first.created, first.created)


async def test_exports_of_an_office_are_imported_elsewhere(
    transfer: Transfer, actor: Actor, tmp_path: Path
) -> None:
    """Users without passwords, then what belongs to them, by the text of the exported files."""
    (tmp_path / "other").mkdir()
    office = {
        "users": "username,first_name,last_name,email,password\n"
        "ada,Ada,L,ada@example.com,a long one for the tests\nbob,Bob,B,bob@example.com,\n",
        "extensions": "extension,type,name,password\n1001,custom,Hall,pw\n0302,custom,Lab,pw\n",
        "user-extensions": "username,extension\nada,1001\nbob,0302\nada,0302\n",
        "templates": 'name,model,body\noffice,7945,"<device>\n=1\n</device>"\n',
        "profiles": "username,name,template,values.vlan,cnf_xml\nada,Desk,office,;=1,\n"
        "bob,'-1,,,<device/>\n",
        "phones": "mac,name\nSEP001BD4123456,=1+1\n",
        "company-directory": 'name,work\n"Ada;@x",+49 30 1\n',
        "personal-directory": "username,name,home\nada,Mum,0301\n",
    }
    exported = {}
    for kind, text in office.items():
        done = await transfer.into(actor, kind, CsvText(text))
        assert done.problems == (), kind
        file = io.StringIO(newline="")
        writer = CsvWriter(file, columns_out(kind, with_secrets=True))
        async for piece in transfer.out(actor, kind, with_secrets=True):
            writer.write(piece)
        exported[kind] = file.getvalue()
        again = await transfer.into(actor, kind, CsvText(exported[kind]))
        assert (again.problems, again.unchanged, again.total) == ((), done.created, done.created)

    async with DATABASES["sqlite"](tmp_path / "other") as other:
        there = transfer_over(other)
        for kind, text in exported.items():
            moved = await there.into(actor, kind, CsvText(text))
            assert (moved.problems, moved.created) == ((), moved.total), kind
        async with other.read() as tx:
            ada = await tx.users.by_username("ada")
            assert ada is not None
            assert await tx.users.password_hash(ada.uuid) is None
            assert await tx.users.with_password("ada") is None


@pytest.mark.parametrize("keep_going", [False, True])
@pytest.mark.parametrize("dry_run", [False, True])
async def test_import_of_pins_and_links_writes_all_or_none(
    transfer: Transfer, actor: Actor, database: Database, dry_run: bool, keep_going: bool
) -> None:
    people = ListTable("username,first_name,last_name,email", ("ada", "A", "L", "a@example.com"))
    await transfer.into(actor, "users", people)
    await transfer.into(actor, "extensions", ListTable("extension,type,name,password", *ROWS))
    how: dict[str, Any] = {"dry_run": dry_run, "keep_going": keep_going}

    pins = ListTable("username,pin_code", ("ada", "4711"), ("none", "4711"))
    links = ListTable("username,extension", ("ada", "1000"), ("ada", "none"), ("ada", "1001"))
    done = [
        await transfer.into(actor, kind, table, **how)
        for kind, table in (("pins", pins), ("user-extensions", links))
    ]

    written = keep_going and not dry_run
    assert [(one.written, one.created, len(one.problems)) for one in done] == [
        (written, 1, 1), (written, 2, 1),
    ]  # fmt: skip
    async with database.read() as tx:
        ada = await tx.users.by_username("ada")
        assert ada is not None
        pin = await tx.vendor_users.of_user(ada.uuid)
        numbers = [one.extension for one in await tx.links.extensions.rows(9, owner=ada.uuid)]
    assert numbers == (["1000", "1001"] if written else [])
    assert (pin is not None and "4711" in pin.pin_code) is written


@pytest.mark.parametrize("keep_going", [False, True])
async def test_import_concurrent_conflict_stops_all_or_skips_the_row(
    transfer: Transfer,
    actor: Actor,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    keep_going: bool,
) -> None:
    # Another writer takes a number between the read of the index and the write.
    look = Reader.look

    async def blind(self: Reader, tx: Any) -> None:
        self._index = self._index or Index(self._sheet)
        await look(self, tx)

    taken = ("1003", "custom", "Other", "x")
    await transfer.into(actor, "extensions", ListTable("extension,type,name,password", taken))
    monkeypatch.setattr(Reader, "look", blind)

    table = ListTable("extension,type,name,password", *ROWS)
    done = await transfer.into(actor, "extensions", table, keep_going=keep_going)

    assert done.problems == (RowProblem(5, "extension", "is already in use"),)
    assert (done.created, done.written) == ((5, True) if keep_going else (0, False))
    async with database.read() as tx:
        assert await tx.extensions.count() == (6 if keep_going else 1)


async def test_import_reports_a_user_who_was_added_since_the_check(
    transfer: Transfer, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = Reader.look

    async def blind(self: Reader, tx: Any) -> None:
        self._index = self._index or Index(self._sheet)
        await look(self, tx)

    columns = "username,first_name,last_name,email,password"
    ada = ("ada", "Ada", "L", "ada@example.com", "a long one for the tests")
    await transfer.into(actor, "users", ListTable(columns, ada))
    monkeypatch.setattr(Reader, "look", blind)

    done = await transfer.into(actor, "users", ListTable(columns, ada))

    assert {problem.message for problem in done.problems} == {"is already in use"}
    assert {problem.field for problem in done.problems} <= {"username", "email"}
    assert not done.written


async def test_parallel_imports_of_one_table_create_each_record_once(
    transfer: Transfer, actor: Actor, database: Database
) -> None:
    table = ListTable("name,work", *((f"Contact {number}", "1") for number in range(600)))

    done = await asyncio.gather(
        *(transfer.into(actor, "company-directory", table) for _ in range(4))
    )

    assert sum(one.created for one in done if one.written) == 600
    assert {p.message.partition(":")[0] for one in done for p in one.problems} <= {
        "The row was not written"
    }
    async with database.read() as tx:
        assert await tx.company_contacts.count() == 600


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)
