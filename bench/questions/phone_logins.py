"""Many logins at phones, and how long each waits.

The goal: no login waits longer than the hashes before it take. The service itself is observed: each
of its processes records when a hash was queued, begun and finished, and when the login received the
result. A login waits from queued to begun and from finished to the result. The limit is the
duration of the hashes of the same process that were queued earlier and are unfinished, and
``SWITCH`` for the scheduling of the loop and the threads.

The duration of a login, from its request to its response, is printed too. The client is a bare
socket, because a client library uses as much processor time as the service and would measure
itself.
"""

import asyncio
import html
import os
import random
import re
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlencode

import click
from msgspec import Struct

from bench.questions.phone_office import PIN, device, office
from support.records import a_user

BOTH = {0, 1}
ALONE = 200
"""Logins one after another, before the others."""
SWITCH = 0.024
"""Two scheduling periods of Linux on two processors: one for the thread, one for the loop."""

_URL = re.compile(r"<URL>(.*?)</URL>")
_LENGTH = re.compile(rb"content-length: ([0-9]+)", re.IGNORECASE)


class Hash(Struct, frozen=True):
    """A hash for a login, in one process of the service; times in seconds."""

    queued: float
    begun: float
    ended: float
    returned: float

    @property
    def waited(self) -> float:
        return self.begun - self.queued + self.returned - self.ended

    def before(self, others: Sequence["Hash"]) -> float:
        """Seconds that the unfinished hashes before this one took."""
        return sum(
            other.ended - max(other.begun, self.queued)
            for other in others
            if other.queued < self.queued < other.ended
        )


class Phones:
    """Phones of the office, at the service on this port."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def log_in(self, number: int, wait: float = 0) -> float:
        """Log in, beginning with the menu after ``wait`` seconds; the duration."""
        await asyncio.sleep(wait)
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            menu = await self._get(reader, writer, f"/phone/services?name={device(number)}")
            form = await self._get(reader, writer, _first_path(menu))
            user = urlencode({"user": a_user(number).username, "pin": PIN})
            sent = time.perf_counter()
            answer = await self._get(reader, writer, f"{_first_path(form)}&{user}")
            took = time.perf_counter() - sent
        finally:
            writer.close()
        if "<Title>Logged in</Title>" not in answer:
            raise click.ClickException(f"{device(number)} could not log in: {answer}")
        return took

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


def part(values: Sequence[float], share: float) -> float:
    """The quantile of the values at this share."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def logins(folder: Path, kind: str, count: int, seconds: float, rounds: int) -> bool:
    """``count`` logins at random moments within ``seconds``, on two workers; whether each waited at
    most for the hashes before it."""
    phones = ALONE + rounds * count
    hashes = folder.with_name("hashes")
    with office(folder, kind, 0, phones=phones, workers=2, processors=BOTH, hashes=hashes) as (
        started,
        _,
    ):
        return asyncio.run(_rounds(Phones(started.port), hashes, kind, count, seconds, rounds))


async def _rounds(
    phones: Phones, hashes: Path, kind: str, count: int, seconds: float, rounds: int
) -> bool:
    os.sync()  # earlier writes are not flushed during the measurement
    alone = [await phones.log_in(number) for number in range(1, ALONE + 1)]
    click.echo(f"{kind}: {ALONE} logins one after another: {_durations(alone)}")
    luck = random.Random(1)
    is_good = True
    for number in range(rounds):
        _remove(hashes)
        first = ALONE + number * count + 1
        sent = [luck.uniform(0, seconds) for _ in range(count)]
        took = await asyncio.gather(*(phones.log_in(first + n, w) for n, w in enumerate(sent)))
        click.echo(f"  {count} logins within {seconds:g} s: {_durations(took)}")
        is_good &= _judged(list(_read(hashes)), count)
    return is_good


def _remove(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()


def _read(folder: Path) -> Iterator[list[Hash]]:
    """The hashes of each process."""
    for file in folder.iterdir():
        lines = file.read_text("ascii").splitlines()
        yield [Hash(*map(float, line.split())) for line in lines]


def _judged(processes: Sequence[Sequence["Hash"]], count: int) -> bool:
    found = [(one, one.before(hashes)) for hashes in processes for one in hashes]
    if len(found) != count:
        raise click.ClickException(f"{len(found)} hashes were observed for {count} logins")
    beyond = [one.waited - before for one, before in found]
    late = [one for one in beyond if one > SWITCH]
    queued = sum(before > 0 for _, before in found)
    click.echo(
        f"    {queued} had hashes before them; longest wait for a hash"
        f" {max(one.waited for one, _ in found) * 1000:.1f} ms; longer than the hashes before it by"
        f" at most {max(beyond) * 1000:.1f} ms; {len(late)} by more than {SWITCH * 1000:.0f} ms"
    )
    return not late


def _durations(took: Sequence[float]) -> str:
    return (
        f"median {statistics.median(took) * 1000:.0f} ms, p99 {part(took, 0.99) * 1000:.0f} ms,"
        f" longest {max(took) * 1000:.0f} ms"
    )
