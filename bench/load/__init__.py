"""Load: wrk, and the requests that it sends."""

import json
import subprocess
from collections.abc import Set as AbstractSet
from pathlib import Path

from msgspec import Struct

from bench.process import Server

_SCRIPT = Path(__file__).with_name("requests.lua")


class Measured(Struct, frozen=True):
    """One round of load on one server. ``rate`` counts the expected responses per second; latencies
    are milliseconds, ``cpu`` microseconds of the server's processor time per request; ``failed`` is
    the number of requests that were refused or broken."""

    rate: float
    p50: float
    p99: float
    cpu: float
    failed: int


class Load(Struct, frozen=True):
    """A load: ``lines`` as ``requests.lua`` reads them."""

    lines: list[str]
    kind: str = "plain"
    connections: int = 32
    first_number: int = 0


def plain(method: str, path: str, token: str = "", body: str = "") -> str:
    """A line of a plain load."""
    return f"{method}\t{path}\t{token}\t{body}"


def start(
    load: Load, url: str, seconds: float, processors: AbstractSet[int], file: Path
) -> subprocess.Popen[str]:
    """Start wrk with a thread for each of ``processors``; ``file`` has its requests while it
    runs."""
    file.write_text("\n".join(load.lines) + "\n")
    whole = max(1, round(seconds))
    return subprocess.Popen(
        [
            *("taskset", "-c", ",".join(map(str, processors))),
            *("wrk", f"-t{len(processors)}", f"-c{load.connections}"),
            *(f"-d{whole}s", "--timeout", "10s"),
            *("-s", str(_SCRIPT), url, "--", load.kind, str(file), str(load.first_number)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def figures_of(process: subprocess.Popen[str], seconds: float) -> dict[str, float]:
    """The figures of wrk after its end. Raises RuntimeError if wrk failed."""
    try:
        said, _ = process.communicate(timeout=seconds + 30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate(timeout=5)
        raise RuntimeError("wrk did not end in time.") from None
    _, found, summary = said.partition("@@")
    if process.returncode or not found:
        raise RuntimeError(f"wrk failed: {said[-500:]}")
    result: dict[str, float] = json.loads(summary)
    return result


def round_of(
    load: Load, server: Server, seconds: float, processors: AbstractSet[int], file: Path
) -> Measured:
    """One round of load on a server, which is idle before and after."""
    server.wait_until_idle()
    measured = round_beside(load, server, seconds, processors, file)
    # The last requests still run; they would disturb the next measurement.
    server.wait_until_idle()
    return measured


def round_beside(
    load: Load, server: Server, seconds: float, processors: AbstractSet[int], file: Path
) -> Measured:
    """One round of load on a server that may have other load."""
    before = server.cpu_seconds()
    found = figures_of(start(load, server.url, seconds, processors, file), seconds)
    used = server.cpu_seconds() - before
    requests = max(1.0, found["requests"])
    return Measured(
        rate=(requests - found["refused"]) / found["microseconds"] * 1e6,
        p50=found["p50"] / 1000,
        p99=found["p99"] / 1000,
        cpu=used / requests * 1e6,
        failed=int(found["refused"] + found["broken"]),
    )
