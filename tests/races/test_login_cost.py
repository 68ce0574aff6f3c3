"""The cost of logins: bounded memory, equal time for known and unknown names, and no delay of other
requests."""

import asyncio
import os
import time
from math import erfc, sqrt
from statistics import median

from phoneprov_adapters.security.credentials import PARAMETERS
from races.direct import PASSWORD, Direct
from races.harness import WORKERS, Service
from races.wire import Line, kept_open, replies
from races.workers import MIB, most_memory, reset_peak_memory
from support.scale import LONG, long_only, note, rounds

CORES = os.cpu_count() or 1
HASH = PARAMETERS.memory_cost * 1024
WRONG = "incorrect horse battery"
MOST_APART = 0.05

pytestmark = long_only


async def usernames(direct: Direct, count: int) -> list[str]:
    return [(await direct.account()).username for _ in range(count)]


async def all_log_in(lines: list[Line], names: list[str]) -> None:
    for line, name in zip(lines, names, strict=True):
        line.send("POST", "/auth/login", {"username": name, "password": PASSWORD})
    answers = await replies(*lines)
    assert {answer.status for answer in answers} == {200}


async def pings(line: Line, logins: asyncio.Task[None]) -> list[float]:
    """The response times of another client during the logins, in seconds."""
    waited = []
    while not logins.done():
        began = time.perf_counter()
        await line.ask("GET", "/nothing")
        waited.append(time.perf_counter() - began)
        await asyncio.sleep(0.005)
    return waited


async def measure_memory_growth(
    service: Service, count: int, workers: int
) -> tuple[int, list[float], float]:
    """Log ``count`` users in at once: the largest growth of the processes in bytes, the response
    times of another client in seconds, and the total time of the logins in seconds."""
    async with service.direct() as direct:
        names = await usernames(direct, count)
    async with service.lines(count // workers + 1) as lines:
        await kept_open(lines)
        pids = service.pids
        for pid in pids:
            reset_peak_memory(pid)
        began = time.perf_counter()
        logins = asyncio.create_task(all_log_in(lines[:count], names))
        waited = await pings(lines[-1], logins)
        await logins
        took = time.perf_counter() - began
        return sum(map(most_memory, pids)) - service.at_rest, waited, took


async def test_concurrent_logins_use_bounded_memory_and_do_not_delay_others(
    hierarchical: Service,
) -> None:
    count = rounds(40, 100)
    grown, waited, took = await measure_memory_growth(hierarchical, count, workers=2)

    note(
        f"{count} logins at once, {hierarchical.name}, 2 processes: grow by {grown / MIB:.0f} MiB "
        f"({CORES} hashes at once take {CORES * HASH / MIB:.0f}); others wait "
        f"{median(waited) * 1000:.0f} ms in the median, {max(waited) * 1000:.0f} ms at most"
    )
    assert grown < CORES * HASH + 50 * MIB
    # On the event loop, these hashes would delay every response.
    assert median(waited) < took / 4


async def test_processes_share_the_memory_limit_for_hashes(service: Service) -> None:
    count = rounds(24, 100)
    grown, *_ = await measure_memory_growth(service, count, workers=WORKERS)

    at_once = max(CORES, WORKERS)
    note(
        f"{count} logins at once, {service.name}, {WORKERS} processes: grow by "
        f"{grown / MIB:.0f} MiB ({at_once} hashes at once take {at_once * HASH / MIB:.0f})"
    )
    assert grown < at_once * HASH + 50 * MIB


async def test_login_time_does_not_reveal_accounts(hierarchical: Service) -> None:
    guesses = rounds(16, 200)
    seconds: dict[str, list[float]] = {"known": [], "unknown": [], "inactive": []}
    async with hierarchical.direct() as direct, hierarchical.lines(1) as (line, *_):
        # A busy machine needs more samples to even out chance.
        for number in range(rounds(1, 6) * guesses):
            if number % guesses == 0 and number and apart(seconds) < MOST_APART:
                break
            # Each name is new, since the fifth failure locks its login.
            known = await direct.account()
            asleep = await direct.account(is_active=False)
            asked = [
                ("known", known.username, WRONG),
                ("unknown", f"no {known.username}", WRONG),
                ("inactive", asleep.username, PASSWORD),
            ]
            for kind, name, password in asked[number % 3 :] + asked[: number % 3]:
                began = time.perf_counter()
                body = {"username": name, "password": password}
                answer = await line.ask("POST", "/auth/login", body)
                seconds[kind].append(time.perf_counter() - began)
                assert (answer.status, answer.code) == (401, "wrong_credentials")
    medians = {kind: median(taken) for kind, taken in seconds.items()}
    for other in ("unknown", "inactive"):
        difference = abs(medians[other] / medians["known"] - 1)
        likelihood = mann_whitney(seconds["known"], seconds[other])
        note(
            f"wrong logins, {hierarchical.name}: known {medians['known'] * 1000:.1f} ms, {other} "
            f"{medians[other] * 1000:.1f} ms in the median of {len(seconds[other])}, "
            f"{difference:.1%} apart, "
            f"Mann-Whitney p = {likelihood:.2f}"
        )
        # A busy machine blurs few samples; without a hash nine tenths of the time would be missing.
        assert difference < (MOST_APART if LONG else 0.6), medians
        assert likelihood > (0.01 if LONG else 1e-5)


def apart(seconds: dict[str, list[float]]) -> float:
    """The difference of the medians, relative to that of known names."""
    known, *others = (median(taken) for taken in seconds.values())
    return max(abs(other / known - 1) for other in others)


def mann_whitney(one: list[float], other: list[float]) -> float:
    """The probability of samples this different from the same source (two-sided, by the normal
    approximation, which holds from about twenty samples each)."""
    ranked = sorted([(value, 0) for value in one] + [(value, 1) for value in other])
    ranks = sum(rank for rank, (_, of) in enumerate(ranked, 1) if of == 0)
    u = ranks - len(one) * (len(one) + 1) / 2
    mean = len(one) * len(other) / 2
    deviation = sqrt(len(one) * len(other) * (len(one) + len(other) + 1) / 12)
    return erfc(abs(u - mean) / deviation / sqrt(2))
