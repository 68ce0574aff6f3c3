"""What a browser keeps of its sign-ins, encrypted with the keys of the service."""

import base64
import binascii
import secrets
from collections.abc import Sequence

import msgspec

from phoneprov_adapters.security.box import Sealed, SecretBox
from phoneprov_core.features.identities.model import PendingSignIn, SignInSeal
from phoneprov_core.kernel.errors import WrongKey

_PLACE = "cookie|phoneprov_signin|"
_LONGEST = 4096


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
        if len(text) > _LONGEST or not coded:
            return []
        try:
            data = base64.urlsafe_b64decode(coded + "=" * (-len(coded) % 4))
            return msgspec.json.decode(
                self._box.open(Sealed(key_id, data), _PLACE), type=list[PendingSignIn]
            )
        except (WrongKey, ValueError, binascii.Error):
            return []
