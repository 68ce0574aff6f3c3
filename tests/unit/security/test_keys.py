"""Keys: their formats, derived keys, and the key file."""

import codecs
import hashlib
import hmac
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from phoneprov_adapters.security import keys as module
from phoneprov_adapters.security.crypto import JwtTokens, SecretBox
from phoneprov_adapters.security.keys import SecretKeys, key_file, load_or_create_keys
from phoneprov_core.kernel.errors import Unauthenticated, WrongKey
from phoneprov_core.people.auth.model import Claims, TokenKind
from support.keys import NEW_KEY, OLD_KEY

KEY_TEXT = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=80)


def hkdf(secret: bytes, info: bytes, length: int) -> bytes:
    """RFC 5869 with SHA-256 and no salt, for at most 32 bytes."""
    pseudorandom = hmac.digest(bytes(32), secret, hashlib.sha256)
    return hmac.digest(pseudorandom, info + b"\x01", hashlib.sha256)[:length]


def test_key_yields_a_subkey_for_each_purpose() -> None:
    key = SecretKeys.parse(NEW_KEY).current
    secret = NEW_KEY.encode()

    assert key.id == hkdf(secret, b"phoneprov/1/id", 8).hex()
    assert key.signing == hkdf(secret, b"phoneprov/1/signing", 32)
    assert key.encryption == hkdf(secret, b"phoneprov/1/encryption", 32)
    assert key.pins == hkdf(secret, b"phoneprov/1/pins", 32)


def test_keys_first_is_current_and_all_are_found_by_id() -> None:
    keys = SecretKeys.parse(f" {NEW_KEY} ,\n{OLD_KEY}\n")

    old = SecretKeys.parse(OLD_KEY).current
    assert keys.current.id == SecretKeys.parse(NEW_KEY).current.id
    assert [key.id for key in keys] == [keys.current.id, old.id]
    found = keys.get(old.id)
    assert found is not None
    assert found.pins == old.pins
    assert list(keys)[1].signing == old.signing
    assert keys.get("0" * 16) is None
    assert keys.get("") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Key 1 in THE_SETTING must be at least 32 characters long."),
        ("x" * 31, "Key 1 in THE_SETTING must be at least 32 characters long."),
        (f"{NEW_KEY},", "Key 2 in THE_SETTING must be at least 32 characters long."),
        (f"{NEW_KEY},,{OLD_KEY}", "Key 2 in THE_SETTING must be at least 32 characters long."),
        (" " * 40, "Key 1 in THE_SETTING must be at least 32 characters long."),
        ("\u00e9" * 32, "Key 1 in THE_SETTING must consist of printable ASCII characters."),
        ("\udc80" * 32, "Key 1 in THE_SETTING must consist of printable ASCII characters."),
        ("x" * 32 + "\0x", "Key 1 in THE_SETTING must consist of printable ASCII characters."),
        (f"{OLD_KEY},{NEW_KEY}, {OLD_KEY}", "Key 3 in THE_SETTING occurs twice."),
        (f"{NEW_KEY},pin:{NEW_KEY}", "Key 2 in THE_SETTING occurs twice."),
        (f"{NEW_KEY},pin:{OLD_KEY},pin: {OLD_KEY}", "Key 3 in THE_SETTING occurs twice."),
        (f"{NEW_KEY},pin:", "Key 2 in THE_SETTING must be at least 32 characters long."),
        (f"{NEW_KEY}, pin: ,", "Key 2 in THE_SETTING must be at least 32 characters long."),
        (f"{NEW_KEY},pin:{'x' * 31}", "Key 2 in THE_SETTING must be at least 32 characters long."),
        (
            f"pin:{NEW_KEY},pin:{OLD_KEY}",
            "All keys in THE_SETTING are for PINs only; add one without pin:.",
        ),
    ],
)
def test_key_text_without_valid_keys_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        SecretKeys.parse(text, source="THE_SETTING")

    assert str(caught.value) == message


@pytest.mark.parametrize(
    "text",
    [
        f"{NEW_KEY},pin:{OLD_KEY}",
        f"pin:{OLD_KEY},{NEW_KEY}",
        f" pin: {OLD_KEY} ,\n{NEW_KEY}\n",
    ],
)
def test_key_marked_for_pins_is_found_by_id_only(text: str) -> None:
    keys = SecretKeys.parse(text)

    new, old = SecretKeys.parse(NEW_KEY).current, SecretKeys.parse(OLD_KEY).current
    assert (keys.current.id, [key.id for key in keys]) == (new.id, [new.id])
    assert [key.id for key in keys.pins_only] == [old.id]
    found = keys.get(old.id)
    assert found is not None
    assert found.pins == old.pins
    assert not hasattr(found, "signing")
    assert not hasattr(found, "encryption")
    assert OLD_KEY not in repr(found)


def test_key_marked_for_pins_verifies_no_token_and_decrypts_no_secret() -> None:
    old, rotated = SecretKeys.parse(OLD_KEY), SecretKeys.parse(f"{NEW_KEY},pin:{OLD_KEY}")
    claims = Claims("user", "session", "token", 1_000_000, 2_000_000)
    token = JwtTokens(old).issue(TokenKind.ACCESS, claims)
    sealed = SecretBox(old).seal(b"secret", "a|b|c")

    with pytest.raises(Unauthenticated):
        JwtTokens(rotated).read(TokenKind.ACCESS, token, 1_500_000)
    with pytest.raises(WrongKey):
        SecretBox(rotated).open(sealed, "a|b|c")
    kid = JwtTokens(rotated).issue(TokenKind.ACCESS, claims).partition(".")[0]
    assert (
        kid
        == JwtTokens(SecretKeys.parse(NEW_KEY)).issue(TokenKind.ACCESS, claims).partition(".")[0]
    )


@given(texts=st.lists(KEY_TEXT, min_size=1, max_size=4))
def test_key_text_any_error_is_a_value_error_without_the_text(texts: list[str]) -> None:
    text = ",".join(texts)
    parts = [part.strip() for part in text.split(",")]
    if any(part.startswith("pin:") for part in parts):
        return
    if min(map(len, parts)) >= 32 and len(set(parts)) == len(parts):
        assert len(list(SecretKeys.parse(text))) == len(parts)
        return

    with pytest.raises(ValueError, match=r"^Key \d+ in PHONEPROV_SECRET_KEYS ") as caught:
        SecretKeys.parse(text)

    assert not any(part in str(caught.value) for part in parts if len(part) > 20)


def test_key_file_missing_is_created_for_its_owner_and_reused(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "of" / "phoneprov"
    umask = os.umask(0)
    try:
        made = load_or_create_keys(folder)
    finally:
        os.umask(umask)

    path = folder / "secret.key"
    assert path.stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [file.name for file in folder.iterdir()] == ["secret.key"]
    assert load_or_create_keys(folder).current.id == made.current.id
    assert SecretKeys.parse(path.read_text()).current.id == made.current.id
    assert load_or_create_keys(tmp_path / "other").current.id != made.current.id
    path.write_text(f"{NEW_KEY},{OLD_KEY}\n")
    several = SecretKeys.parse(f"{NEW_KEY},{OLD_KEY}")
    assert [key.id for key in load_or_create_keys(folder)] == [key.id for key in several]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o777])
def test_key_file_readable_by_others_is_refused(tmp_path: Path, mode: int) -> None:
    path = write_key_file(tmp_path, NEW_KEY)
    path.chmod(mode)

    with pytest.raises(
        ValueError,
        match=r"Other users can read .* mode to 0600.*PHONEPROV_SECRET_KEYS_FILE",
    ):
        load_or_create_keys(tmp_path)

    assert path.read_text() == NEW_KEY


@pytest.mark.parametrize("content", [b"", b"\n", b"short", b"\xff" * 64, b"\0" * 64])
def test_key_file_without_valid_keys_is_refused_and_kept(tmp_path: Path, content: bytes) -> None:
    path = write_key_file(tmp_path, "")
    path.write_bytes(content)

    with pytest.raises(ValueError, match=r"^Key 1 in the file .*secret\.key must"):
        load_or_create_keys(tmp_path)

    assert path.read_bytes() == content


def test_key_file_with_a_byte_order_mark_has_the_same_keys(tmp_path: Path) -> None:
    plain = load_or_create_keys(tmp_path)
    file = key_file(tmp_path)
    file.write_bytes(codecs.BOM_UTF8 + file.read_bytes())

    assert repr(load_or_create_keys(tmp_path)) == repr(plain)


def test_key_file_over_the_size_limit_is_refused(tmp_path: Path) -> None:
    write_key_file(tmp_path, "x" * 10**6)

    with pytest.raises(ValueError, match="is too large to hold keys"):
        load_or_create_keys(tmp_path)


def test_key_path_that_is_no_file_is_refused(tmp_path: Path) -> None:
    pipe, folder, plain = tmp_path / "pipe", tmp_path / "folder", tmp_path / "plain"
    pipe.mkdir()
    os.mkfifo(pipe / "secret.key", 0o600)
    (folder / "secret.key").mkdir(mode=0o700, parents=True)
    plain.touch()

    with pytest.raises(ValueError, match="is not a regular file"):
        load_or_create_keys(pipe)
    with pytest.raises(ValueError, match="is not a regular file"):
        load_or_create_keys(folder)
    with pytest.raises(ValueError, match=r"cannot be used: Not a directory\.$"):
        load_or_create_keys(plain)


def test_key_file_of_a_concurrent_start_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def create_concurrently(path: Path) -> str:
        write_key_file(tmp_path, OLD_KEY)
        monkeypatch.undo()
        raise FileNotFoundError

    monkeypatch.setattr(module, "_read", create_concurrently)

    assert load_or_create_keys(tmp_path).current.id == SecretKeys.parse(OLD_KEY).current.id
    assert [file.name for file in tmp_path.iterdir()] == ["secret.key"]


RACER = """
import sys
from pathlib import Path
from phoneprov_adapters.security.keys import load_or_create_keys
print("ready", flush=True)
sys.stdin.readline()
for folder in sys.argv[1:]:
    print(load_or_create_keys(Path(folder)).current.id)
"""


def test_key_file_of_concurrent_processes_is_created_once(tmp_path: Path) -> None:
    folders = [str(tmp_path / str(number)) for number in range(100)]
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, *folders],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()

    answers = {racer.communicate(timeout=60)[0] for racer in racers}

    assert [racer.returncode for racer in racers] == [0] * 4
    (answer,) = answers
    assert len(set(answer.split())) == len(folders)
    for folder in folders:
        assert [file.name for file in Path(folder).iterdir()] == ["secret.key"]


def write_key_file(folder: Path, text: str) -> Path:
    path = folder / "secret.key"
    path.write_text(text)
    path.chmod(0o600)
    return path
