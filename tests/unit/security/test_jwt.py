"""Signed tokens: every kind of forged or invalid token, and the cache of checks."""

import base64
import hmac
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from joserfc import jws

from phoneprov_adapters.security import crypto as module
from phoneprov_adapters.security.crypto import JwtTokens
from phoneprov_core.kernel.errors import Unauthenticated
from phoneprov_core.people.auth.model import Claims, TokenKind
from support.keys import BOTH_KEYS, NEW_KEYS, OLD_KEYS

KEY = NEW_KEYS.current
ISSUED = 1_770_000_000_000
EXPIRES = ISSUED + 900_000
CLAIMS = Claims("user", "session", "token", ISSUED, EXPIRES)
HEADER = {"typ": "at+jwt", "alg": "HS256", "kid": KEY.id}
PAYLOAD = {
    "iss": "phoneprov",
    "aud": "phoneprov",
    "sub": "user",
    "sid": "session",
    "jti": "token",
    "iat": ISSUED // 1000,
    "nbf": ISSUED // 1000,
    "exp": EXPIRES // 1000,
}
TOKENS = JwtTokens(NEW_KEYS)
ACCESS = TOKENS.issue(TokenKind.ACCESS, CLAIMS)


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def signed(
    header: object, payload: object, key: bytes = KEY.signing, digest: str = "sha256"
) -> str:
    """A token with a valid signature and any content. Bytes are used unchanged."""
    parts = [
        part if isinstance(part, bytes) else json.dumps(part, separators=(",", ":")).encode()
        for part in (header, payload)
    ]
    text = ".".join(encoded(part) for part in parts)
    return f"{text}.{encoded(hmac.digest(key, text.encode(), digest))}"


def refused(token: str, kind: TokenKind = TokenKind.ACCESS, tokens: JwtTokens = TOKENS) -> None:
    with pytest.raises(Unauthenticated) as caught:
        tokens.read(kind, token, ISSUED)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_token_is_read_by_a_standard_library() -> None:
    header, payload, signature = ACCESS.split(".")

    assert signed(HEADER, PAYLOAD) == ACCESS
    assert json.loads(base64.urlsafe_b64decode(header + "==")) == HEADER
    assert json.loads(base64.urlsafe_b64decode(payload + "==")) == PAYLOAD
    assert len(signature) == 43
    refresh = TOKENS.issue(TokenKind.REFRESH, CLAIMS)
    assert refresh == signed({**HEADER, "typ": "rt+jwt"}, {**PAYLOAD, "aud": "phoneprov/refresh"})


@pytest.mark.parametrize(
    "header",
    [
        {**HEADER, "alg": "none"},
        {**HEADER, "alg": "None"},
        {**HEADER, "alg": "HS384"},
        {**HEADER, "alg": "RS256"},
        {**HEADER, "alg": ["HS256"]},
        {**HEADER, "typ": "JWT"},
        {**HEADER, "typ": "rt+jwt"},
        {**HEADER, "typ": "application/at+jwt"},
        {**HEADER, "kid": OLD_KEYS.current.id},
        {**HEADER, "kid": "../../dev/null"},
        {**HEADER, "kid": None},
        {**HEADER, "jku": "http://127.0.0.1/keys"},
        {**HEADER, "jwk": {"kty": "oct", "k": encoded(KEY.signing)}},
        {**HEADER, "crit": ["exp"]},
        {**HEADER, "crit": ["b64"], "b64": False},
        {name: value for name, value in HEADER.items() if name != "alg"},
        {name: value for name, value in HEADER.items() if name != "typ"},
        {name: value for name, value in HEADER.items() if name != "kid"},
        {},
        [],
        ["alg"],
        "alg",
        None,
        b"",
        b"{",
        b"\xff",
        b'{"alg":"HS256","alg":"none"}',
        b"[" * 300,
        b"[" * 300 + b"]" * 300,
    ],
    ids=str,
)
def test_token_with_another_header_is_refused(header: object) -> None:
    refused(signed(header, PAYLOAD))


@pytest.mark.parametrize("algorithm", ["none", "HS256", "HS384", "HS512"])
def test_token_without_valid_signature_is_refused(algorithm: str) -> None:
    text = ".".join(
        encoded(json.dumps(part).encode()) for part in ({**HEADER, "alg": algorithm}, PAYLOAD)
    )
    header, payload, signature = ACCESS.split(".")

    refused(f"{text}.")
    refused(f"{text}.{signature}")
    refused(f"{header}.{payload}.")
    refused(f"{header}.{payload}.{encoded(bytes(32))}")
    for digest in ("sha384", "sha512"):
        refused(signed({**HEADER, "alg": algorithm}, PAYLOAD, digest=digest))


@pytest.mark.parametrize(
    "key",
    [b"", bytes(32), KEY.encryption, KEY.pins, OLD_KEYS.current.signing, KEY.id.encode()],
    ids=["empty", "zeros", "encryption", "pins", "other key", "key id"],
)
def test_token_signed_with_another_key_is_refused(key: bytes) -> None:
    refused(signed(HEADER, PAYLOAD, key))


@pytest.mark.parametrize(
    "change",
    [
        {"iss": "another"},
        {"aud": "another"},
        {"aud": ["phoneprov"]},
        {"aud": "phoneprov/refresh"},
        {"sub": ""},
        {"sid": ""},
        {"jti": ""},
        {"exp": PAYLOAD["iat"]},
        {"exp": 0},
        {"exp": -1},
        {"exp": 2**53},
        {"exp": 10**400},
        {"exp": str(PAYLOAD["exp"])},
        {"exp": float("nan")},
        {"exp": float("inf")},
        {"nbf": 2**52},
        {"nbf": PAYLOAD["nbf"] + 31},  # type: ignore[operator]
        {"iat": -1},
        {"level": 0},
    ],
    ids=str,
)
def test_token_with_another_claim_value_is_refused(change: dict[str, object]) -> None:
    refused(signed(HEADER, {**PAYLOAD, **change}))


@pytest.mark.parametrize("claim", PAYLOAD)
def test_token_with_missing_or_mistyped_claim_is_refused(claim: str) -> None:
    refused(signed(HEADER, {name: PAYLOAD[name] for name in PAYLOAD if name != claim}))
    for value in (None, True, 1.5, [], {}, [PAYLOAD[claim]], {"a": 1}, b"".decode()):
        refused(signed(HEADER, {**PAYLOAD, claim: value}))
    refused(signed(HEADER, {**PAYLOAD, claim: 5 if isinstance(PAYLOAD[claim], str) else "5"}))


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"null",
        b"[]",
        b'"text"',
        b"{",
        b"{}",
        b"\xff\xfe",
        b'{"iss":"\xff"}',
        b'{"iss":"\\ud800"}',
        b"[" * 2500,
        b'{"iss":' * 400,
        b'{"x":' + b"[" * 2500,
        b"{} {}",
        json.dumps(PAYLOAD).encode() + b"\0",
        json.dumps(PAYLOAD).encode("utf-16"),
        b"x" * 200_000,
    ],
    ids=lambda payload: payload[:20],
)
def test_token_payload_that_is_no_object_is_refused(payload: bytes) -> None:
    refused(signed(HEADER, payload))


@settings(max_examples=60)
@given(
    payload=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*PAYLOAD, "x"]), inner),
    ),
    change=st.dictionaries(st.sampled_from(list(PAYLOAD)), st.text() | st.integers()),
)
def test_token_any_signed_content_raises_only_token_errors(
    payload: object, change: dict[str, object]
) -> None:
    refused(signed(HEADER, payload))
    try:
        claims = TOKENS.read(TokenKind.ACCESS, signed(HEADER, {**PAYLOAD, **change}), ISSUED)
    except Unauthenticated:
        assert change
    else:
        assert claims.expires_at > ISSUED
        assert claims.user_uuid
        assert isinstance(claims.user_uuid, str)


@given(data=st.data())
def test_token_with_any_one_character_changed_is_refused(data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(ACCESS) - 1))
    other = data.draw(
        st.sampled_from("ABCDWXYZabcdwxyz0189-_.=+/ \n\0\u00e9\ud800")
        | st.characters(min_codepoint=33, max_codepoint=126)
    )
    changed = ACCESS[:position] + other + ACCESS[position + 1 :]

    if changed != ACCESS:
        refused(changed)


def test_token_other_spelling_of_the_signature_is_refused() -> None:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for last in alphabet:
        if last != ACCESS[-1]:
            refused(ACCESS[:-1] + last)
    for text in (ACCESS + "=", ACCESS + ".", "." + ACCESS, ACCESS + "\n", " " + ACCESS):
        refused(text)


def test_tokens_of_another_issuer_or_audience_are_refused() -> None:
    refused(JwtTokens(NEW_KEYS, issuer="another").issue(TokenKind.ACCESS, CLAIMS))
    refused(JwtTokens(NEW_KEYS, audience="another").issue(TokenKind.ACCESS, CLAIMS))


def test_token_under_an_older_key_is_read_and_under_an_unknown_key_refused() -> None:
    old = JwtTokens(OLD_KEYS).issue(TokenKind.ACCESS, CLAIMS)
    rotated = JwtTokens(BOTH_KEYS)

    assert rotated.read(TokenKind.ACCESS, old, ISSUED) == CLAIMS
    assert rotated.issue(TokenKind.ACCESS, CLAIMS) == ACCESS
    refused(old)


def test_clock_slightly_late_accepts_a_new_token() -> None:
    assert TOKENS.read(TokenKind.ACCESS, ACCESS, ISSUED - 30_000) == CLAIMS
    with pytest.raises(Unauthenticated):
        TOKENS.read(TokenKind.ACCESS, ACCESS, ISSUED - 30_001)


def test_expired_token_is_reported_and_a_forged_one_is_not() -> None:
    forged = signed(HEADER, {**PAYLOAD, "exp": 0}, bytes(32))

    with pytest.raises(Unauthenticated, match=r"^The access token has expired\.$"):
        TOKENS.read(TokenKind.ACCESS, ACCESS, EXPIRES)
    with pytest.raises(Unauthenticated, match="This is not a valid access token; log in again"):
        TOKENS.read(TokenKind.ACCESS, forged, EXPIRES)


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tokens whose signature was checked, one entry a check."""
    checked: list[str] = []
    check: Callable[..., Any] = jws.deserialize_compact

    def counting(token: str, *args: Any, **kwargs: Any) -> Any:
        checked.append(token)
        return check(token, *args, **kwargs)

    monkeypatch.setattr(jws, "deserialize_compact", counting)
    return checked


def test_token_read_before_is_not_verified_again_and_still_expires(checks: list[str]) -> None:
    tokens = JwtTokens(NEW_KEYS)

    for now in (ISSUED, ISSUED + 1000, EXPIRES - 1):
        assert tokens.read(TokenKind.ACCESS, ACCESS, now) == CLAIMS
    for now in (EXPIRES, ISSUED - 30_001):
        with pytest.raises(Unauthenticated):
            tokens.read(TokenKind.ACCESS, ACCESS, now)
    refused(ACCESS, TokenKind.REFRESH, tokens)

    assert checks == [ACCESS]


def test_token_above_the_length_limit_is_not_parsed(checks: list[str]) -> None:
    refused(ACCESS + "x" * 5000)
    refused(signed(HEADER, {**PAYLOAD, "sub": "x" * 5000}))

    assert checks == []


def test_token_cache_ignores_invalid_tokens_and_is_bounded(
    checks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_REMEMBERED", 2)
    tokens = JwtTokens(NEW_KEYS)
    tokens.read(TokenKind.ACCESS, ACCESS, ISSUED)
    bad = [signed(HEADER, PAYLOAD, bytes([number])) for number in range(10)]
    for token in bad:
        refused(token, tokens=tokens)

    tokens.read(TokenKind.ACCESS, ACCESS, ISSUED)

    assert checks == [ACCESS, *bad]
    several = [
        tokens.issue(TokenKind.ACCESS, Claims("user", "session", name, ISSUED, EXPIRES))
        for name in "abc"
    ]
    checks.clear()
    for token in (*several, *several):
        tokens.read(TokenKind.ACCESS, token, ISSUED)
    assert checks == [*several, *several]


def test_tokens_are_read_by_concurrent_threads() -> None:
    tokens = JwtTokens(NEW_KEYS)
    claims_of_users = [
        Claims(f"user {number}", "session", "token", ISSUED, EXPIRES) for number in range(50)
    ]
    several = [tokens.issue(TokenKind.ACCESS, claims) for claims in claims_of_users]
    read: list[list[Claims]] = []

    def reader() -> None:
        read.append([tokens.read(TokenKind.ACCESS, token, ISSUED) for token in several])

    threads = [threading.Thread(target=reader) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert read == [claims_of_users] * 8
