"""Temporary files of earlier attempts in a server's folder, listed once for all running uploads.

All phones of an office may use one folder, and listing it takes longer the more files it has. Files
of earlier attempts existed before an upload began, so that a listing that another upload requested
since then contains them. No upload waits for the listing of another one: the upload that lists
removes the files of the others, too.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from phoneprov_adapters.ftp.names import file_of_leftover, hidden_names, plain_names
from phoneprov_adapters.ftp.session import FtpSession
from phoneprov_core.devices.ports import Upload

_MOST_SERVERS = 64

MANY = 4
FRESH_SECONDS = 20.0
"""While more than ``MANY`` uploads run, a listing of the last ``FRESH_SECONDS`` is reused. Files of
a killed process are older when its phone is tried again: the lease on the phone has to run out
first."""


class _Listing:
    """``names`` are those of temporary files, None while the server lists; ``uploads`` are those
    that look for leftover files."""

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
        """Count a running upload. If one fails, it may leave a file: all listings are dropped
        then."""
        self._under_way += 1
        try:
            yield
        except BaseException:
            self._last.clear()
            raise
        finally:
            self._under_way -= 1

    async def leftovers(self, session: FtpSession, upload: Upload) -> list[str]:
        """The names that this upload has to remove: files from before it began, possibly those of
        other uploads; none if another upload removes them. Raises like ``FtpSession.names``."""
        steps = session.steps
        known = self._last.get(steps.server)
        since = steps.began - (FRESH_SECONDS if self._under_way > MANY else 0.0)
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
