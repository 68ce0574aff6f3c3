"""The log line of each deployment."""

from __future__ import annotations

import logging

import msgspec

from phoneprov_core.deployments.model import Deployment, Outcome

log = logging.getLogger("phoneprov.deployments")


def log_deployment(deployment: Deployment) -> None:
    """One line when a deployment ends, one when its confirmation is known. The steps with
    their notes are in it; no secret is."""
    level = logging.INFO if deployment.outcome is Outcome.DEPLOYED else logging.WARNING
    log.log(level, "deployment", extra={"fields": msgspec.to_builtins(deployment)})
