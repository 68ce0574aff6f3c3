"""The log lines of deployments, batches and removed records."""

import logging
from collections.abc import Iterable

import msgspec

from phoneprov_core.auth.model import LoginFailure
from phoneprov_core.batches.model import Batch
from phoneprov_core.deployments.model import Deployment, Outcome
from phoneprov_core.retention import Pruned

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
    is_wrong = failure.reason in {"wrong_credentials", "wrong_pin", "wrong_token"}
    fields = {"client_ip": failure.client_ip, "reason": failure.reason}
    logins.warning("login failed" if is_wrong else "login locked", extra={"fields": fields})
