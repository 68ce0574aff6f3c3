"""Temporary files of uploads: their names, and finding leftover files of earlier attempts. They are
in the folder of the final file; concurrent uploads share a listing of this folder.

All phones of an office may use one folder, and listing a folder with many files is slow. Leftover
files exist before an upload begins, so a listing that another upload requests later contains them.
No upload waits for the listing of another upload: the upload that requests the listing also removes
the leftover files of the waiting uploads.

Reads configurations back from an FTP server: the ``FilesOnServer`` of ``FtpUploader``.
"""

import asyncio
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import NamedTuple

from phoneprov_adapters.ftp.session import FtpServer, FtpSession
from phoneprov_adapters.ftp.steps import VERIFYING, ServerRefused
from phoneprov_core.kernel.errors import PhoneprovError
from phoneprov_core.switching.devices.names import check_segments
from phoneprov_core.switching.devices.ports import FilesOnServer, Upload

_MARK = "phoneprov-"
_HIDDEN = re.compile(r"\.([^/]+)\.[A-Za-z0-9_-]+\.tmp")
_TEST = re.compile(r"phoneprov-test-([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f-]{21}\.xml")
_LONGEST_TEST = 10 * 60 * 1000
"""Age in milliseconds from which a test file is a leftover of a killed process."""
_PLAIN = re.compile(rf"([^/]+)\.{_MARK}[A-Za-z0-9_-]+\.tmp")
_MOST_SERVERS = 64

MANY = 4
FRESH_SECONDS = 20.0
"""In a batch, and while more than ``MANY`` uploads run, a listing is reused for ``FRESH_SECONDS``.
It contains the leftover files of a killed process: before the phone is tried again, its lease must
expire, which takes longer."""


class Names(NamedTuple):
    """``temporary`` is the name of the new file before its rename to the final name; ``aside`` is
    the name of the old file on a server that does not rename onto a file."""

    temporary: str
    aside: str


def hidden_names(upload: Upload) -> Names:
    """Names that begin with a dot: listings and phones do not show such files."""
    start = f".{upload.filename}.{upload.attempt}"
    return Names(f"{start}.tmp", f"{start}-old.tmp")


def plain_names(upload: Upload) -> Names:
    """Names for a server that refuses names with a leading dot (vsftpd with ``deny_file``,
    Pure-FTPd with ``-x``)."""
    start = f"{upload.filename}.{_MARK}{upload.attempt}"
    return Names(f"{start}.tmp", f"{start}-old.tmp")


def file_of_leftover(name: str) -> str | None:
    """The final name of the upload that this temporary file belongs to; None if the file is no
    temporary file.

    The identifier of an attempt has no dot, so a temporary file of ``a.b`` cannot be mistaken for a
    temporary file of ``a``.
    """
    if not name.endswith(".tmp"):
        return None
    found = _HIDDEN.fullmatch(name) or _PLAIN.fullmatch(name)
    return found[1] if found else None


def name_of_test(attempt: str) -> str:
    """The name of a test file; ``attempt`` is a UUID of version 7, which begins with a time."""
    return f"phoneprov-test-{attempt}.xml"


def is_left_test(name: str, now: str) -> bool:
    """Whether ``name`` is a leftover test file, or its temporary file, that is older than the test
    file ``now`` by at least ``_LONGEST_TEST``."""
    found, own = _TEST.fullmatch(file_of_leftover(name) or name), _TEST.fullmatch(now)
    return bool(found and own) and _moment(found) + _LONGEST_TEST < _moment(own)


def _moment(found: re.Match[str] | None) -> int:
    return int(found[1] + found[2], 16) if found else 0


class _Listing:
    """A listing of a server's folder. ``names`` are the names of temporary files, None while the
    server lists; ``uploads`` are the uploads whose leftover files the listing upload removes."""

    def __init__(self, upload: Upload) -> None:
        self.began = asyncio.get_running_loop().time()
        self.names: list[str] | None = None
        self.uploads = [upload]


class Listings:
    """The last listing of each server's folder."""

    def __init__(self) -> None:
        self._last: dict[str, _Listing] = {}
        self._under_way = 0

    @contextmanager
    def upload(self) -> Iterator[None]:
        """Count a running upload. If the upload fails, it may leave a file, so all listings are
        dropped."""
        self._under_way += 1
        try:
            yield
        except BaseException:
            self._last.clear()
            raise
        finally:
            self._under_way -= 1

    async def leftovers(self, session: FtpSession, upload: Upload) -> list[str]:
        """The names of the leftover files that this upload has to remove, possibly for other
        uploads, too; empty if another upload removes its files. Raises like
        ``FtpSession.names``."""
        steps = session.steps
        known = self._last.get(steps.server)
        is_one_of_many = upload.more_follow or self._under_way > MANY
        since = steps.began - (FRESH_SECONDS if is_one_of_many else 0.0)
        if known is None or known.began < since:
            return await self._listed(session, steps.server, upload)
        if known.names is None:
            known.uploads.append(upload)
            return []
        return _leftovers(known.names, [upload])

    async def _listed(self, session: FtpSession, server: str, upload: Upload) -> list[str]:
        listing = _Listing(upload)
        self._last.pop(server, None)
        self._last[server] = listing
        if len(self._last) > _MOST_SERVERS:
            del self._last[next(iter(self._last))]
        try:
            listing.names = [name for name in await session.names() if file_of_leftover(name)]
        except BaseException:
            if self._last.get(server) is listing:
                del self._last[server]
            raise
        return _leftovers(listing.names, listing.uploads)


def _leftovers(names: list[str], uploads: list[Upload]) -> list[str]:
    files = {upload.filename for upload in uploads}
    own = {name for upload in uploads for name in (*hidden_names(upload), *plain_names(upload))}
    return [name for name in names if file_of_leftover(name) in files and name not in own]


LISTING_SECONDS = 60.0
"""Seconds for a listing; ProFTPD lists 20,000 files in 4 MiB."""
_LISTING = "listing"
_LISTING_LIMIT = 16 * 1024 * 1024
_LINE_LIMIT = 4096
_GIVEN_UP = 1024 * 1024
"""A longer transfer is aborted. Some servers end the session then."""


class FtpFiles(FilesOnServer):
    """The files on ``server``, over one session. With ``has_own_deadlines`` each call has its own
    deadlines; otherwise all calls share the deadlines of the session."""

    def __init__(self, server: FtpServer, session: FtpSession, *, has_own_deadlines: bool) -> None:
        self._server = server
        self._session = session
        self._has_own_deadlines = has_own_deadlines

    async def listing(self, names: Collection[str]) -> Mapping[str, str] | None:
        """See the port. By MLSD, or by LIST on servers without MLSD, such as vsftpd."""
        self._begin(LISTING_SECONDS)
        for command, stamp in (("MLSD", _by_facts), ("LIST", _as_ls)):
            lines = _Lines(frozenset(names), stamp)
            try:
                await self._session.retrieve(command, _LISTING, lines.take)
            except ServerRefused as refused:
                if not refused.reply.startswith("5"):
                    raise
                continue
            except _Enough:
                await self._session.finish_command(_LISTING)
                return None
            return lines.found
        return None

    def place(self, name: str) -> str:
        return self._server.name + self._server.settings.path_of(name)

    async def read(self, name: str, limit: int) -> bytes | None:
        check_segments(name)
        self._begin(self._server.settings.total)
        content = bytearray()

        def take(block: bytes) -> None:
            content.extend(block)
            if len(content) > max(limit, _GIVEN_UP):
                raise _Enough

        try:
            await self._session.retrieve(f"RETR {name}", VERIFYING, take)
        except ServerRefused as refused:
            if not refused.reply.startswith("5"):
                raise
            return None
        except _Enough:
            with suppress(PhoneprovError):  # Some servers end the session.
                await self._session.finish_command(VERIFYING)
        return bytes(content[:limit])

    def _begin(self, seconds: float) -> None:
        if self._has_own_deadlines:
            self._session.steps = self._server.steps(self._server.settings.timeout, seconds)


class _Enough(Exception):
    """Ends a transfer: the rest is not needed."""


class _Lines:
    """Finds the lines of the files ``names`` in a listing, block by block. Lines longer than 4 KiB
    are skipped."""

    def __init__(self, names: frozenset[str], stamp: Callable[[str], tuple[str, str]]) -> None:
        self.found: dict[str, str] = {}
        self._names = names
        self._stamp = stamp
        self._size = 0
        self._rest = b""
        self._is_long = False

    def take(self, block: bytes) -> None:
        self._size += len(block)
        if self._size > _LISTING_LIMIT:
            raise _Enough
        *lines, rest = (self._rest + block).split(b"\n")
        for line in lines:
            if not self._is_long and len(line) <= _LINE_LIMIT:
                self._note(line.decode(errors="replace"))
            self._is_long = False
        self._is_long = self._is_long or len(rest) > _LINE_LIMIT
        self._rest = b"" if self._is_long else rest

    def _note(self, line: str) -> None:
        stamp, name = self._stamp(line)
        if name in self._names:
            # ``name`` is the last word of a line, so "a b.xml" is found as "b.xml", too. The stamps
            # of both lines are joined: a change of either file is reported.
            self.found[name] = self.found.get(name, "") + stamp


def _by_facts(line: str) -> tuple[str, str]:
    """Facts and name in ``modify=20260131081530;size=812; NAME`` (RFC 3659, section 7)."""
    facts, _, name = line.rstrip("\r").partition(" ")
    return facts, name.rpartition("/")[2]


def _as_ls(line: str) -> tuple[str, str]:
    """Facts and name in ``-rw-r--r-- 1 ftp ftp 812 Jan 31 08:15 NAME``; the target of a link
    (``NAME -> TARGET``) is ignored."""
    words = line.split()
    end = words.index("->") if "->" in words else len(words)
    return " ".join(words[: end - 1]), words[end - 1] if end else ""
