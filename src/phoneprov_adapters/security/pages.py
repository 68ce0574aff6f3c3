"""Signatures in the URLs of phones' pages: HMAC-SHA256 under a subkey, cut to 128 bits."""

import base64
import hmac

from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_core.desks.ports import PageSigner


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
