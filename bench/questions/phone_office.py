"""An office with phones, contacts and PINs, and its service."""

import asyncio
import random
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from bench.process import Server, server
from phoneprov_adapters.composition.lifecycle import create_database, prepare, running
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.sql.maintenance import migrate
from phoneprov_core.inventory.profiles.model import CreateProfile
from phoneprov_core.kernel.actor import SYSTEM_ACTOR
from phoneprov_core.people.auth.model import Credentials
from phoneprov_core.people.directory.model import CompanyContact
from phoneprov_core.people.users.model import Registration
from phoneprov_core.people.vendor_users import VendorUser
from support.phone_records import a_phone
from support.postgres import Server as Postgres
from support.records import a_mac, a_user, identifier

OBSERVED = Path(__file__).parent / "observed"
SERVING = {0}
"""Processors of the service, unless a test takes both."""
DATABASES = ("sqlite", "postgresql")
PASSWORD, PIN = "analytical engine 1843", "24681357"
KEY = "a key that only ever signs benchmarks: 0123456789"
CONFIGURATION = "<device>" + "<line>0123456789</line>" * 400 + "</device>"


def contacts(count: int) -> Iterator[CompanyContact]:
    """People of an office: 400 first names, 5,000 family names, each with one number."""
    luck = random.Random(1)
    syllables = [first + vowel for first in "bdfgklmnprstvz" for vowel in "aeiou"]
    firsts = ["".join(luck.choices(syllables, k=2)) for _ in range(400)]
    lasts = ["".join(luck.choices(syllables, k=3)) for _ in range(5_000)]
    for number in range(count):
        name = f"{luck.choice(firsts)} {luck.choice(lasts)}".title()
        if number % 1_000 == 17:
            name = "Ada Lovelace"
        yield CompanyContact(
            f"{luck.randrange(2**32):08x}-0000-4000-8000-{number:012x}",
            name,
            f"+44 20 {number:08}",
            *(None,) * 8,
            is_active=True,
            created_at="2026-01-31T00:00:00.000Z",
        )


async def fill(environment: Mapping[str, str], people: int, phones: int) -> str:
    """Create contacts, and phones with a user, a PIN and a profile each. Returns the access token
    of a superadmin."""
    settings = read_settings(environment)
    container = prepare(settings)
    database = container.database()
    if url := environment.get("PHONEPROV_DATABASE_URL"):
        await migrate.upgrade(url)
    await create_database(settings)
    now = "2026-01-31T00:00:00.000Z"
    async with running(container):
        use_cases = container.use_cases()
        admin = Registration(
            first_name="Ada",
            last_name="Lovelace",
            username="ada",
            email="ada@example.com",
            password=PASSWORD,
        )
        await use_cases.create_admin(admin)
        found = list(contacts(people))
        for start in range(0, people, 500):
            async with database.write(by=SYSTEM_ACTOR) as tx:
                for contact in found[start : start + 500]:
                    await tx.company_contacts.add(contact)
        hash_ = await container.hasher().hash_pin(PIN)
        for number in range(1, max(phones, 1) + 1):
            user = a_user(number)
            async with database.write(by=SYSTEM_ACTOR) as tx:
                await tx.phones.add(a_phone(number))
                await tx.users.add(user)
                await tx.vendor_users.save(VendorUser(identifier(number), user.uuid, hash_, now))
            profile = CreateProfile(user_uuid=user.uuid, name="One", cnf_xml=CONFIGURATION)
            await use_cases.profiles.create(SYSTEM_ACTOR, profile)
        logged_in = await use_cases.login(Credentials(username="ada", password=PASSWORD))
        return logged_in.tokens.access_token


def device(number: int) -> str:
    """The name of a phone of the office."""
    return f"SEP{a_mac(number).replace(':', '')}"


@contextmanager
def database_for(kind: str) -> Iterator[dict[str, str]]:
    """The settings of a database of this kind. PostgreSQL runs on the processors of the caller."""
    if kind == "sqlite":
        yield {}
        return
    started = Postgres("fsync=on", "full_page_writes=on", "shared_buffers=256MB")
    try:
        yield {"PHONEPROV_DATABASE_URL": started.url("postgres")}
    finally:
        started.close()


@contextmanager
def office(
    folder: Path,
    kind: str,
    people: int,
    *,
    phones: int = 0,
    workers: int = 1,
    processors: set[int] = SERVING,
    hashes: Path | None = None,
) -> Iterator[tuple[Server, str]]:
    """Run the service; yields it with an access token. ``hashes`` is the folder for the times of
    its hashes."""
    folder.mkdir(mode=0o700, parents=True)
    observed = {}
    if hashes is not None:
        hashes.mkdir()
        observed = {"PYTHONPATH": str(OBSERVED), "BENCH_HASHES": str(hashes)}
    with database_for(kind) as database:
        environment = {
            "PHONEPROV_DATA_DIR": str(folder),
            "PHONEPROV_SECRET_KEYS": KEY,
            "PHONEPROV_PHONE_NETWORKS": "127.0.0.0/8",
            "PHONEPROV_PHONE_BINDING": "network",
            "PHONEPROV_UPLOADER": "served",
            "PHONEPROV_RESTART": "none",
            "PHONEPROV_CONFIRM_TIMEOUT": "0",
            **database,
        }
        token = asyncio.run(fill(environment, people, phones))
        command = ["-m", "phoneprov_http.main", "serve", "--port", "{port}"]
        with server(
            "phoneprov",
            [sys.executable, *command, "--workers", str(workers)],
            environment | observed,
            processors=processors,
            folder=folder,
            ready="/health/ready",
        ) as started:
            yield started, token
