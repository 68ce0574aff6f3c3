"""Secrets at rest, keyed hashes of API tokens, and signatures of phone pages."""

import base64
import hmac
import os
import re
import secrets
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from msgspec import Struct

from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_core.features.desks.model import PageSigner
from phoneprov_core.kernel.errors import WrongKey
from phoneprov_core.people.api_tokens import PREFIX, TokenSecrets

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
_LONGEST = 64
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
        return self._hashed(token) if len(token) < _LONGEST else ()

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
