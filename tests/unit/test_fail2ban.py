"""The filter in deploy/fail2ban over the lines that the service writes."""

import json
import logging
import os
import re
import shutil
import subprocess
from configparser import ConfigParser
from pathlib import Path

import pytest

from phoneprov_adapters.runtime.tasks import log_login_failure
from phoneprov_core.kernel.actor import Origin, belonging_to
from phoneprov_core.people.auth.model import LoginFailure
from support.log_lines import lines_of, raw_lines_of

FILTER = Path(__file__).parents[2] / "deploy/fail2ban/filter.d/phoneprov.conf"
ADDRESS = r"(?P<host>[0-9a-f.:]+)"
REFUSED = ["192.0.2.9", "2001:db8::7", "192.0.2.9", "10.0.0.5", "10.0.0.6"]
REAL = os.environ.get("PHONEPROV_TEST_FAIL2BAN") == "1"


def expression() -> re.Pattern[str]:
    parser = ConfigParser(interpolation=None)
    parser.read(FILTER)
    return re.compile(parser["Definition"]["failregex"].replace("<HOST>", ADDRESS))


def written() -> list[str]:
    """Five refused logins, and lines that must not match."""
    with raw_lines_of("phoneprov") as lines, belonging_to(Origin("r-1", None, "10.0.0.1")):
        log_login_failure(LoginFailure("192.0.2.9", "wrong_credentials"))
        log_login_failure(LoginFailure("2001:db8::7", "locked"))
        log_login_failure(LoginFailure("192.0.2.9", "too_many_attempts"))
        log_login_failure(LoginFailure("10.0.0.5", "wrong_pin"))
        log_login_failure(LoginFailure("10.0.0.6", "pin_locked"))
        forged = '"logger":"phoneprov.logins","event":"login failed","client_ip":"203.0.113.5"'
        log = logging.getLogger("phoneprov.requests")
        log.warning("request %s", forged, extra={"fields": {"route": f'x",{forged}'}})
        log.info("request", extra={"fields": {"status": 401}})
    return lines


def test_filter_finds_refused_logins_and_nothing_else() -> None:
    found = [match["host"] for line in written() if (match := expression().search(line))]
    assert found == REFUSED


def test_line_of_refused_login_names_reason_and_request() -> None:
    with lines_of("phoneprov.logins") as lines, belonging_to(Origin("r-1", None, "10.0.0.1")):
        log_login_failure(LoginFailure("192.0.2.9", "wrong_credentials"))
    (line,) = lines
    assert line.pop("at")
    assert line == {
        "level": "warning",
        "logger": "phoneprov.logins",
        "event": "login failed",
        "client_ip": "192.0.2.9",
        "reason": "wrong_credentials",
        "request_id": "r-1",
    }


@pytest.mark.skipif(not REAL, reason="make test-fail2ban runs it with fail2ban's own program")
def test_fail2ban_regex_finds_the_lines(tmp_path: Path) -> None:
    program = shutil.which("fail2ban-regex")
    assert program is not None
    log = tmp_path / "phoneprov.log"
    log.write_text("".join(f"{line}\n" for line in written()), "utf-8")
    done = subprocess.run(
        [program, "--out", "ip", str(log), str(FILTER)], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == REFUSED, done.stderr
    summary = subprocess.run(
        [program, str(log), str(FILTER)], capture_output=True, text=True, check=False
    ).stdout
    assert "Lines: 7 lines, 0 ignored, 5 matched, 2 missed" in summary
    assert json.loads(log.read_text("utf-8").splitlines()[0])
