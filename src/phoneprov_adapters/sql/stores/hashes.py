"""The SHA-256 of a configuration, encrypted at rest."""

from __future__ import annotations

from typing import Any

from phoneprov_adapters.security.box import Sealed, SecretBox


class HashColumns:
    """Seals and opens the columns ``sha256_sealed`` and ``sha256_key_id`` of one table."""

    def __init__(self, table: str, box: SecretBox) -> None:
        self._table = table
        self._box = box

    def sealed(self, sha256: str | None, uuid: str) -> dict[str, Any]:
        """The values of both columns in the row with this uuid."""
        if sha256 is None:
            return {"sha256_sealed": None, "sha256_key_id": None}
        sealed = self._box.seal(bytes.fromhex(sha256), self._place(uuid))
        return {"sha256_sealed": sealed.data, "sha256_key_id": sealed.key_id}

    def opened(self, key_id: str | None, data: bytes | None, uuid: str) -> str | None:
        """The hash in hex, or None. Raises ``WrongKey``."""
        if key_id is None or data is None:
            return None
        return self._box.open(Sealed(key_id, data), self._place(uuid)).hex()

    def _place(self, uuid: str) -> str:
        return f"{self._table}|sha256|{uuid}"
