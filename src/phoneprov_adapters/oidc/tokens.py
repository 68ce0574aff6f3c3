"""Verification of ID tokens (OpenID Connect Core 1.0, section 3.1.3.7)."""

import binascii
import warnings
from collections.abc import Sequence
from typing import Any

import msgspec
from joserfc import jws
from joserfc.errors import JoseError, SecurityWarning
from joserfc.jwk import ECKey, OKPKey, RSAKey
from joserfc.util import urlsafe_b64decode

from phoneprov_core.features.identities.model import LEEWAY_SECONDS, SignInRefused

_KINDS: dict[str, type[RSAKey | ECKey | OKPKey]] = {
    "RS256": RSAKey,
    "PS256": RSAKey,
    "ES256": ECKey,
    "EdDSA": OKPKey,
}
_KEY_TYPES = {"RS256": "RSA", "PS256": "RSA", "ES256": "EC", "EdDSA": "OKP"}
# Parameters of a header that are not known are ignored (RFC 7515, section 4); ``crit`` is refused.
_REGISTRY = jws.JWSRegistry(algorithms=[*_KINDS], strict_check_header=False)
_LONGEST_SUBJECT = 255
_MOST_KEYS = 16
"""Keys that are tried for a token: each costs a verification, and providers publish a few."""

Json = dict[str, Any]


def header_of(token: str) -> tuple[str, str | None]:
    """The algorithm and the id of the key. Raises ``SignInRefused`` for any algorithm but RS256,
    PS256, ES256 and EdDSA."""
    try:
        header = msgspec.json.decode(urlsafe_b64decode(token.partition(".")[0].encode()), type=Json)
    except (ValueError, binascii.Error, RecursionError):
        raise SignInRefused from None
    algorithm, key_id = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in _KINDS or "crit" in header:
        raise SignInRefused
    return algorithm, key_id if isinstance(key_id, str) else None


def usable(keys: Sequence[Any], algorithm: str, key_id: str | None) -> list[Json]:
    """The first public keys that may have signed a token with this header."""
    found = [
        key
        for key in keys
        if isinstance(key, dict)
        and key.get("kty") == _KEY_TYPES[algorithm]
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) == algorithm
        and (key_id is None or key.get("kid") == key_id)
    ]
    return found[:_MOST_KEYS]


def verified(token: str, keys: Sequence[Json], algorithm: str) -> Json:
    """The claims of a token that one of the keys signed. Raises ``SignInRefused``."""
    for key in keys:
        try:
            own = _KINDS[algorithm].import_key(key)
            with warnings.catch_warnings():
                # EdDSA has newer names for its curves, which providers do not use yet.
                warnings.simplefilter("ignore", SecurityWarning)
                signed = jws.deserialize_compact(token, own, [algorithm], _REGISTRY)
            return msgspec.json.decode(signed.payload, type=Json)
        except (JoseError, ValueError, TypeError, KeyError, RecursionError):
            continue
    raise SignInRefused


def require_own(claims: Json, *, issuer: str, client: str, nonce: str, now: int) -> None:
    """Raises ``SignInRefused`` for claims of another issuer, for another client or sign-in, or not
    valid at ``now``, in milliseconds since 1970."""
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    azp = claims.get("azp")
    subject = claims.get("sub")
    seconds = now / 1000
    is_own = (
        claims.get("iss") == issuer
        and client in audiences
        and (azp == client or (azp is None and len(audiences) == 1))
        and claims.get("nonce") == nonce
        and isinstance(subject, str)
        and 0 < len(subject) <= _LONGEST_SUBJECT
        and subject.isprintable()
        and _moment(claims, "exp") + LEEWAY_SECONDS > seconds
        and _moment(claims, "iat") - LEEWAY_SECONDS <= seconds
        and ("nbf" not in claims or _moment(claims, "nbf") - LEEWAY_SECONDS <= seconds)
    )
    if not is_own:
        raise SignInRefused


def _moment(claims: Json, name: str) -> float:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SignInRefused
    return value
