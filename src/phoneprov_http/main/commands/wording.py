"""Deployments as text for people."""

from phoneprov_core.deployments.deploy import RESTARTED
from phoneprov_core.deployments.model import Confirmation, Deployment, Outcome, StepName

STEPS = {
    StepName.UPLOAD: "upload",
    StepName.CLEAR_SESSION: "clear the services",
    StepName.RESTART: "restart",
}


def what(deployment: Deployment) -> str:
    """Profile and revision of a deployment."""
    return f"{deployment.profile_name}, revision {deployment.revision}"


def how_it_went(deployment: Deployment, *, briefly: bool = False) -> str:
    """The outcome in one line; ``briefly`` without the message of the confirmation."""
    match deployment.outcome:
        case Outcome.RUNNING:
            return "running"
        case Outcome.FAILED:
            step = STEPS[deployment.failed_step] if deployment.failed_step else "start"
            return f"failed at {step}: {deployment.message}"
        case Outcome.UNKNOWN:
            return f"outcome unknown, the old file or the new one is there: {deployment.message}"
        case Outcome.INTERRUPTED if deployment.place is None:
            return "interrupted; either the old or the new file is in place, complete"
        case Outcome.INTERRUPTED:
            return "interrupted after the new file was in place"
        case Outcome.DEPLOYED:
            return f"deployed, {_restarted(deployment, briefly=briefly)}"


def is_seen_through(deployment: Deployment) -> bool:
    """Whether the phone was restarted, and the confirmation did not fail."""
    return (
        deployment.restart == RESTARTED
        and deployment.confirmation is not Confirmation.NOT_CONFIRMED
    )


def _restarted(deployment: Deployment, *, briefly: bool) -> str:
    if deployment.restart != RESTARTED:
        return f"not restarted: {deployment.restart}"
    message = deployment.confirmation_message
    match deployment.confirmation:
        case Confirmation.NONE:
            return "restarted"
        case Confirmation.PENDING:
            return "restarted; confirmation pending"
        case Confirmation.CONFIRMED:
            return "restarted, confirmed" if briefly else f"restarted, confirmed: {message}"
        case Confirmation.NOT_CONFIRMED:
            return f"restarted, not confirmed: {message}"


def moment(shown: str) -> str:
    """A timestamp without fractions of a second, in UTC."""
    return shown[:19].replace("T", " ")
