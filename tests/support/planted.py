"""Secrets that differ from all other text, and a search for them."""

import base64
from collections.abc import Iterator

from support.keys import NEW_KEY, OLD_KEY

PLANTED = {
    "password": "planted-Password-4711",
    "new password": "planted-New-Password-4712",
    "wrong password": "planted-Wrong-Password-4713",
    "extension password": "planted-Extension-4714",
    "voicemail passcode": "8642097531864209",
    "configuration": "planted-Configuration-4715",
    "second configuration": "planted-Configuration-4716",
    "broken configuration": "planted-Configuration-4717",
    "PIN": "97531086420975310864",
    "FTP password": "planted-Ftp-4718",
    "AMI secret": "planted-Ami-4719",
    "phone password": "planted-Phone-4720",
}

OF_ALL_TESTS = {
    **PLANTED,
    "password of the races": "correct horse battery",
    "password of the callers": "a password of the tests",
    "password of the office": "secret enough",
    "FTP password of the phones": "ftp-secret",
    "AMI secret of the stub": "secret-word",
    "a configuration": "Sesame-4711",
    "an old key": OLD_KEY,
    "a new key": NEW_KEY,
    "the key of the races": "the key of all the races of the tests",
}
"""Secrets of all tests, searched for in all log records."""


class Search:
    """Searches for secrets, also in their encoded forms."""

    def __init__(self, secrets: dict[str, str]) -> None:
        self._forms = {
            name: tuple(form.lower() for form in _forms(secret.encode()))
            for name, secret in secrets.items()
        }

    def in_bytes(self, content: bytes) -> list[str]:
        """The names of the secrets in a text."""
        content = content.lower()
        return [
            name for name, forms in self._forms.items() if any(form in content for form in forms)
        ]

    def in_text(self, text: str) -> list[str]:
        return self.in_bytes(text.encode("utf-8", "surrogatepass"))


def _forms(secret: bytes) -> Iterator[bytes]:
    yield secret
    yield secret.decode().encode("utf-16-le")
    yield secret.hex().encode()
    # Its Base64 within another text depends on its position modulo 3; the ends differ.
    for before in range(3):
        text = base64.b64encode(b"." * before + secret)
        yield text[4 if before else 0 : len(text) - 4]
