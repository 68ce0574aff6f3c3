"""The secret keys, and the file one is kept in when the operator sets none."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_SHORTEST = 32
_FILE = "secret.key"
_LARGEST_FILE = 64 * 1024


class SecretKey:
    """One secret, and what is derived from it for each purpose.

    A purpose has its own subkey, so that what one part reveals is of no use to another.
    ``id`` is public: 16 hexadecimal digits that lead nowhere back.
    """

    __slots__ = ("encryption", "id", "pins", "signing")

    def __init__(self, secret: bytes) -> None:
        self.id = _derived(secret, "id", 8).hex()
        self.signing = _derived(secret, "signing", 32)
        self.encryption = _derived(secret, "encryption", 32)
        self.pins = _derived(secret, "pins", 32)

    def __repr__(self) -> str:
        return f"SecretKey({self.id})"


class SecretKeys:
    """At least one key. The first signs and encrypts; all of them verify and decrypt.

    ``made`` is the file that was made for them just now, None for keys that were there.
    """

    __slots__ = ("_by_id", "current", "made")

    def __init__(self, keys: tuple[SecretKey, ...], made: Path | None = None) -> None:
        self.current = keys[0]
        self.made = made
        self._by_id = {key.id: key for key in keys}

    @classmethod
    def parse(cls, text: str, source: str = "PHONEPROV_SECRET_KEYS") -> SecretKeys:
        """From comma-separated keys, each of at least 32 printable ASCII characters.

        Raises ValueError, with a sentence that names ``source`` and never quotes a key.
        """
        parts = [part.strip() for part in text.split(",")]
        for place, part in enumerate(parts, start=1):
            if len(part) < _SHORTEST:
                raise ValueError(
                    f"Key {place} in {source} must be at least {_SHORTEST} characters long."
                )
            if not (part.isascii() and part.isprintable()):
                raise ValueError(
                    f"Key {place} in {source} must consist of printable ASCII characters."
                )
            if part in parts[: place - 1]:
                raise ValueError(f"Key {place} in {source} is there twice.")
        return cls(tuple(SecretKey(part.encode("ascii")) for part in parts))

    def get(self, key_id: str) -> SecretKey | None:
        """The key of this id, or None."""
        return self._by_id.get(key_id)

    def __iter__(self) -> Iterator[SecretKey]:
        return iter(self._by_id.values())

    def __repr__(self) -> str:
        return f"SecretKeys({', '.join(self._by_id)})"


def key_file(folder: Path) -> Path:
    """Where the keys are kept when the operator sets none."""
    return folder / _FILE


def load_or_create_keys(folder: Path) -> SecretKeys:
    """The keys in ``secret.key`` in this folder; where there is no such file, it is made, with
    one random key and mode 0600. However many processes make it at once, all of them end
    with the same key.

    The file may hold several keys, separated by commas. Raises ValueError, with a sentence
    for the operator, when the file is open to others than its owner, holds no keys, or
    cannot be read or made. To be called before the event loop runs.
    """
    path = key_file(folder)
    made = False
    try:
        try:
            text = _read(path)
        except FileNotFoundError:
            made = _create(path)
            text = _read(path)
    except OSError as error:
        raise ValueError(f"The key file {path} cannot be used: {error.strerror}.") from None
    keys = SecretKeys.parse(text, source=f"the file {path}")
    keys.made = path if made else None
    return keys


def _read(path: Path) -> str:
    # Without O_NONBLOCK, a named pipe of this name would wait for a writer for ever.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError(f"The key file {path} is not a regular file.")
        if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ValueError(
                f"The key file {path} is open to others than its owner; set its mode to 0600."
            )
        content = os.read(descriptor, _LARGEST_FILE + 1)
    finally:
        os.close(descriptor)
    if len(content) > _LARGEST_FILE:
        raise ValueError(f"The key file {path} is too large to hold keys.")
    return content.decode("utf-8", "replace")


def _create(path: Path) -> bool:
    """Make the file, whole from its first moment on; False when somebody else was faster."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_urlsafe(48).encode("ascii") + b"\n")
            file.flush()
            os.fsync(descriptor)
        # A link, unlike a rename, never takes the place of a file that is there already.
        try:
            os.link(draft, path)
        except FileExistsError:
            return False
    finally:
        draft.unlink()
    _sync_folder(path.parent)
    return True


def _sync_folder(folder: Path) -> None:
    """Whatever is encrypted from now on needs the key: its name must outlive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _derived(secret: bytes, purpose: str, length: int) -> bytes:
    """RFC 5869, without a salt: a key is random already."""
    info = f"phoneprov/1/{purpose}".encode("ascii")
    return HKDF(algorithm=SHA256(), length=length, salt=None, info=info).derive(secret)
