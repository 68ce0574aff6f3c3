"""API tokens: random text, hashed with HMAC-SHA256 under the secret keys."""

import hmac
import re
import secrets
from collections.abc import Sequence
from functools import lru_cache

from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_core.api_tokens import PREFIX, TokenSecrets

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
