"""The clock and random identifiers of this machine, and the log lines of events."""

import logging
import os
import secrets
import time
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime

import msgspec

from phoneprov_core.features.batches.model import Batch
from phoneprov_core.features.retention import Pruned
from phoneprov_core.people.auth.model import LoginFailure
from phoneprov_core.switching.deployments.model import Deployment, Outcome


def system_clock() -> datetime:
    """The current time in UTC, cut to milliseconds, so that stored and shown values are equal."""
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def processors() -> int:
    """The processors that this process may use: more threads would compete for them."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def random_id() -> str:
    """A random UUID."""
    return str(uuid.uuid4())


_last = 0


def ordered_id() -> str:
    """A UUID of version 7 (RFC 9562): the identifiers of one process are in order of creation, also
    within a millisecond."""
    global _last  # noqa: PLW0603 - the counter of RFC 9562, section 6.2
    _last = max(_last + 1, (time.time_ns() // 1_000_000) << 12)
    moment, counter = _last >> 12, _last & 0xFFF
    value = moment << 80 | 7 << 76 | counter << 64 | 2 << 62 | secrets.randbits(62)
    return str(uuid.UUID(int=value))


log = logging.getLogger("phoneprov.deployments")
logins = logging.getLogger("phoneprov.logins")
maintenance = logging.getLogger("phoneprov.maintenance")


def log_deployment(deployment: Deployment) -> None:
    """One line when a deployment ends, one when its confirmation is known. The steps with
    their notes are in it; no secret is."""
    level = logging.INFO if deployment.outcome is Outcome.DEPLOYED else logging.WARNING
    log.log(level, "deployment", extra={"fields": msgspec.to_builtins(deployment)})


def log_batch(batch: Batch) -> None:
    """One line when a batch has ended."""
    log.info("batch", extra={"fields": msgspec.to_builtins(batch)})


def log_pruned(pruned: Iterable[Pruned]) -> None:
    """One line for each kind of which old records were removed, or could not be."""
    for one in pruned:
        if one.message is not None:
            maintenance.warning("pruning failed", extra={"fields": msgspec.to_builtins(one)})
        elif one.count:
            maintenance.info("pruned", extra={"fields": msgspec.to_builtins(one)})


def log_login_failure(failure: LoginFailure) -> None:
    """One line for each login that was refused: ``login failed``, or ``login locked`` while
    logins are not checked. fail2ban reads these lines (deploy/fail2ban)."""
    is_wrong = failure.reason not in {"too_many_attempts", "locked", "pin_locked", "token_locked"}
    fields = {"client_ip": failure.client_ip, "reason": failure.reason}
    logins.warning("login failed" if is_wrong else "login locked", extra={"fields": fields})
