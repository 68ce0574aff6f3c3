"""The provider of the settings: discovery, the exchange of a code, and its keys."""

import asyncio
import base64
import hashlib
import ssl
import time
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote_plus, urlencode

import httpx
import msgspec
from msgspec import Struct

from phoneprov_adapters.oidc.tokens import header_of, require_own, usable, verified
from phoneprov_adapters.runtime.networks import is_protected
from phoneprov_core.features.identities.model import (
    IdentityProvider,
    PendingSignIn,
    ProviderClaims,
    ProviderReply,
    ProviderUnavailable,
    SignInRefused,
)
from phoneprov_core.kernel.fields import SECRET, Redacted

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


KEPT_SECONDS = 3600.0
AGAIN_SECONDS = 60.0
REST_SECONDS = 5.0
"""How long a provider that did not answer is not asked again for its configuration."""


class ClientSettings(Redacted, frozen=True, kw_only=True):
    """How this service is registered at the provider."""

    issuer: str
    client_id: str
    client_secret: Annotated[str, SECRET] = ""
    redirect_uri: str
    scopes: str = "openid profile email"
    name_claim: str = "preferred_username"
    group_claim: str = "groups"


class _Endpoints(Struct, frozen=True):
    authorization: str
    token: str
    keys: str
    by_post: bool
    states_issuer: bool


class OpenIdProvider(IdentityProvider):
    """Configuration and keys are kept for an hour. An unknown key fetches the keys again, once a
    minute at most."""

    def __init__(self, settings: ClientSettings, web: ProviderWeb) -> None:
        self._settings = settings
        self._web = web
        self._endpoints: _Endpoints | None = None
        self._keys: list[Any] = []
        self._found_at = self._failed_at = self._fetched_at = float("-inf")
        self._finding, self._fetching = asyncio.Lock(), asyncio.Lock()

    async def address(self, pending: PendingSignIn) -> str:
        endpoints = await self._discovered()
        digest = hashlib.sha256(pending.verifier.encode()).digest()
        query = {
            "response_type": "code",
            "client_id": self._settings.client_id,
            "redirect_uri": self._settings.redirect_uri,
            "scope": self._settings.scopes,
            "state": pending.state,
            "nonce": pending.nonce,
            "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
            "code_challenge_method": "S256",
        }
        join = "&" if "?" in endpoints.authorization else "?"
        return f"{endpoints.authorization}{join}{urlencode(query)}"

    async def claims(
        self, pending: PendingSignIn, reply: ProviderReply, now: int
    ) -> ProviderClaims:
        endpoints = await self._discovered()
        is_stated = reply.issuer is not None or endpoints.states_issuer
        if not reply.code or (is_stated and reply.issuer != self._settings.issuer):
            raise SignInRefused
        token = await self._exchanged(endpoints, pending, reply.code)
        algorithm, key_id = header_of(token)
        keys = await self._keys_for(endpoints, algorithm, key_id)
        claims = verified(token, keys, algorithm)
        require_own(
            claims,
            issuer=self._settings.issuer,
            client=self._settings.client_id,
            nonce=pending.nonce,
            now=now,
        )
        return self._person(claims)

    async def _discovered(self) -> _Endpoints:
        async with self._finding:
            now = time.monotonic()
            if self._endpoints is not None and now - self._found_at < KEPT_SECONDS:
                return self._endpoints
            if now - self._failed_at < REST_SECONDS:
                raise ProviderUnavailable
            try:
                self._endpoints = await self._discover()
            except ProviderUnavailable:
                self._failed_at = time.monotonic()
                raise
            self._found_at = time.monotonic()
            return self._endpoints

    async def _discover(self) -> _Endpoints:
        issuer = self._settings.issuer
        url = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
        status, found = await self._web.ask("GET", url)
        names = ("authorization_endpoint", "token_endpoint", "jwks_uri")
        urls = [str(found.get(name, "")) for name in names]
        local = issuer.startswith("http:")
        are_safe = all(is_protected(one) and (local or one.startswith("https:")) for one in urls)
        # What follows a fragment would not be sent to the provider.
        if status != 200 or found.get("issuer") != issuer or not are_safe or "#" in urls[0]:
            raise ProviderUnavailable
        methods = found.get("token_endpoint_auth_methods_supported")
        by_post = isinstance(methods, list) and "client_secret_basic" not in methods
        states_issuer = found.get("authorization_response_iss_parameter_supported") is True
        return _Endpoints(urls[0], urls[1], urls[2], by_post, states_issuer)

    async def _exchanged(self, endpoints: _Endpoints, pending: PendingSignIn, code: str) -> str:
        """The ID token for a code."""
        settings = self._settings
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": settings.redirect_uri,
            "code_verifier": pending.verifier,
        }
        more: dict[str, Any] = {}
        if settings.client_secret and not endpoints.by_post:
            # RFC 6749, section 2.3.1: both are encoded before they are joined.
            more["auth"] = (quote_plus(settings.client_id), quote_plus(settings.client_secret))
        else:
            form["client_id"] = settings.client_id
            if settings.client_secret:
                form["client_secret"] = settings.client_secret
        status, found = await self._web.ask("POST", endpoints.token, form=form, **more)
        if status >= 500 or 300 <= status < 400:
            raise ProviderUnavailable
        token = found.get("id_token")
        if status != 200 or not isinstance(token, str) or not token.isascii():
            raise SignInRefused
        return token

    async def _keys_for(
        self, endpoints: _Endpoints, algorithm: str, key_id: str | None
    ) -> list[dict[str, Any]]:
        async with self._fetching:
            age = time.monotonic() - self._fetched_at
            found = usable(self._keys, algorithm, key_id)
            if age >= KEPT_SECONDS or (not found and age >= AGAIN_SECONDS):
                status, content = await self._web.ask("GET", endpoints.keys)
                keys = content.get("keys")
                if status != 200 or not isinstance(keys, list):
                    raise ProviderUnavailable
                self._keys, self._fetched_at = keys, time.monotonic()
                found = usable(self._keys, algorithm, key_id)
        return found

    def _person(self, claims: dict[str, Any]) -> ProviderClaims:
        claim = self._settings.group_claim
        groups = claims.get(claim)
        if isinstance(groups, str):
            groups = [groups]
        elsewhere = claims.get("_claim_names")
        if groups is None and isinstance(elsewhere, dict) and claim in elsewhere:
            listed = None
        else:
            listed = (
                [one for one in groups if isinstance(one, str)] if isinstance(groups, list) else []
            )
        return ProviderClaims(
            subject=claims["sub"],
            name=_text(claims, self._settings.name_claim),
            first_name=_text(claims, "given_name"),
            last_name=_text(claims, "family_name"),
            email=_text(claims, "email"),
            groups=listed,
        )


def _text(claims: dict[str, Any], name: str) -> str:
    value = claims.get(name)
    return value if isinstance(value, str) else ""
