"""Pages for phones beside a read over the API, and many logins: python -m bench.phone_pages.

One service on one processor answers ``GET /phones/{mac}``, the menu of services, and a directory
page of 32 among 10,000 contacts, in turn: the pages have to reach 60 % of the rate of the read.
Then searches among 1,000 and among 100,000 contacts: none may take more than 3 times as long.
Then LOGINS phones log in within SECONDS, on two workers: a login waits for the hashes before it
only. Ends with 1 if one of these is not so.
"""

from __future__ import annotations

import asyncio
import html
import os
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import click
import httpx

from bench.load import Load, plain, round_of
from bench.process import Server, server
from phoneprov_adapters.composition.lifecycle import migrate_embedded, prepare, running
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.testing.records import a_mac, a_phone, a_user, identifier
from phoneprov_core.auth.model import Credentials
from phoneprov_core.directory.model import CompanyContact
from phoneprov_core.kernel.actor import SYSTEM_ACTOR
from phoneprov_core.profiles.model import NewProfile
from phoneprov_core.users.model import Registration
from phoneprov_core.vendor_users.model import VendorUser

READ_GOAL, SEARCH_GOAL = 0.6, 3.0
SERVING, ASKING, BOTH = {0}, {1}, {0, 1}
PASSWORD, PIN = "analytical engine 1843", "24681357"
KEY = "a key that only ever signs benchmarks: 0123456789"
CONFIGURATION = "<device>" + "<line>0123456789</line>" * 400 + "</device>"
SEARCHES = {
    "one name": {"q": "lovelace"},
    "beginning of many names": {"q": "ma"},
    "two words that many have": {"q": "ma be"},
    "three words, few matches": {"q": "ada lovelace zo"},
    "end of a number": {"n": "0017"},
    "no match": {"q": "zzzz"},
    "everyone": {},
}


_URL = re.compile(r"<URL>(.*?)</URL>")


def contacts(count: int) -> Iterator[CompanyContact]:
    """People of an office: 400 first names, 5,000 family names, a number each."""
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


async def fill(environment: Mapping[str, str], people: int, logins: int) -> str:
    """An office with a phone for each login; the access token of its superadmin."""
    settings = read_settings(environment)
    container = prepare(settings)
    await migrate_embedded(settings)
    now = "2026-01-31T00:00:00.000Z"
    async with running(container) as use_cases:
        database = container.database()
        admin = Registration(
            first_name="Ada",
            last_name="Lovelace",
            username="ada",
            email="ada@example.com",
            password=PASSWORD,
        )
        await use_cases.create_admin(admin)
        found = list(contacts(people))
        for start in range(0, people, 2_000):
            async with database.write(by=SYSTEM_ACTOR) as tx:
                for contact in found[start : start + 2_000]:
                    await tx.company_contacts.add(contact)
        hash_ = await container.hasher().hash_pin(PIN)
        for number in range(1, max(logins, 1) + 1):
            user = a_user(number)
            async with database.write(by=SYSTEM_ACTOR) as tx:
                await tx.phones.add(a_phone(number))
                await tx.users.add(user)
                await tx.vendor_users.save(VendorUser(identifier(number), user.uuid, hash_, now))
            profile = NewProfile(user_uuid=user.uuid, name="One", cnf_xml=CONFIGURATION)
            await use_cases.profiles.create(SYSTEM_ACTOR, profile)
        logged_in = await use_cases.login(Credentials(username="ada", password=PASSWORD))
        return logged_in.tokens.access_token


@contextmanager
def office(
    folder: Path, people: int, *, logins: int = 0, workers: int = 1, processors: set[int] = SERVING
) -> Iterator[tuple[Server, str]]:
    """The service, and an access token."""
    folder.mkdir(mode=0o700)
    environment = {
        "PHONEPROV_DATA_DIR": str(folder),
        "PHONEPROV_SECRET_KEYS": KEY,
        "PHONEPROV_PHONE_NETWORKS": "127.0.0.0/8",
        "PHONEPROV_PHONE_BINDING": "network",
        "PHONEPROV_UPLOADER": "served",
        "PHONEPROV_RESTART": "none",
        "PHONEPROV_CONFIRM_TIMEOUT": "0",
    }
    token = asyncio.run(fill(environment, people, logins))
    command = ["-m", "phoneprov_http.main", "serve", "--port", "{port}", "--workers", str(workers)]
    with server(
        "phoneprov",
        [sys.executable, *command],
        environment,
        processors=processors,
        folder=folder,
        ready="/health/ready",
    ) as started:
        yield started, token


def page(path: str, **parameters: str) -> str:
    """The path of a page of the first phone."""
    device = f"SEP{a_mac(1).replace(':', '')}"
    return f"/phone/{path}?{urlencode({'device': device, **parameters})}"


def rates(
    started: Server, loads: Mapping[str, Load], seconds: float, rounds: int
) -> dict[str, float]:
    """Answers a second, the median of rounds in turn."""
    found: dict[str, list[float]] = {name: [] for name in loads}
    with tempfile.NamedTemporaryFile(prefix="phoneprov-bench-") as file:
        for number in range(rounds + 1):
            for name, load in loads.items():
                one = round_of(load, started, seconds, ASKING, Path(file.name))
                if one.failed:
                    raise click.ClickException(f"{name}: {one.failed} requests failed")
                if number:  # the first only makes everything warm
                    found[name].append(one.rate)
    return {name: statistics.median(each) for name, each in found.items()}


def reads(folder: Path, seconds: float, rounds: int) -> bool:
    """Pages beside a read over the API."""
    with office(folder, 10_000) as (started, token):
        paths = {
            "menu": page("services"),
            "directory page": page("directories/company/list", q="", n=""),
        }
        loads = {"GET /phones/{mac}": Load([plain("GET", f"/api/v1/phones/{a_mac(1)}", token)])}
        loads |= {name: Load([plain("GET", path)]) for name, path in paths.items()}
        found = rates(started, loads, seconds, rounds)
    base = found["GET /phones/{mac}"]
    for name, rate in found.items():
        click.echo(f"{name:24} {rate:8.0f} a second  {rate / base:6.0%}")
    return all(rate >= READ_GOAL * base for rate in found.values())


def searches(folder: Path, seconds: float, rounds: int) -> bool:
    """Searches in a small and in a large directory."""
    loads = {
        name: Load([plain("GET", page("directories/company/list", **asked))], connections=4)
        for name, asked in SEARCHES.items()
    }
    with (
        office(folder / "small", 1_000) as (small, _),
        office(folder / "large", 100_000) as (large, _),
    ):
        among = [rates(one, loads, seconds, rounds) for one in (small, large)]
    worst = 0.0
    for name in SEARCHES:
        few, many = among[0][name], among[1][name]
        worst = max(worst, few / many)
        click.echo(f"{name:26} {few:6.0f} and {many:6.0f} a second: {few / many:.2f} times")
    return worst <= SEARCH_GOAL


class Logins:
    """Phones that log in."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._ahead = 0
        self.took: list[tuple[int, float]] = []

    async def log_in(self, number: int, wait: float) -> None:
        """After ``wait`` seconds, from the menu to the answer."""
        await asyncio.sleep(wait)
        device = f"SEP{a_mac(number).replace(':', '')}"
        async with httpx.AsyncClient(base_url=self._url, timeout=60) as client:
            menu = await client.get(f"/phone/services?name={device}")
            form = await client.get(_first_url(menu.text))
            user = urlencode({"user": a_user(number).username, "pin": PIN})
            ahead, self._ahead = self._ahead, self._ahead + 1
            began = time.perf_counter()
            answer = await client.get(f"{_first_url(form.text)}&{user}")
            self.took.append((ahead, time.perf_counter() - began))
            self._ahead -= 1
        if "<Title>Logged in</Title>" not in answer.text:
            raise click.ClickException(f"{device} could not log in: {answer.text}")


def _first_url(xml: str) -> str:
    match = _URL.search(xml)
    assert match, xml
    return html.unescape(match[1])


def many_logins(folder: Path, logins: int, seconds: float) -> bool:
    """Logins at random moments."""
    luck = random.Random(1)
    with office(folder, 0, logins=logins, workers=2, processors=BOTH) as (started, _):
        phones = Logins(started.url)

        async def all_() -> None:
            await phones.log_in(1, 0)
            alone = phones.took.pop()
            waits = (luck.uniform(0, seconds) for _ in range(logins - 1))
            await asyncio.gather(*(phones.log_in(n, w) for n, w in enumerate(waits, 2)))
            phones.took.append(alone)

        asyncio.run(all_())
    took = sorted(one for _, one in phones.took)
    alone = statistics.median(one for ahead, one in phones.took if ahead == 0)
    # Beside those before it a login takes its own time; twice that for what else the machine does.
    late = [one for ahead, one in phones.took if one > (ahead + 1) * alone + 2 * alone]
    half, most = took[len(took) // 2], took[len(took) * 99 // 100]
    at_once = max(ahead for ahead, _ in phones.took) + 1
    click.echo(
        f"{logins} logins within {seconds:.0f} s on two workers, at most {at_once} at once: median"
        f" {half:.3f} s, p99 {most:.3f} s, longest {took[-1]:.3f} s; alone {alone:.3f} s;"
        f" {len(late)} waited longer than those before them take"
    )
    return not late


@click.command()
@click.option("--only", type=click.Choice(["reads", "searches", "logins"]), multiple=True)
@click.option("--seconds", default=3.0, show_default=True, help="Duration of a round.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--logins", default=500, show_default=True)
@click.option("--within", default=60.0, show_default=True, help="Seconds for all logins.")
def phone_pages(
    only: tuple[str, ...], seconds: float, rounds: int, logins: int, within: float
) -> None:
    """Measure pages for phones."""
    os.sched_setaffinity(0, ASKING)
    good = True
    with tempfile.TemporaryDirectory(prefix="phoneprov-bench-") as name:
        folder = Path(name)
        if not only or "reads" in only:
            good &= reads(folder / "reads", seconds, rounds)
        if not only or "searches" in only:
            (folder / "searches").mkdir()
            good &= searches(folder / "searches", seconds, rounds)
        if not only or "logins" in only:
            os.sched_setaffinity(0, BOTH)
            good &= many_logins(folder / "logins", logins, within)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    phone_pages()
