"""Representations hold no key, no token and no secret."""

from phoneprov_adapters.security.credentials import Argon2Hasher
from phoneprov_adapters.security.crypto import JwtTokens, SecretBox
from phoneprov_core.people.auth.model import Claims, TokenKind
from support.keys import NEW_KEY, NEW_KEYS, argon2_parameters


def test_representations_hold_no_secret() -> None:
    key, box, tokens = NEW_KEYS.current, SecretBox(NEW_KEYS), JwtTokens(NEW_KEYS)
    hasher = Argon2Hasher(NEW_KEYS, parameters=argon2_parameters())
    token = tokens.issue(TokenKind.ACCESS, Claims("user", "session", "token", 0, 900_000))
    sealed = box.seal(b"1234", "a|b|c")
    shown = f"{hasher!r} {vars(hasher)} {box!r} {tokens!r} {vars(tokens)}"
    shown += f"{NEW_KEYS!r} {NEW_KEYS} {key!r} {key} {list(NEW_KEYS)}"
    hasher.close()

    assert repr(sealed) == f"Sealed({key.id}, 32 bytes)"
    assert key.id in repr(NEW_KEYS)
    assert NEW_KEY not in shown
    assert token not in shown
    for secret in (key.signing, key.encryption, key.pins):
        assert repr(secret)[2:-1] not in shown
        assert secret.hex() not in shown
