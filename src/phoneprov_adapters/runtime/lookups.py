"""Looking up the name of a server, apart from connecting to it: a silent DNS server is not a silent
server of that name."""

import asyncio
import socket
from collections.abc import Sequence
from typing import Any

from phoneprov_core.kernel.addresses import address_of
from phoneprov_core.kernel.errors import Refused, TimedOut


async def looked_up(host: str, port: int, what: str, seconds: float) -> list[str]:
    """The addresses of a host, which is ``what`` in messages. Raises ``TimedOut`` and
    ``Refused``."""
    if address_of(host) is not None:
        return [host]
    try:
        async with asyncio.timeout(seconds):
            loop = asyncio.get_running_loop()
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except TimeoutError:
        raise TimedOut(
            f"The name {host} of {what} was not looked up in time: check the DNS servers of this "
            "host."
        ) from None
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or "it is not a valid name"
        raise Refused(f"The name {host} of {what} cannot be looked up: {why}.") from None
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


async def connected(
    addresses: Sequence[str], port: int, **options: Any
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to the first address that accepts one. Raises the error of the last one."""
    *others, last = addresses
    for address in others:
        try:
            return await asyncio.open_connection(address, port, **options)
        except OSError:
            continue
    return await asyncio.open_connection(last, port, **options)
