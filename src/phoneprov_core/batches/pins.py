"""What a batch was created for: the revisions of profiles and templates at that time. A phone that
would get another text is left alone, so that only what its planner could see is deployed."""

from phoneprov_core.batches.model import Batch, BatchAction
from phoneprov_core.batches.ports import BatchesTransaction
from phoneprov_core.batches.transitions import Claim, PlannedVariant
from phoneprov_core.deployments.order import Order
from phoneprov_core.templates.recipes import best

_PIECE = 16


async def pin(tx: BatchesTransaction, batch: Batch, *, is_given: bool) -> None:
    """Pin the phones of a batch, unless it deploys the newest texts. With a revision that
    ``is_given``, or the one that a batch without a plan has for all its phones, later ones of the
    profile do not matter."""
    if batch.action is not BatchAction.SWITCH or batch.newest:
        return
    variants, last = [], None
    while piece := await tx.templates.rows(_PIECE, after=last):
        last = piece[-1]
        variants += [
            PlannedVariant(one.uuid, one.name, one.model, one.software_type, one.revision)
            for one in piece
        ]
    is_fixed = is_given or (batch.profile_uuid is not None and batch.start_at is None)
    await tx.batches.pin(batch, variants, revisions=not is_fixed)


async def changed_since(
    tx: BatchesTransaction, batch: Batch, claim: Claim, order: Order
) -> str | None:
    """What of the order of a phone changed since the batch was created, as a sentence; else
    None."""
    if batch.newest or claim.planned_profile is None:
        return None
    if order.profile.uuid != claim.planned_profile:
        return "The phone got another profile since the batch was created."
    if claim.planned_revision is not None:
        newest = await tx.revisions.newest(order.profile.uuid)
        if newest is None or newest.number != claim.planned_revision:
            return (
                f"The profile {order.profile.name} changed since the batch was created: it had "
                f"revision {claim.planned_revision}."
            )
    if order.recipe is None:
        return None
    template = order.recipe.template
    named = [one for one in await tx.batches.pinned(batch.uuid) if one.name == template.name]
    planned = best(named, order.phone.model, order.recipe.family)
    if planned is None or (planned.uuid, planned.revision) != (template.uuid, template.revision):
        return f"The template {template.label} changed since the batch was created."
    return None
