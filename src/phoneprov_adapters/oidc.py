"""Sign-in with the provider of the settings, by OpenID Connect: discovery, the exchange of a code,
its keys, and the verification of ID tokens (OpenID Connect Core 1.0, section 3.1.3.7).
"""

import asyncio
import base64
import binascii
import hashlib
import ssl
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import quote_plus, urlencode

import httpx
import msgspec
from joserfc import jws
from joserfc.errors import JoseError, SecurityWarning
from joserfc.jwk import ECKey, OKPKey, RSAKey
from joserfc.util import urlsafe_b64decode
from msgspec import Struct

from phoneprov_adapters.runtime.networks import is_protected
from phoneprov_core.features.identities.model import (
    LEEWAY_SECONDS,
    IdentityProvider,
    PendingSignIn,
    ProviderClaims,
    ProviderReply,
    ProviderUnavailable,
    SignInRefused,
)
from phoneprov_core.kernel.fields import SECRET, Redacted

_KINDS: dict[str, type[RSAKey | ECKey | OKPKey]] = {
    "RS256": RSAKey,
    "PS256": RSAKey,
    "ES256": ECKey,
    "EdDSA": OKPKey,
}
_KEY_TYPES = {"RS256": "RSA", "PS256": "RSA", "ES256": "EC", "EdDSA": "OKP"}
# Parameters of a header that are not known are ignored (RFC 7515, section 4); ``crit`` is refused.
_REGISTRY = jws.JWSRegistry(algorithms=[*_KINDS], strict_check_header=False)
_LONGEST_SUBJECT = 255
_MOST_KEYS = 16
"""Keys that are tried for a token: each costs a verification, and providers publish a few."""

Json = dict[str, Any]


def header_of(token: str) -> tuple[str, str | None]:
    """The algorithm and the id of the key. Raises ``SignInRefused`` for any algorithm but RS256,
    PS256, ES256 and EdDSA."""
    try:
        header = msgspec.json.decode(urlsafe_b64decode(token.partition(".")[0].encode()), type=Json)
    except (ValueError, binascii.Error, RecursionError):
        raise SignInRefused from None
    algorithm, key_id = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in _KINDS or "crit" in header:
        raise SignInRefused
    return algorithm, key_id if isinstance(key_id, str) else None


def usable(keys: Sequence[Any], algorithm: str, key_id: str | None) -> list[Json]:
    """The first public keys that may have signed a token with this header."""
    found = [
        key
        for key in keys
        if isinstance(key, dict)
        and key.get("kty") == _KEY_TYPES[algorithm]
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) == algorithm
        and (key_id is None or key.get("kid") == key_id)
    ]
    return found[:_MOST_KEYS]


def verified(token: str, keys: Sequence[Json], algorithm: str) -> Json:
    """The claims of a token signed with any of the keys. Raises ``SignInRefused``."""
    for key in keys:
        try:
            own = _KINDS[algorithm].import_key(key)
            with warnings.catch_warnings():
                # EdDSA has newer names for its curves, which providers do not use yet.
                warnings.simplefilter("ignore", SecurityWarning)
                signed = jws.deserialize_compact(token, own, [algorithm], _REGISTRY)
            return msgspec.json.decode(signed.payload, type=Json)
        except (JoseError, ValueError, TypeError, KeyError, RecursionError):
            continue
    raise SignInRefused


def require_own(claims: Json, *, issuer: str, client: str, nonce: str, now: int) -> None:
    """Raises ``SignInRefused`` for claims of another issuer, for another client or sign-in, or not
    valid at ``now``, in milliseconds since 1970."""
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    azp = claims.get("azp")
    subject = claims.get("sub")
    seconds = now / 1000
    is_own = (
        claims.get("iss") == issuer
        and client in audiences
        and (azp == client or (azp is None and len(audiences) == 1))
        and claims.get("nonce") == nonce
        and isinstance(subject, str)
        and 0 < len(subject) <= _LONGEST_SUBJECT
        and subject.isprintable()
        and _moment(claims, "exp") + LEEWAY_SECONDS > seconds
        and _moment(claims, "iat") - LEEWAY_SECONDS <= seconds
        and ("nbf" not in claims or _moment(claims, "nbf") - LEEWAY_SECONDS <= seconds)
    )
    if not is_own:
        raise SignInRefused


def _moment(claims: Json, name: str) -> float:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SignInRefused
    return value


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
