"""Reads configurations back from an FTP server: the ``FilesOnServer`` of ``FtpUploader``."""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress

from phoneprov_adapters.ftp.session import FtpServer, FtpSession
from phoneprov_adapters.ftp.steps import VERIFYING, ServerRefused
from phoneprov_core.kernel.errors import PhoneprovError
from phoneprov_core.switching.devices.names import check_segments
from phoneprov_core.switching.devices.ports import FilesOnServer

LISTING_SECONDS = 60.0
"""Seconds for a listing; ProFTPD lists 20,000 files in 4 MiB."""
_LISTING = "listing"
_LISTING_LIMIT = 16 * 1024 * 1024
_LINE_LIMIT = 4096
_GIVEN_UP = 1024 * 1024
"""A transfer of more bytes is given up, which ends the session on some servers."""


class FtpFiles(FilesOnServer):
    """A session of ``server``. Each call has deadlines of its own, or all calls share the deadlines
    of the session."""

    def __init__(self, server: FtpServer, session: FtpSession, *, has_own_deadlines: bool) -> None:
        self._server = server
        self._session = session
        self._has_own_deadlines = has_own_deadlines

    async def listing(self, names: Collection[str]) -> Mapping[str, str] | None:
        """By MLSD or, as for vsftpd, which does not have it, LIST."""
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
    """More is not read."""


class _Lines:
    """Finds the lines of ``names`` in a listing that arrives in pieces. Lines longer than 4 KiB
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
            # A name with a space may end like another one: a change of either is one.
            self.found[name] = self.found.get(name, "") + stamp


def _by_facts(line: str) -> tuple[str, str]:
    """``modify=20260131081530;size=812; NAME`` (RFC 3659, section 7)."""
    facts, _, name = line.rstrip("\r").partition(" ")
    return facts, name.rpartition("/")[2]


def _as_ls(line: str) -> tuple[str, str]:
    """``-rw-r--r-- 1 ftp ftp 812 Jan 31 08:15 NAME``, a link with its target after the name."""
    words = line.split()
    end = words.index("->") if "->" in words else len(words)
    return " ".join(words[: end - 1]), words[end - 1] if end else ""
