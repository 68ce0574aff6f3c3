"""Requests to the provider: bounded in time and size, without redirects and proxies."""

import asyncio
import ssl
from collections.abc import Mapping
from typing import Any

import httpx
import msgspec

from phoneprov_core.features.identities.model import ProviderUnavailable

SECONDS = 5.0
LARGEST = 64 * 1024


class ProviderWeb:
    """Asks the provider. ``tls`` verifies its certificate."""

    def __init__(self, tls: ssl.SSLContext) -> None:
        self._tls = tls

    async def ask(
        self, method: str, url: str, *, form: Mapping[str, str] | None = None, **more: Any
    ) -> tuple[int, dict[str, Any]]:
        """The status and the JSON object of the reply. Raises ``ProviderUnavailable``."""
        # A small compressed reply could be huge in memory.
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        try:
            async with (
                asyncio.timeout(SECONDS),
                httpx.AsyncClient(
                    verify=self._tls, trust_env=False, follow_redirects=False, timeout=SECONDS
                ) as client,
                client.stream(method, url, headers=headers, data=form, **more) as reply,
            ):
                body = bytearray()
                async for part in reply.aiter_raw():
                    body += part
                    if len(body) > LARGEST:
                        raise ProviderUnavailable
                content = msgspec.json.decode(bytes(body))
        except (TimeoutError, httpx.HTTPError, httpx.InvalidURL, ValueError, RecursionError):
            # RecursionError: a reply nested too deeply.
            raise ProviderUnavailable from None
        if not isinstance(content, dict):
            raise ProviderUnavailable
        return reply.status_code, content
