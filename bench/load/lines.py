"""The requests, as lines that ``requests.lua`` reads."""

import msgspec

from bench.load import plain
from bench.world import PASSWORD, SESSIONS, World, person


def reads(world: World, people: int) -> list[str]:
    """Reads of one of ``people`` for each session, spread over all of them."""
    tokens = world.tokens()
    step = max(1, people // len(tokens))
    return [
        plain("GET", f"/api/v1/users/{person(number * step)}", token)
        for number, token in enumerate(tokens)
    ]


def lists(world: World) -> list[str]:
    """Reads of the list of all accounts."""
    return [plain("GET", "/api/v1/users", token) for token in world.tokens()[:16]]


def creations(world: World) -> list[str]:
    """Creations of phones, each with another MAC."""
    phone = {"mac": "@MAC@", "brand": "Cisco", "model": "CP-7945G", "phone_ip": "10.1.2.3"}
    body = msgspec.json.encode(phone).decode()
    return [plain("POST", "/api/v1/phones", token, body) for token in world.tokens()]


def logins() -> list[str]:
    """Logins of all people that have a password."""
    return [
        plain("POST", "/api/v1/auth/login", "", msgspec.json.encode(sent).decode())
        for sent in ({"username": f"person{n}", "password": PASSWORD} for n in range(SESSIONS))
    ]
