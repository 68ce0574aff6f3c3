"""Deployments as text for people."""

from phoneprov_core.deployments.model import Confirmation, Deployment, Outcome, StepName

STEPS = {
    StepName.UPLOAD: "upload",
    StepName.CLEAR_SESSION: "clear the services",
    StepName.RESTART: "restart",
    StepName.LINES: "read back the lines",
}


def lines_of(deployment: Deployment) -> str:
    """What was read back of the lines, empty if nothing was."""
    step = next((one for one in deployment.steps if one.name is StepName.LINES), None)
    return f"; {step.message}" if step and step.message else ""


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
    """Whether the phone was restarted, and the confirmation did not fail. If the reply to the
    command was lost, the confirmation decides."""
    if deployment.restarted is None:
        return deployment.confirmation is Confirmation.CONFIRMED
    is_missed = deployment.confirmation is Confirmation.NOT_CONFIRMED
    return deployment.restarted and not is_missed


def _restarted(deployment: Deployment, *, briefly: bool) -> str:
    if deployment.restarted is False:
        return f"not restarted: {deployment.restart}"
    message = deployment.confirmation_message
    if deployment.confirmation is Confirmation.CONFIRMED:
        return "restarted, confirmed" if briefly else f"restarted, confirmed: {message}"
    restarted = "restarted"
    if deployment.restarted is None:
        restarted = f"not known whether the phone restarts: {deployment.restart}"
    match deployment.confirmation:
        case Confirmation.PENDING:
            return f"{restarted}; confirmation pending"
        case Confirmation.NOT_CONFIRMED:
            return f"{restarted}; not confirmed: {message}"
    return restarted if briefly or not message else f"{restarted}; not watched: {message}"


def moment(shown: str) -> str:
    """A timestamp without fractions of a second, in UTC."""
    return shown[:19].replace("T", " ")
