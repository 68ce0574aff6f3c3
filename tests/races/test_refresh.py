"""A refresh token is exchanged once, by any number of clients and processes, and no token outlives
its session."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable

from phoneprov_core.people.auth.model import TokenPair
from races.direct import PASSWORD
from races.harness import WORKERS, Service
from races.wire import Line, Reply, kept_open, replies
from support.scale import note, rounds

CLIENTS = 16


async def refresh(line: Line, token: str) -> Reply:
    return await line.ask("POST", "/auth/refresh", {"refresh_token": token})


def pair_of(reply: Reply) -> TokenPair:
    return TokenPair(reply.data["accessToken"], reply.data["refreshToken"])


async def is_dead(line: Line, pair: TokenPair) -> bool:
    """Whether both tokens are invalid. The access token goes first, since a second use of a refresh
    token would itself end the session."""
    statuses = [
        (await line.ask("GET", "/me", token=pair.access_token)).status,
        (await refresh(line, pair.refresh_token)).status,
    ]
    assert set(statuses) <= {200, 401}, statuses
    return statuses == [401, 401]


async def test_concurrent_refreshes_of_a_token_yield_one_pair(service: Service) -> None:
    tokens = rounds(25, 1000)
    async with service.direct() as direct, service.lines(CLIENTS // WORKERS) as lines:
        ada = await direct.account()
        pairs = await direct.sessions(ada.uuid, tokens)
        began = time.perf_counter()
        for pair in pairs:
            await kept_open(lines)
            for line in lines:
                line.send("POST", "/auth/refresh", {"refresh_token": pair.refresh_token})
            answers = await replies(*lines)

            assert Counter(answer.status for answer in answers) == {200: 1, 401: CLIENTS - 1}
            for answer in answers:
                if answer.status == 401:
                    assert answer.code == "unauthenticated"
                    assert answer.headers["www-authenticate"] == "Bearer"
            # The other requests are a second use, which ends the session.
            (winner,) = (answer for answer in answers if answer.status == 200)
            assert await is_dead(lines[0], pair_of(winner))
        seconds = time.perf_counter() - began
    note(
        f"refresh, {service.name}: {tokens} tokens x {CLIENTS} clients x {WORKERS} processes: "
        f"{tokens} winners, no 5xx, {tokens * CLIENTS / seconds:.0f} exchanges/s"
    )


async def test_logout_during_refresh_ends_the_session(service: Service) -> None:
    interleavings = rounds(40, 1000)
    first = Counter[str]()
    lead = 0.0
    async with service.direct() as direct, service.lines(1) as lines:
        ada = await direct.account()
        for number in range(interleavings):
            pair, elsewhere = await direct.sessions(ada.uuid, 2)
            await kept_open(lines)
            at_logout, at_refresh = random.sample(lines, 2)
            token, body = _LOGOUTS[number % len(_LOGOUTS)](pair, elsewhere)

            async def log_out(
                line: Line = at_logout, body: object = body, token: str = token
            ) -> Reply:
                return await line.ask("POST", "/auth/logout", body, token=token)

            async def exchange(line: Line = at_refresh, pair: TokenPair = pair) -> Reply:
                return await refresh(line, pair.refresh_token)

            logged_out, exchanged = await _apart(log_out(), exchange(), lead)

            assert logged_out.status == 200
            assert exchanged.status in {200, 401}
            if exchanged.status == 200:
                assert await is_dead(at_refresh, pair_of(exchanged)), number
            assert await is_dead(at_logout, pair), number
            # The later client starts earlier next time, so that both meet.
            refreshed = exchanged.status == 200
            first["refresh" if refreshed else "logout"] += 1
            lead += 0.001 if refreshed else -0.001
    assert min(first["refresh"], first["logout"]) > interleavings // 20, "that was no race"
    note(
        f"refresh against logout, {service.name}: {interleavings} interleavings, "
        f"{first['refresh']} refreshed first, {first['logout']} logged out first, "
        "no valid token afterwards"
    )


_LOGOUTS: list[Callable[[TokenPair, TokenPair], tuple[str, object]]] = [
    lambda here, elsewhere: (here.access_token, {"refresh_token": here.refresh_token}),
    lambda here, elsewhere: (elsewhere.access_token, {"refresh_token": here.refresh_token}),
    lambda here, elsewhere: (here.access_token, None),
    lambda here, elsewhere: (elsewhere.access_token, {}),
]


async def _apart(
    one: Awaitable[Reply], other: Awaitable[Reply], lead: float
) -> tuple[Reply, Reply]:
    """Run both; ``one`` starts about ``lead`` seconds before the other."""

    async def after(seconds: float, act: Awaitable[Reply]) -> Reply:
        await asyncio.sleep(max(0.0, seconds))
        return await act

    apart = lead + random.uniform(-0.001, 0.001)
    return await asyncio.gather(after(-apart, one), after(apart, other))


async def test_login_during_account_change_leaves_no_session(service: Service) -> None:
    """A login takes the time of a hash. A change during it takes effect, and a reactivated account
    has none of its old sessions."""
    logins = rounds(9, 300)
    got_in = 0
    async with service.direct() as direct, service.lines(1) as (here, there, *_):
        root = await direct.account(level=0)
        (by_root,) = await direct.sessions(root.uuid)
        for number in range(logins):
            ada = await direct.account()
            method, body = _HAPPENINGS[number % len(_HAPPENINGS)]
            await kept_open([here, there])
            here.send("POST", "/auth/login", {"username": ada.username, "password": PASSWORD})
            await asyncio.sleep(random.uniform(0, 0.05))
            changed = await there.ask(
                method, f"/users/{ada.uuid}", body, token=by_root.access_token
            )
            assert changed.status == 200, changed
            logged_in = await here.reply()

            assert logged_in.status in {200, 401}
            await direct.put(ada)  # as it was, and active
            if logged_in.status == 200:
                got_in += 1
                assert await is_dead(there, pair_of(logged_in)), (method, body)
    note(
        f"login against deactivation, deletion and a new password, {service.name}: "
        f"{logins} logins, {got_in} succeeded before, no valid token afterwards"
    )


_HAPPENINGS: list[tuple[str, dict[str, object] | None]] = [
    ("PUT", {"is_active": False}),
    ("PUT", {"password": "another correct horse"}),
    ("DELETE", None),
]
