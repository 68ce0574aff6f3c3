"""What earlier attempts left in a server's folder, looked for once for all uploads under way.

All phones of an office may read from one folder, and to list it takes the longer the more there
are. What earlier attempts left behind was there before an upload began: a listing that another
upload asked for since then tells of it as well. Nor need anybody wait for that listing: whoever
asked for it removes what the others are looking for too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from phoneprov_adapters.ftp.names import (
    aside_name,
    is_leftover,
    may_be_leftover,
    temporary_name,
)
from phoneprov_adapters.ftp.session import FtpSession
from phoneprov_adapters.ftp.steps import Steps
from phoneprov_core.devices.ports import Upload

_MOST_SERVERS = 64

MANY = 4
FRESH_SECONDS = 20.0
"""While more than so many uploads are under way, a listing is taken for true for so long. What
a killed process left is older when it may be tried again: its lease on the phone has to run out."""


class _Listing:
    """``names`` are those of temporary files, None while the server lists; ``uploads`` are those
    that look for what was left behind."""

    def __init__(self, upload: Upload) -> None:
        self.began = asyncio.get_running_loop().time()
        self.names: list[str] | None = None
        self.uploads = [upload]


class Listings:
    """The last listing of each server."""

    def __init__(self) -> None:
        self._last: dict[str, _Listing] = {}
        self._under_way = 0

    @contextmanager
    def upload(self) -> Iterator[None]:
        """An upload is under way. One that fails may leave something behind: what is known of
        any folder is forgotten then."""
        self._under_way += 1
        try:
            yield
        except BaseException:
            self._last.clear()
            raise
        finally:
            self._under_way -= 1

    async def leftovers(self, session: FtpSession, steps: Steps, upload: Upload) -> list[str]:
        """What this upload has to remove: what was left behind before it began, and perhaps
        what others look for; nothing when another removes it. Raises like
        ``FtpSession.names``."""
        known = self._last.get(steps.server)
        since = steps.began - (FRESH_SECONDS if self._under_way > MANY else 0.0)
        if known is None or known.began < since:
            return await self._listed(session, steps.server, upload)
        if known.names is None:
            known.uploads.append(upload)
            return []
        return _left_behind(known.names, [upload])

    async def _listed(self, session: FtpSession, server: str, upload: Upload) -> list[str]:
        listing = _Listing(upload)
        self._last.pop(server, None)
        self._last[server] = listing
        if len(self._last) > _MOST_SERVERS:
            del self._last[next(iter(self._last))]
        try:
            listing.names = [name for name in await session.names() if may_be_leftover(name)]
        except BaseException:
            if self._last.get(server) is listing:
                del self._last[server]
            raise
        return _left_behind(listing.names, listing.uploads)


def _left_behind(names: list[str], uploads: list[Upload]) -> list[str]:
    own = {name(upload) for upload in uploads for name in (temporary_name, aside_name)}
    return [
        name
        for name in names
        if name not in own and any(is_leftover(name, upload.filename) for upload in uploads)
    ]
