"""What is made with the secret keys: secrets at rest, hashes of API tokens, signatures of phone
pages, JSON Web Tokens (HMAC-SHA256; RFC 7519, RFC 7515, RFC 8725), and the cookie of sign-ins.
"""

import base64
import binascii
import hmac
import os
import re
import secrets
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, NamedTuple, TypeAlias

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import OctKey
from msgspec import Meta, Struct

from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_core.features.desks.model import PageSigner
from phoneprov_core.features.identities.model import PendingSignIn, SignInSeal
from phoneprov_core.kernel.errors import Unauthenticated, WrongKey
from phoneprov_core.people.auth.model import Claims, TokenKind, Tokens
from phoneprov_core.people.me import PREFIX, TokenSecrets

_NONCE = 12
_TAG = 16


def wrong_key(place: str) -> WrongKey:
    """The error of a secret that cannot be decrypted; a note names its place."""
    error = WrongKey()
    error.add_note(f"The place of the secret: {place!r}")
    return error


class Sealed(Struct, frozen=True):
    """An encrypted secret, and the id of the key it was encrypted with.

    ``data`` is the nonce (12 bytes), the ciphertext, and the tag (16 bytes).
    """

    key_id: str
    data: bytes

    def __repr__(self) -> str:
        return f"Sealed({self.key_id}, {len(self.data)} bytes)"


Subkeys: TypeAlias = tuple[tuple[str, bytes], ...]
"""The ids of keys with their subkeys that encrypt, the current one first: none of them signs."""


class SecretBox:
    """Authenticated encryption, AES-256-GCM, with the current key.

    ``place`` is ``table|column|row uuid``; it is authenticated, so that a secret sealed for one row
    cannot be opened in another.

    Nonces are random, 96 bits: up to 2**32 secrets under one key are safe
    (NIST SP 800-38D, 8.3).

    """

    def __init__(self, keys: SecretKeys | Subkeys) -> None:
        self.keys: Subkeys = (
            keys if isinstance(keys, tuple) else tuple((key.id, key.encryption) for key in keys)
        )
        self._current_id = self.keys[0][0]
        self._ciphers = {id_: AESGCM(key) for id_, key in self.keys}

    def seal(self, plaintext: bytes, place: str) -> Sealed:
        """Encrypt a secret for its place."""
        nonce = os.urandom(_NONCE)
        cipher = self._ciphers[self._current_id]
        return Sealed(self._current_id, nonce + cipher.encrypt(nonce, plaintext, place.encode()))

    def open(self, sealed: Sealed, place: str) -> bytes:
        """The secret. Raises ``WrongKey`` if it was sealed with another key or for another place,
        or was altered."""
        cipher = self._ciphers.get(sealed.key_id)
        if cipher is None or len(sealed.data) < _NONCE + _TAG:
            raise wrong_key(place)
        nonce, ciphertext = sealed.data[:_NONCE], sealed.data[_NONCE:]
        try:
            return cipher.decrypt(nonce, ciphertext, place.encode())
        except InvalidTag:
            raise wrong_key(place) from None


_BYTES = 32
_REMEMBERED = 4096
_LONGEST_API_TOKEN = 64
_TOKEN = re.compile(f"{PREFIX}[A-Za-z0-9_-]{{43}}", re.ASCII)


class KeyedTokens(TokenSecrets):
    """256 random bits as base64url. A hash, ``<key id>$<hex digits>``, names its key. Keys for PINs
    only are not used."""

    def __init__(self, keys: SecretKeys) -> None:
        self._keys = tuple((key.id, key.tokens) for key in keys)
        self._hashed = lru_cache(maxsize=_REMEMBERED)(self._hashes)

    def create(self) -> str:
        return PREFIX + secrets.token_urlsafe(_BYTES)

    def hashes(self, token: str) -> Sequence[str]:
        return self._hashed(token) if len(token) < _LONGEST_API_TOKEN else ()

    def _hashes(self, token: str) -> Sequence[str]:
        if not _TOKEN.fullmatch(token):
            return ()
        text = token.encode("ascii")
        return [f"{id_}${hmac.digest(key, text, 'sha256').hex()}" for id_, key in self._keys]


class HmacPages(PageSigner):
    """Signs with the current key, verifies with all."""

    def __init__(self, keys: SecretKeys) -> None:
        self._keys = keys

    def sign(self, text: str) -> str:
        return _digest(self._keys.current.pages, text)

    def is_signed(self, text: str, signature: str) -> bool:
        sent = signature.encode("utf-8", "surrogatepass")
        matches = [
            hmac.compare_digest(_digest(key.pages, text).encode(), sent) for key in self._keys
        ]
        return any(matches)


def _digest(key: bytes, text: str) -> str:
    digest = hmac.digest(key, text.encode("utf-8", "surrogatepass"), "sha256")[:16]
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


_ALGORITHM = "HS256"
_LONGEST_JWT = 4096

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

    A token is parsed only after its signature was verified: its header must equal one of the
    headers this class writes (one for each kind and key), which determines algorithm, type and key
    id. Refresh and access tokens have different audiences, so that the kinds differ twice.

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
            genuine = self._genuine(token) if len(token) <= _LONGEST_JWT else None
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


_PLACE = "cookie|phoneprov_signin|"
_LONGEST_COOKIE = 4096


class BoxedSignIns(SignInSeal):
    """A text is ``<key id>.<base64url>``."""

    def __init__(self, box: SecretBox) -> None:
        self._box = box

    def random(self) -> str:
        return secrets.token_urlsafe(32)

    def seal(self, pending: Sequence[PendingSignIn]) -> str:
        sealed = self._box.seal(msgspec.json.encode(list(pending)), _PLACE)
        return f"{sealed.key_id}.{base64.urlsafe_b64encode(sealed.data).decode().rstrip('=')}"

    def open(self, text: str) -> list[PendingSignIn]:
        key_id, _, coded = text.partition(".")
        if len(text) > _LONGEST_COOKIE or not coded:
            return []
        try:
            data = base64.urlsafe_b64decode(coded + "=" * (-len(coded) % 4))
            return msgspec.json.decode(
                self._box.open(Sealed(key_id, data), _PLACE), type=list[PendingSignIn]
            )
        except (WrongKey, ValueError, binascii.Error):
            return []
