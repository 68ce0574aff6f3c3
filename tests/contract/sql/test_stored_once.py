"""A configuration is stored once, and without an unkeyed hash."""

import asyncio
import hashlib
from pathlib import Path

from phoneprov_adapters.composition.adapters import database_at
from phoneprov_adapters.security.crypto import SecretBox
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql.maintenance import migrate
from phoneprov_core.inventory.profiles.model import Content, whole
from support.phone_records import a_deployment, a_profile, a_revision
from support.records import a_mac, a_user, identifier

OWNER = identifier(900)
KEYS = SecretKeys.parse("k" * 32)


def sha256(xml: str) -> str:
    return hashlib.sha256(xml.encode()).hexdigest()


async def test_stored_profile_holds_one_ciphertext_and_no_plain_hash(tmp_path: Path) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path / 'phoneprov.db'}"
    await migrate.upgrade(url)
    xml = "<device>" + "x" * 100_000 + "</device>"
    record = a_profile(2, OWNER)
    database = database_at(url, SecretBox(KEYS))
    await database.open()
    before = (tmp_path / "phoneprov.db").stat().st_size
    async with database.write() as tx:
        await tx.users.add(a_user(900))
        await tx.profiles.add(record)
        await tx.revisions.add(a_revision(30, record, cnf_xml=xml), xml)
        await tx.deployments.add(a_deployment(31, a_mac(2), sha256=sha256(xml)))
    async with database.read() as tx:
        assert await tx.whole_profiles.find(record.uuid) == whole(record, Content(xml))
    await database.close()

    content = await asyncio.to_thread((tmp_path / "phoneprov.db").read_bytes)
    assert len(content) - before < 150_000
    digest = hashlib.sha256(xml.encode())
    assert digest.digest() not in content
    assert digest.hexdigest().encode() not in content
