"""The secret keys, and the key file that is used if none are configured."""

import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_SHORTEST = 32
_FILE = "secret.key"
_PINS_ONLY = "pin:"
_LARGEST_FILE = 64 * 1024


class PinKey:
    """One secret that only verifies PINs: no subkey to sign or to encrypt with is derived.

    ``id`` is public: 16 hexadecimal digits from which the secret cannot be derived.
    """

    __slots__ = ("id", "pins")

    def __init__(self, secret: bytes) -> None:
        self.id = _derived(secret, "id", 8).hex()
        self.pins = _derived(secret, "pins", 32)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id})"


class SecretKey(PinKey):
    """One secret, and a subkey per purpose: one subkey reveals nothing about another."""

    __slots__ = ("encryption", "pages", "signing", "tokens")

    def __init__(self, secret: bytes) -> None:
        super().__init__(secret)
        self.signing = _derived(secret, "signing", 32)
        self.encryption = _derived(secret, "encryption", 32)
        self.pages = _derived(secret, "pages", 32)
        self.tokens = _derived(secret, "tokens", 32)


class SecretKeys:
    """At least one key that signs and encrypts, the first of them for all new data.

    Iterates over the keys that verify and decrypt. Those marked with ``pin:`` are not among
    them: they are in ``pins_only``, and only ``get`` finds them. ``made`` is the file that was
    created for these keys, None for keys that existed.

    """

    __slots__ = ("_by_id", "_keys", "current", "made", "pins_only")

    def __init__(
        self,
        keys: tuple[SecretKey, ...],
        made: Path | None = None,
        pins_only: tuple[PinKey, ...] = (),
    ) -> None:
        self.current = keys[0]
        self.made = made
        self.pins_only = pins_only
        self._keys = keys
        self._by_id = {key.id: key for key in (*keys, *pins_only)}

    @classmethod
    def parse(cls, text: str, source: str = "PHONEPROV_SECRET_KEYS") -> Self:
        """Parse comma-separated keys, each of at least 32 printable ASCII characters, with the
        prefix ``pin:`` for PINs only.

        Raises ValueError with a message that names ``source`` and contains no key.
        """
        marked = [part.strip() for part in text.split(",")]
        parts = [part.removeprefix(_PINS_ONLY).strip() for part in marked]
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
                raise ValueError(f"Key {place} in {source} occurs twice.")
        whole = [part.encode("ascii") for part in marked if not part.startswith(_PINS_ONLY)]
        if not whole:
            raise ValueError(
                f"All keys in {source} are for PINs only; add one without {_PINS_ONLY}."
            )
        pins_only = [
            part.encode("ascii")
            for part, mark in zip(parts, marked, strict=True)
            if mark.startswith(_PINS_ONLY)
        ]
        return cls(tuple(map(SecretKey, whole)), pins_only=tuple(map(PinKey, pins_only)))

    def get(self, key_id: str) -> PinKey | None:
        """The key of this id for verifying PINs, or None."""
        return self._by_id.get(key_id)

    def __iter__(self) -> Iterator[SecretKey]:
        return iter(self._keys)

    def __repr__(self) -> str:
        return f"SecretKeys({', '.join(self._by_id)})"


def key_file(folder: Path) -> Path:
    """The file of the keys if none are configured."""
    return folder / _FILE


def load_or_create_keys(folder: Path) -> SecretKeys:
    """The keys in ``secret.key`` in this folder. Creates the file with one random key and mode 0600
    if it does not exist. Processes that create it at the same time get the same key.

    The file may hold several keys, separated by commas. Raises ValueError with a message for the
    operator if other users can read the file, it contains no keys, or it cannot be read or created.
    To be called before the event loop runs.
    """
    path = key_file(folder)
    made = False
    try:
        try:
            text = _read(path)
        except FileNotFoundError:
            made = create_key_file(path, secrets.token_urlsafe(48).encode("ascii") + b"\n")
            text = _read(path)
    except OSError as error:
        raise ValueError(f"The key file {path} cannot be used: {error.strerror}.") from None
    keys = SecretKeys.parse(text, source=f"the file {path}")
    keys.made = path if made else None
    return keys


def _read(path: Path) -> str:
    # Without O_NONBLOCK, opening a named pipe of this name would wait for a writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError(f"The key file {path} is not a regular file.")
        if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ValueError(
                f"Other users can read the key file {path}; set its mode to 0600. Where each mount "
                "sets another one (fsGroup of Kubernetes), name a file with the keys in "
                "PHONEPROV_SECRET_KEYS_FILE instead."
            )
        content = os.read(descriptor, _LARGEST_FILE + 1)
    finally:
        os.close(descriptor)
    if len(content) > _LARGEST_FILE:
        raise ValueError(f"The key file {path} is too large to hold keys.")
    return content.decode("utf-8-sig", "replace")


def create_key_file(path: Path, content: bytes) -> bool:
    """Create the complete file, with mode 0600; False if it exists already."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        # A link, unlike a rename, never replaces an existing file.
        try:
            os.link(draft, path)
        except FileExistsError:
            return False
    finally:
        draft.unlink()
    sync_folder(path.parent)
    return True


def sync_folder(folder: Path) -> None:
    """Flush the folder, so that the names of new files survive a power failure: without its key,
    encrypted data are lost."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _derived(secret: bytes, purpose: str, length: int) -> bytes:
    """RFC 5869, without a salt: a key is random."""
    info = f"phoneprov/1/{purpose}".encode("ascii")
    return HKDF(algorithm=SHA256(), length=length, salt=None, info=info).derive(secret)
