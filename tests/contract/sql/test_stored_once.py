"""A configuration is stored once, and without an unkeyed hash."""

import asyncio
import hashlib
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, text

from phoneprov_adapters.security.box import SecretBox
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql.engines.choice import database_at
from phoneprov_adapters.sql.maintenance import migrate
from phoneprov_adapters.testing.phone_records import a_deployment, a_profile, a_revision
from phoneprov_adapters.testing.records import a_mac, identifier, moment
from phoneprov_core.profiles.model import whole

BEFORE = "0004"
OWNER, PROFILE = identifier(900), identifier(1)
TEXTS = ["<device><pin>1234</pin></device>", "<device><pin>4321</pin></device>"]
KEYS = SecretKeys.parse("k" * 32)


def sha256(xml: str) -> str:
    return hashlib.sha256(xml.encode()).hexdigest()


@pytest.fixture
def url(url_without_schema: str) -> str:
    return url_without_schema


def _insert(connection: Connection, table: str, row: dict[str, Any]) -> None:
    names = ", ".join(row)
    values = ", ".join(f":{name}" for name in row)
    connection.execute(text(f"INSERT INTO {table} ({names}) VALUES ({values})"), row)  # noqa: S608


def _fill(connection: Connection) -> None:
    """Add a profile with two revisions, each of them deployed once."""
    box = SecretBox(KEYS)

    def sealed(xml: str, place: str) -> dict[str, Any]:
        kept = box.seal(xml.encode(), place)
        return {"cnf_xml_sealed": kept.data, "cnf_xml_key_id": kept.key_id}

    columns = {
        row[0]
        for row in connection.execute(text("SELECT * FROM users WHERE 1 = 0")).cursor.description
    }
    times = {"created_at": moment(1), "updated_at": moment(1)}
    row: dict[str, Any] = dict.fromkeys(columns, "")
    row |= {"uuid": OWNER, "username": "ada", "username_key": "ada", "is_active": True, **times}
    row |= {"email": "ada@example.com", "email_key": "ada@example.com"}
    _insert(connection, "users", {name: row[name] for name in columns})
    _insert(
        connection,
        "profiles",
        {"uuid": PROFILE, "user_uuid": OWNER, "name": "Ada", "compatible_models": "[]", **times}
        | sealed(TEXTS[1], f"profiles|cnf_xml|{PROFILE}"),
    )
    for number, xml in enumerate(TEXTS, 1):
        uuid = identifier(10 + number)
        _insert(
            connection,
            "profile_revisions",
            {"uuid": uuid, "profile_uuid": PROFILE, "number": number, "sha256": sha256(xml)}
            | {"size": len(xml), "created_at": moment(number), "created_by": OWNER}
            | sealed(xml, f"profile_revisions|cnf_xml|{uuid}"),
        )
        record = a_deployment(20 + number, a_mac(1), number=number, revision=number)
        deployment = {name: getattr(record, name) for name in record.__struct_fields__}
        deployment |= {"sha256": sha256(xml), "profile_uuid": PROFILE, "place": "there"}
        deployment |= {"action": "switch", "outcome": "deployed", "confirmation": "none"}
        deployment |= {"failed_step": None, "steps": "[]"}
        _insert(connection, "deployments", deployment)
    connection.commit()


async def test_migration_keeps_configurations_and_removes_hashes(url: str, tmp_path: Path) -> None:
    await migrate.upgrade(url, BEFORE)
    await migrate._with_connection(url, _fill)

    await migrate.upgrade(url)

    database = database_at(url, SecretBox(KEYS))
    await database.open()
    try:
        async with database.read() as tx:
            profile = await tx.whole_profiles.find(PROFILE)
            revisions = await tx.revisions.rows(9, owner=PROFILE)
            current = await tx.deployments.current(a_mac(1))
            assert current is not None
            previous = await tx.deployments.previous(current)
    finally:
        await database.close()
    assert profile is not None
    assert profile.cnf_xml == TEXTS[1]
    assert [one.sha256 for one in revisions] == [sha256(xml) for xml in TEXTS]
    assert (current.revision, current.sha256) == (2, None)
    assert previous is not None
    assert previous.revision == 1
    if url.startswith("sqlite"):
        content = await asyncio.to_thread((tmp_path / "phoneprov.db").read_bytes)
        assert PROFILE.encode() in content
        assert not [xml for xml in TEXTS if sha256(xml).encode() in content]


async def test_stored_profile_holds_one_ciphertext_and_no_plain_hash(tmp_path: Path) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path / 'phoneprov.db'}"
    await migrate.upgrade(url, BEFORE)
    await migrate._with_connection(url, _fill)
    await migrate.upgrade(url)
    xml = "<device>" + "x" * 100_000 + "</device>"
    record = a_profile(2, OWNER)
    database = database_at(url, SecretBox(KEYS))
    await database.open()
    before = (tmp_path / "phoneprov.db").stat().st_size
    async with database.write() as tx:
        await tx.profiles.add(record)
        await tx.revisions.add(a_revision(30, record, cnf_xml=xml), xml)
        await tx.deployments.add(a_deployment(31, a_mac(2), sha256=sha256(xml)))
    async with database.read() as tx:
        assert await tx.whole_profiles.find(record.uuid) == whole(record, xml)
    await database.close()

    content = await asyncio.to_thread((tmp_path / "phoneprov.db").read_bytes)
    assert len(content) - before < 150_000
    digest = hashlib.sha256(xml.encode())
    assert digest.digest() not in content
    assert digest.hexdigest().encode() not in content
