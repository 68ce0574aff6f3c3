"""The queue of the log, and the thread that writes it."""

import json
import logging
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from phoneprov_core.kernel.actor import Origin, belonging_to
from phoneprov_http.main.server import logs
from phoneprov_http.main.server.asgi import Workers
from phoneprov_http.main.server.logs import LogQueue, set_up_logs

SET_UP = """
import logging, os, signal, time
from phoneprov_http.main.server.logs import set_up_logs
set_up_logs()
log = logging.getLogger("phoneprov.test")
"""
MANY = 5000


class Pipe:
    """A pipe whose lines are read when they are asked for."""

    def __init__(self) -> None:
        self.end, self.descriptor = os.pipe()
        self._rest = b""

    def lines(self, count: int) -> list[dict[str, Any]]:
        """These lines, parsed."""
        until = time.monotonic() + 60
        while (found := self._rest.splitlines(keepends=True)) and found[-1].endswith(b"\n"):
            if len(found) >= count:
                break
            self._read(until)
        else:
            self._read(until)
            return self.lines(count)
        self._rest = b"".join(found[count:])
        return [json.loads(line) for line in found[:count]]

    def _read(self, until: float) -> None:
        readable, _, _ = select.select([self.end], [], [], max(0, until - time.monotonic()))
        assert readable, self._rest
        self._rest += os.read(self.end, 65536)

    def is_empty(self) -> bool:
        """Whether nothing is there to read."""
        return not self._rest and not select.select([self.end], [], [], 0)[0]


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    made = Pipe()
    yield made
    os.close(made.end)
    os.close(made.descriptor)


@pytest.fixture
def log(pipe: Pipe) -> Iterator[logging.Logger]:
    """A logger whose lines go to the pipe."""
    logger = logging.getLogger("phoneprov.test")
    handler = LogQueue(pipe.descriptor)
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield logger
    logger.removeHandler(handler)
    logger.setLevel(logging.NOTSET)
    handler.close()


def run(program: str, stderr: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    """A process that logs."""
    return subprocess.run(
        [sys.executable, "-c", SET_UP + program],
        stderr=stderr,
        text=True,
        timeout=60,
        check=False,
    )


def test_event_is_one_line_with_its_fields_and_request(pipe: Pipe, log: logging.Logger) -> None:
    with belonging_to(Origin(client_ip="192.0.2.1", request_id="abc")):
        log.info("a name\nof %s", "two lines", extra={"fields": {"status": 200}})

    (line,) = pipe.lines(1)
    assert line.pop("at").endswith("Z")
    assert line == {
        "level": "info",
        "logger": "phoneprov.test",
        "event": "a name\nof two lines",
        "status": 200,
        "client_ip": "192.0.2.1",
        "request_id": "abc",
    }


def test_error_is_logged_with_its_trace(pipe: Pipe, log: logging.Logger) -> None:
    try:
        raise ValueError("broken")
    except ValueError:
        log.exception("unexpected")

    (line,) = pipe.lines(1)
    assert line["level"] == "error"
    assert line["trace"].endswith("ValueError: broken")


def test_lines_are_gathered_and_a_warning_writes_them_at_once(
    pipe: Pipe, log: logging.Logger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "_GATHER_SECONDS", 3600)
    log.info("one")
    log.info("two")
    time.sleep(0.05)
    assert pipe.is_empty()

    log.warning("three")

    assert [line["event"] for line in pipe.lines(3)] == ["one", "two", "three"]


def test_lines_without_a_warning_are_written_soon(pipe: Pipe, log: logging.Logger) -> None:
    for text in ("one", "two"):
        log.info(text)
        assert [line["event"] for line in pipe.lines(1)] == [text]


def test_stuck_reader_delays_no_caller_and_lost_lines_are_counted(
    pipe: Pipe, log: logging.Logger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "_MOST_WAITING", 1000)
    fills_the_pipe = "x" * 100_000
    log.warning(fills_the_pipe)
    slowest = 0.0
    for number in range(1, 3001):
        began = time.monotonic()
        log.warning("%d", number)
        slowest = max(slowest, time.monotonic() - began)

    assert slowest < 2
    kept: list[str] = []
    dropped = 0
    while len(kept) + dropped < 3000:
        (event,) = (line["event"] for line in pipe.lines(1))
        if event.endswith(" events were dropped."):
            dropped += int(event.split()[0])
        elif event != fills_the_pipe:
            kept.append(event)
    assert kept == [str(number) for number in range(1, len(kept) + 1)]
    assert 999 <= len(kept) < 1100


@pytest.mark.parametrize(
    ("end", "code"),
    [("", 0), ("raise SystemExit(3)", 3), ("raise KeyboardInterrupt", -2)],
)
def test_end_of_the_process_loses_no_line(end: str, code: int) -> None:
    done = run(f"for number in range({MANY}): log.info('%d', number)\n{end}")

    lines = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    assert [line["event"] for line in lines] == [str(number) for number in range(MANY)]
    assert done.returncode == code


def test_crash_of_the_process_shows_its_lines_and_then_its_trace() -> None:
    many = f"for number in range({MANY}): log.warning('%d', number)"
    done = run(f"{many}\nerror = RuntimeError('crashed')\nraise ValueError('last') from error")

    lines, trace = done.stderr.splitlines()[:MANY], done.stderr.splitlines()[MANY:]
    assert [json.loads(line)["event"] for line in lines] == [str(it) for it in range(MANY)]
    assert [line for line in trace if line and not line.startswith(" ")] == [
        "RuntimeError: crashed",
        "The above exception was the direct cause of the following exception:",
        "Traceback (most recent call last):",
        "ValueError: last",
    ]
    assert done.returncode == 1


def test_crash_is_shown_by_python_once_the_log_is_closed() -> None:
    done = run("logging.shutdown()\nraise RuntimeError('crashed')")

    assert done.stderr.endswith("\nRuntimeError: crashed\n")


def crash(_listeners: object, _is_served: object) -> None:
    set_up_logs()
    logging.getLogger("phoneprov.test").warning("last")
    raise RuntimeError("crashed")


def test_crash_of_a_worker_shows_its_lines_and_then_its_trace(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert Workers(crash, 1, [], lambda: None).run() is False

    first, *trace = capfd.readouterr().err.splitlines()
    assert json.loads(first)["event"] == "last"
    assert (trace[0], trace[-1]) == (
        "Traceback (most recent call last):",
        "RuntimeError: crashed",
    )


def test_killed_process_has_written_its_error() -> None:
    done = run("log.error('before')\ntime.sleep(1)\nos.kill(os.getpid(), signal.SIGKILL)")

    assert '"event":"before"' in done.stderr


def test_stuck_reader_does_not_keep_the_process_from_ending() -> None:
    end, descriptor = os.pipe()
    try:
        began = time.monotonic()
        done = run("for _ in range(10): log.error('x' * 100_000)", descriptor)
        assert done.returncode == 0
        assert time.monotonic() - began < 30
    finally:
        os.close(end)
        os.close(descriptor)


def test_refused_lines_are_counted_and_reported_when_they_can_be_written(tmp_path: Path) -> None:
    done = run(f"""
import resource, sys
os.dup2(os.open({str(tmp_path / "log")!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
log.error("lost")
time.sleep(0.5)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
log.error("kept")
""")

    assert done.returncode == 0
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [line["event"] for line in lines] == ["kept", "1 events were dropped."]
    assert lines[1]["level"] == "error"


def test_log_queue_interrupted_at_its_start_can_be_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_thread: threading.Thread) -> None:
        raise SystemExit(0)

    handlers = vars(logging)["_handlerList"]
    known = list(handlers)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(SystemExit) as stopped:
            LogQueue(2)

    logging.shutdown([handler for handler in handlers if handler not in known])

    assert stopped.value.code == 0
