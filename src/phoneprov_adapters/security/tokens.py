"""Tokens: JSON Web Tokens, signed with HMAC-SHA256 (RFC 7519, RFC 7515, RFC 8725)."""

from functools import lru_cache
from typing import Annotated, NamedTuple

import msgspec
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import OctKey
from msgspec import Meta, Struct

from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_core.kernel.errors import Unauthenticated
from phoneprov_core.people.auth.model import Claims, TokenKind, Tokens

_ALGORITHM = "HS256"
_LONGEST = 4096
_REMEMBERED = 4096

# Clocks of hosts that share a database may differ by seconds.
_SKEW = 30_000

_NAMES = {TokenKind.ACCESS: "access", TokenKind.REFRESH: "refresh"}

_Text = Annotated[str, Meta(min_length=1)]
_Seconds = Annotated[int, Meta(ge=0, lt=2**53)]


class _Payload(Struct, frozen=True, forbid_unknown_fields=True):
    """The claims of a token, all of them required; times are seconds since 1970."""

    iss: str
    aud: str
    sub: _Text
    sid: _Text
    jti: _Text
    iat: _Seconds
    nbf: _Seconds
    exp: _Seconds


class _Header(NamedTuple):
    """The meaning of a token's header."""

    kind: TokenKind
    key: OctKey


class _Genuine(NamedTuple):
    """A token whose signature, kind, issuer and audience were checked, but not its times."""

    kind: TokenKind
    claims: Claims
    not_before: int


class JwtTokens(Tokens):
    """HS256 over joserfc. The current key signs; all keys verify.

    A token is parsed only after its signature was verified: its header must equal one of those that
    this class writes (one for each kind and key), which determines algorithm, type and key id.
    Refresh and access tokens have different audiences, so that the kinds differ twice.

    The last genuine tokens are cached with their claims; their times are checked each time.
    """

    def __init__(
        self, keys: SecretKeys, issuer: str = "phoneprov", audience: str = "phoneprov"
    ) -> None:
        self._issuer = issuer
        self._audiences = {
            TokenKind.ACCESS: audience,
            TokenKind.REFRESH: f"{audience}/refresh",
        }
        self._registry = jws.JWSRegistry(algorithms=[_ALGORITHM])
        self._signing_key = OctKey.import_key(keys.current.signing)
        self._current_id = keys.current.id
        self._headers = {
            self._header_text(kind, key.id): _Header(kind, OctKey.import_key(key.signing))
            for key in keys
            for kind in TokenKind
        }
        self._payloads = msgspec.json.Decoder(_Payload)
        # Exceptions are not cached: invalid tokens do not evict valid ones.
        self._genuine = lru_cache(maxsize=_REMEMBERED)(self._check)

    def issue(self, kind: TokenKind, claims: Claims) -> str:
        issued_at = claims.issued_at // 1000
        payload = _Payload(
            iss=self._issuer,
            aud=self._audiences[kind],
            sub=claims.user_uuid,
            sid=claims.session_uuid,
            jti=claims.token_id,
            iat=issued_at,
            nbf=issued_at,
            exp=claims.expires_at // 1000,
        )
        return self._signed(kind, self._current_id, msgspec.json.encode(payload))

    def read(self, kind: TokenKind, token: str, now: int) -> Claims:
        try:
            genuine = self._genuine(token) if len(token) <= _LONGEST else None
        except (JoseError, ValueError):
            genuine = None
        if genuine is None or genuine.kind is not kind or now < genuine.not_before - _SKEW:
            raise Unauthenticated(f"This is not a valid {_NAMES[kind]} token; log in again.")
        if now >= genuine.claims.expires_at:
            raise Unauthenticated(f"The {_NAMES[kind]} token has expired.")
        return genuine.claims

    def _signed(self, kind: TokenKind, key_id: str, payload: bytes) -> str:
        header = {"typ": kind.value, "alg": _ALGORITHM, "kid": key_id}
        return jws.serialize_compact(header, payload, self._signing_key, registry=self._registry)

    def _header_text(self, kind: TokenKind, key_id: str) -> str:
        return self._signed(kind, key_id, b"").partition(".")[0]

    def _check(self, token: str) -> _Genuine:
        """Raises JoseError or ValueError for a token that was not issued here."""
        header = self._headers.get(token.partition(".")[0])
        if header is None:
            raise ValueError("The header is not one of this service.")
        signed = jws.deserialize_compact(token, header.key, registry=self._registry)
        payload = self._payloads.decode(signed.payload)
        if payload.iss != self._issuer or payload.aud != self._audiences[header.kind]:
            raise ValueError("The token was issued by another issuer or for another audience.")
        claims = Claims(
            payload.sub, payload.sid, payload.jti, payload.iat * 1000, payload.exp * 1000
        )
        return _Genuine(header.kind, claims, payload.nbf * 1000)
