"""Those who take part in deployments."""

from typing import Generic, TypeVar

from phoneprov_core.switching.deployments.model import Deployment
from phoneprov_core.switching.deployments.order import DeploymentRequest

TX_contra = TypeVar("TX_contra", contravariant=True)


class Participant(Generic[TX_contra]):
    """Takes part in every deployment: what has to happen in its transactions besides its record.

    Each method runs inside the transaction that records the same step, after the records of
    switching; an error undoes both. ``tx`` has the stores that the participant names. What it has
    to know of one request is a ``RequestPart`` of its own. A method that a participant does not
    define does nothing. Participants are called in one order, which the composition writes down:
    it is the order of their locks.
    """

    async def restored(
        self,
        tx: TX_contra,  # noqa: ARG002
        request: DeploymentRequest,
        earlier: Deployment,  # noqa: ARG002
    ) -> DeploymentRequest:
        """The request of a rollback with what comes back together with the text of an ``earlier``
        deployment of the phone. The transaction only reads."""
        return request

    async def requested(self, tx: TX_contra, request: DeploymentRequest) -> None:
        """The lease is held, and nothing is recorded. Raises if the request may not go on."""

    async def begun(self, tx: TX_contra, request: DeploymentRequest, record: Deployment) -> None:
        """The record is added, and nothing was sent to the phone."""

    async def placed(self, tx: TX_contra, request: DeploymentRequest, record: Deployment) -> None:
        """The file is in place: before the phone is called, or at the end if the database was away.
        Called once for a deployment whose file is certainly in place."""

    async def ended(
        self,
        tx: TX_contra,
        request: DeploymentRequest,
        record: Deployment,
        before: Deployment,
    ) -> None:
        """The deployment has its outcome, and the lease is released. ``before`` is the record as it
        was stored until now: without a place if ``placed`` comes only now, or never."""
