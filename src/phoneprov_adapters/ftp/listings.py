"""What lies in a server's folder, looked at once for all uploads that are under way.

All phones of an office may read from one folder, and to list it takes the longer the more there
are. What earlier attempts left behind was there before an upload began: a listing that another
upload asked for since then tells of it as well.
"""

from __future__ import annotations

import asyncio

from phoneprov_adapters.ftp.names import may_be_leftover
from phoneprov_adapters.ftp.session import FtpSession
from phoneprov_adapters.ftp.steps import Steps

_MOST_SERVERS = 64


class _Listing:
    """The names of temporary files; None when it failed."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.began = loop.time()
        self.names: asyncio.Future[list[str] | None] = loop.create_future()


class Listings:
    """The last listing of each server."""

    def __init__(self) -> None:
        self._last: dict[str, _Listing] = {}

    async def temporary_files(self, session: FtpSession, steps: Steps) -> list[str]:
        """The temporary files that were there when the upload of these ``steps`` began, and
        perhaps younger ones. Raises like ``FtpSession.names``."""
        known = self._last.get(steps.server)
        if known is None or known.began < steps.began:
            return await self._listed(session, steps.server)
        try:
            async with asyncio.timeout(steps.rest()):
                names = await asyncio.shield(known.names)
        except TimeoutError:
            names = None
        return await self._listed(session, steps.server) if names is None else names

    async def _listed(self, session: FtpSession, server: str) -> list[str]:
        listing = _Listing()
        self._last.pop(server, None)
        self._last[server] = listing
        if len(self._last) > _MOST_SERVERS:
            del self._last[next(iter(self._last))]
        names = None
        try:
            names = [name for name in await session.names() if may_be_leftover(name)]
            return names
        finally:
            listing.names.set_result(names)
