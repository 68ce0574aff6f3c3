"""The log lines of deployments and batches."""

from __future__ import annotations

import logging

import msgspec

from phoneprov_core.batches.model import Batch
from phoneprov_core.deployments.model import Deployment, Outcome

log = logging.getLogger("phoneprov.deployments")


def log_deployment(deployment: Deployment) -> None:
    """One line when a deployment ends, one when its confirmation is known. The steps with
    their notes are in it; no secret is."""
    level = logging.INFO if deployment.outcome is Outcome.DEPLOYED else logging.WARNING
    log.log(level, "deployment", extra={"fields": msgspec.to_builtins(deployment)})


def log_batch(batch: Batch) -> None:
    """One line when a batch has ended."""
    log.info("batch", extra={"fields": msgspec.to_builtins(batch)})
