"""Many logins at phones, and how long each waits.

The goal: no login waits longer than the hashes before it take. So a login may take, from the last
byte of its request to the last of its response,

    number of logins before it x hash + login alone + (hash - hash alone).

A login is before another if it is unfinished when the other is sent. Of two that are sent within
``SAME_MOMENT`` either may come first. A hash is the p99 of hashes on all processors at once, as the
workers run them: they share caches and memory. A login alone is the longest of ``ALONE`` logins one
after another, whose own hash has the machine for itself; the last term is what it lacks of a hash
beside others. All three are measured in the same run. The client is a bare socket: one that takes
as much processor time as the service would measure itself.
"""

from __future__ import annotations

import asyncio
import html
import os
import random
import re
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlencode

import click
from msgspec import Struct

from bench.phone_office import PIN, device, office
from phoneprov_adapters.security.argon2 import Argon2Hasher
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.testing.records import a_user

BOTH = {0, 1}
ALONE = 500
"""Logins one after another, before the others."""
SAME_MOMENT = 0.01

_URL = re.compile(r"<URL>(.*?)</URL>")
_LENGTH = re.compile(rb"content-length: ([0-9]+)", re.IGNORECASE)


class Login(Struct, frozen=True):
    """When a login was sent and answered, in seconds."""

    sent: float
    answered: float

    @property
    def took(self) -> float:
        return self.answered - self.sent

    def before(self, others: Sequence[Login]) -> int:
        """The number of logins that were unfinished when this one was sent."""
        latest = self.sent + SAME_MOMENT
        return sum(
            other.sent < latest and other.answered > self.sent
            for other in others
            if other is not self
        )


class Phones:
    """Phones of the office, at the service on this port."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def log_in(self, number: int, wait: float = 0) -> Login:
        """After ``wait`` seconds, from the menu to the answer; the last request is the login."""
        await asyncio.sleep(wait)
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            menu = await self._get(reader, writer, f"/phone/services?name={device(number)}")
            form = await self._get(reader, writer, _first_path(menu))
            user = urlencode({"user": a_user(number).username, "pin": PIN})
            sent = time.perf_counter()
            answer = await self._get(reader, writer, f"{_first_path(form)}&{user}")
            login = Login(sent, time.perf_counter())
        finally:
            writer.close()
        if "<Title>Logged in</Title>" not in answer:
            raise click.ClickException(f"{device(number)} could not log in: {answer}")
        return login

    async def _get(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str
    ) -> str:
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        assert length, head
        return (await reader.readexactly(int(length[1]))).decode()


def _first_path(xml: str) -> str:
    match = _URL.search(xml)
    assert match, xml
    url = html.unescape(match[1])
    return url[url.index("/phone/") :]


async def hashes(threads: int) -> list[float]:
    """The durations of 50 hashes on each of so many threads at once."""
    hasher = Argon2Hasher(SecretKeys.parse("k" * 32), workers=threads)
    hash_ = await hasher.hash_pin(PIN)

    async def some() -> list[float]:
        took = []
        for _ in range(50):
            began = time.perf_counter()
            await hasher.verify_pin(PIN, hash_)
            took.append(time.perf_counter() - began)
        return took

    took = await asyncio.gather(*(some() for _ in range(threads)))
    hasher.close()
    return [one for each in took for one in each]


def part(values: Sequence[float], share: float) -> float:
    """The value that this share of the values does not exceed."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def logins(folder: Path, kind: str, count: int, seconds: float, rounds: int) -> bool:
    """``count`` logins at random moments within ``seconds``, on two workers; whether none of them
    waited for more than the hashes before it."""
    phones = ALONE + rounds * count
    with office(folder, kind, 0, phones=phones, workers=2, processors=BOTH) as (started, _):
        return asyncio.run(_rounds(Phones(started.port), kind, count, seconds, rounds))


async def _rounds(phones: Phones, kind: str, count: int, seconds: float, rounds: int) -> bool:
    os.sync()  # what was written before is not flushed during the measurement
    hash_alone = statistics.median(await hashes(1))
    hash_ = part(await hashes(len(BOTH)), 0.99)
    alone = [(await phones.log_in(number)).took for number in range(1, ALONE + 1)]
    own = max(alone) + hash_ - hash_alone
    click.echo(
        f"{kind}: a hash alone {hash_alone * 1000:.1f} ms, on all processors at once p99"
        f" {hash_ * 1000:.1f} ms; a login alone {statistics.median(alone) * 1000:.1f} ms, p99"
        f" {part(alone, 0.99) * 1000:.1f} ms, longest {max(alone) * 1000:.1f} ms"
    )
    luck = random.Random(1)
    is_good = True
    for number in range(rounds):
        first = ALONE + number * count + 1
        sent = [luck.uniform(0, seconds) for _ in range(count)]
        done = await asyncio.gather(*(phones.log_in(first + n, w) for n, w in enumerate(sent)))
        is_good &= _judged(done, hash_, own)
    return is_good


def _judged(done: Sequence[Login], hash_: float, own: float) -> bool:
    before = {one: one.before(done) for one in done}
    beyond = {one: one.took - (before[one] * hash_ + own) for one in done}
    late = [one for one in done if beyond[one] > 0]
    took = [one.took for one in done]
    click.echo(
        f"  {len(done)} logins, at most {max(before.values()) + 1} at once: median"
        f" {statistics.median(took) * 1000:.0f} ms, p99 {part(took, 0.99) * 1000:.0f} ms, longest"
        f" {max(took) * 1000:.0f} ms; {len(late)} took longer than the hashes before them"
    )
    for one in sorted(late, key=lambda one: -beyond[one])[:10]:
        click.echo(
            f"    {one.took * 1000:.0f} ms with {before[one]} before it:"
            f" {beyond[one] * 1000:.0f} ms too long"
        )
    return not late
