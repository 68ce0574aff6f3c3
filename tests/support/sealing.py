"""A database on disk, opened with the keys of a test, and secrets in it."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from phoneprov_adapters.composition.adapters import OwnDatabase, database_at
from phoneprov_adapters.security.credentials import Argon2Hasher
from phoneprov_adapters.security.crypto import SecretBox
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql.engines.transaction import SqlTransaction
from phoneprov_adapters.sql.maintenance.key_rotation import KeyRotation
from phoneprov_core.features.serving.model import ServedFile
from phoneprov_core.features.templates.model import TemplateText
from phoneprov_core.inventory.profiles.model import Revision
from phoneprov_core.switching.deployments.model import Deployment
from phoneprov_core.switching.deployments.ports import Rendered
from support import postgres
from support.data_folder import create_database
from support.keys import argon2_parameters
from support.phone_records import a_deployment, a_profile, a_template
from support.records import a_mac, a_pin, a_user, an_extension, identifier, moment

E = TypeVar("E")

OWNER = identifier(900)


class _Store(Protocol[E]):
    async def find(self, key: str) -> E | None: ...
    async def add(self, entity: E, /) -> None: ...
    async def put(self, entity: E, /) -> None: ...


class Sealer(NamedTuple):
    """A database opened with certain keys."""

    database: OwnDatabase
    box: SecretBox
    rotation: KeyRotation
    keys: SecretKeys


class Vault:
    """A migrated, empty database at ``url``."""

    def __init__(self, url: str) -> None:
        self.url = url

    @asynccontextmanager
    async def opened(self, keys: SecretKeys) -> AsyncIterator[Sealer]:
        """The database, opened with these keys."""
        box = SecretBox(keys)
        database = database_at(self.url, box)
        await database.open()
        try:
            yield Sealer(database, box, KeyRotation(database, keys, box), keys)
        finally:
            await database.close()

    async def fill(self, keys: SecretKeys, count: int, *, first: int = 1) -> None:
        """Add ``count`` records of every kind with secrets, encrypted with these keys."""
        async with self.opened(keys) as sealer, sealer.database.write() as tx:
            if await tx.users.find(OWNER) is None:
                await tx.users.add(a_user(900, username="owner"))
            for number in range(first, first + count):
                await put_secrets(tx, number, "before")


async def put_secrets(tx: SqlTransaction, number: int, word: str) -> None:
    """Write the secrets of one number; missing records are added."""
    extension = an_extension(
        number,
        extension=f"ext{number}",
        password=f"password {word} {number}",
        voicemail_passcode=f"passcode {word} {number}",
    )
    profile = a_profile(number, OWNER)
    deployment = a_deployment(number, a_mac(number), sha256=_hash(number, word))
    await _put(tx.extensions, extension)
    template = a_template(number, body=f"template {word} {number}")
    await _put(tx.templates, template)
    await _put(tx.profiles, profile)
    await _put(tx.deployments, deployment)
    await tx.served_files.put(_served(number, word))
    if await tx.revisions.find(profile.uuid, 1) is None:  # it never changes
        await tx.revisions.add(_revision(number, profile.uuid), _kept(number))
        await tx.renderings.keep(_rendered(number), Rendered(_kept(number)), ())
        await tx.template_texts.add(_text(number, template.uuid))


async def _put(store: _Store[E], record: E) -> None:
    uuid: str = record.uuid  # type: ignore[attr-defined]
    await (store.put if await store.find(uuid) else store.add)(record)


def _served(number: int, word: str) -> ServedFile:
    return ServedFile(
        f"SEP{number}.cnf.xml", f"served {word} {number}".encode(), identifier(number)
    )


def _hash(number: int, word: str) -> str:
    return hashlib.sha256(f"{word} {number}".encode()).hexdigest()


def _revision(number: int, profile_uuid: str) -> Revision:
    content = _kept(number).encode()
    return Revision(
        uuid=identifier(number),
        profile_uuid=profile_uuid,
        number=1,
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        created_at=moment(number),
        created_by=OWNER,
    )


def _text(number: int, template_uuid: str) -> TemplateText:
    body = _kept(number)
    return TemplateText(
        uuid=identifier(number),
        template_uuid=template_uuid,
        number=1,
        size=len(body),
        created_at=moment(number),
        created_by=OWNER,
        body=body,
    )


def _rendered(number: int) -> Deployment:
    """A deployment whose text was rendered, and never changes."""
    sha256 = hashlib.sha256(_kept(number).encode()).hexdigest()
    return a_deployment(number, a_mac(number), sha256=sha256, profile_uuid=identifier(number))


def _kept(number: int) -> str:
    return f"<device>kept {number}</device>"


async def secrets_of(tx: SqlTransaction, number: int) -> tuple[str | None, ...]:
    """The decrypted secrets of one number."""
    extension = await tx.extensions.find(identifier(number))
    deployment = await tx.deployments.find(identifier(number))
    assert extension is not None
    assert deployment is not None
    template = await tx.templates.find(identifier(number))
    assert template is not None
    served = await tx.served_files.find(_served(number, "").name)
    assert served is not None
    rendered = await tx.renderings.of(_rendered(number))
    content = await tx.revisions.content(identifier(number))
    revision = content.text if content else None
    text = await tx.template_texts.find_text(template.uuid, 1)
    return (
        extension.password,
        extension.voicemail_passcode,
        deployment.sha256,
        served.content.decode(),
        revision,
        template.body,
        rendered.text if rendered else None,
        text.body if text else None,
    )


def expected(number: int, word: str = "before") -> tuple[str, ...]:
    """The secrets that ``put_secrets`` wrote."""
    return (
        f"password {word} {number}",
        f"passcode {word} {number}",
        _hash(number, word),
        f"served {word} {number}",
        _kept(number),
        f"template {word} {number}",
        _kept(number),
        _kept(number),
    )


async def set_pin(sealer: Sealer, number: int, username: str) -> None:
    """Add a user with a PIN that is hashed with the first key."""
    hasher = Argon2Hasher(sealer.keys, workers=1, parameters=argon2_parameters())
    try:
        hash_ = await hasher.hash_pin("2468")
    finally:
        hasher.close()
    user = a_user(number, username=username)
    async with sealer.database.write() as tx:
        if await tx.users.find(user.uuid) is None:
            await tx.users.add(user)
        await tx.vendor_users.save(a_pin(number, user.uuid, pin_code=hash_))


async def empty_database(kind: str, folder: Path) -> str:
    """The URL of an empty database of this kind, ``sqlite`` or ``postgres``."""
    if kind == "postgres":
        return await postgres.shared_empty_database()
    return f"sqlite+aiosqlite:///{create_database(folder)}"
