"""The contract of ``Tokens``, over every implementation."""

import pytest
from hypothesis import given, strategies as st

from phoneprov_adapters.memory.system import PlainTokens
from phoneprov_adapters.security.crypto import JwtTokens
from phoneprov_core.kernel.errors import Unauthenticated
from phoneprov_core.people.auth.model import Claims, TokenKind, Tokens
from support.keys import BOTH_KEYS

ISSUED = 1_770_000_000_000
EXPIRES = ISSUED + 900_000
CLAIMS = Claims("user", "session", "token", ISSUED, EXPIRES)

KINDS = pytest.mark.parametrize("kind", TokenKind)
NAMES = st.uuids().map(str)
MOMENTS = st.integers(0, 10**13)


@pytest.fixture(scope="module", params=["jwt", "plain"])
def tokens(request: pytest.FixtureRequest) -> Tokens:
    return {"jwt": JwtTokens(BOTH_KEYS), "plain": PlainTokens()}[request.param]


@given(
    kind=st.sampled_from(TokenKind),
    names=st.tuples(NAMES, NAMES, NAMES),
    issued_at=MOMENTS,
    lifetime=st.integers(2000, 10**11),
)
def test_token_contains_its_claims_in_whole_seconds(
    tokens: Tokens,
    kind: TokenKind,
    names: tuple[str, str, str],
    issued_at: int,
    lifetime: int,
) -> None:
    expires_at = issued_at + lifetime
    token = tokens.issue(kind, Claims(*names, issued_at, expires_at))

    claims = tokens.read(kind, token, issued_at)

    cut = Claims(*names, issued_at // 1000 * 1000, expires_at // 1000 * 1000)
    assert claims == cut


@KINDS
def test_token_is_valid_until_it_expires(tokens: Tokens, kind: TokenKind) -> None:
    token = tokens.issue(kind, CLAIMS)

    assert tokens.read(kind, token, EXPIRES - 1) == CLAIMS
    for now in (ISSUED - 3_600_000, EXPIRES, EXPIRES + 1, EXPIRES + 10**12):
        with pytest.raises(Unauthenticated):
            tokens.read(kind, token, now)


@KINDS
@pytest.mark.parametrize("read_before", [False, True], ids=["unread", "read before"])
def test_token_of_the_other_kind_is_refused(
    tokens: Tokens, kind: TokenKind, read_before: bool
) -> None:
    (other,) = set(TokenKind) - {kind}
    token = tokens.issue(other, CLAIMS)
    if read_before:
        tokens.read(other, token, ISSUED)

    with pytest.raises(Unauthenticated):
        tokens.read(kind, token, ISSUED)


NO_TOKEN = [
    "",
    ".",
    "..",
    "...",
    "null",
    "{}",
    "Bearer x.y.z",
    "e30.e30.e30",
    "\0",
    "\ud800.\udfff.\ud800",
    "\u212a.\u212a.\u212a",
    "[" * 100_000,
    "plain.",
    "plain." + "[" * 100_000,
    "x" * 10_000_000,
]


@KINDS
@pytest.mark.parametrize("text", NO_TOKEN, ids=range(len(NO_TOKEN)))
def test_malformed_token_is_refused(tokens: Tokens, kind: TokenKind, text: str) -> None:
    with pytest.raises(Unauthenticated):
        tokens.read(kind, text, ISSUED)


@given(kind=st.sampled_from(TokenKind), text=st.text(st.characters()))
def test_any_text_raises_only_token_errors(tokens: Tokens, kind: TokenKind, text: str) -> None:
    for attempt in (text, f"plain.{text}", f"{text}.{text}.{text}"):
        with pytest.raises(Unauthenticated):
            tokens.read(kind, attempt, ISSUED)


@given(data=st.data(), kind=st.sampled_from(TokenKind))
def test_shortened_or_extended_token_is_refused(
    tokens: Tokens, data: st.DataObject, kind: TokenKind
) -> None:
    token = tokens.issue(kind, CLAIMS)
    cut = data.draw(st.integers(0, len(token) - 1))
    more = data.draw(st.text(st.characters(exclude_characters=" \t\r\n"), min_size=1))

    for attempt in (token[:cut], token[cut + 1 :], token + more, more + token):
        with pytest.raises(Unauthenticated):
            tokens.read(kind, attempt, ISSUED)
