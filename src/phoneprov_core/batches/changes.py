"""Changes of batches that take several statements."""

from datetime import datetime, timedelta

from msgspec.structs import replace

from phoneprov_core.batches.commands import WantedPhones
from phoneprov_core.batches.model import Batch, BatchAction, BatchPhone, BatchState, PhoneState
from phoneprov_core.batches.ports import BatchesTransaction, BatchStore
from phoneprov_core.batches.rules import MOST_CUT_OFF
from phoneprov_core.batches.transitions import (
    SKIPPED,
    BatchItem,
    Claim,
    postponed,
    watched_again,
)
from phoneprov_core.deployments.model import Confirmation, Outcome
from phoneprov_core.kernel.actor import Event, Value
from phoneprov_core.kernel.system import NewId, shown

PIECE = 500
"""Number of phones that are read at a time."""


async def halt(
    batches: BatchStore,
    batch_uuid: str,
    state: BatchState,
    message: str | None,
    code: str | None = None,
) -> bool:
    """Stop starting phones: a running batch gets this state, and its pending phones are skipped.
    Returns False and changes nothing if the batch is not running."""
    batch = await batches.find(batch_uuid)
    halted = batch and batch.halted(state, message, code)
    if halted is None:
        return False
    await batches.put(halted)
    await batches.move_all(batch_uuid, SKIPPED)
    return True


async def put_back(
    batches: BatchStore, claim: Claim, again: Claim, seconds: int, message: str | None
) -> bool:
    """Postpone a phone, or skip it if its batch is not running. Returns False and changes nothing
    if the phone is no longer running under this claim."""
    # Locked: a batch that is stopped in between would keep a pending phone.
    state = await batches.state(claim.batch_uuid)
    return await batches.move(claim, postponed(again, seconds, message, state))


async def judge_first(
    tx: BatchesTransaction, batch: Batch, now: datetime, new_id: NewId
) -> bool | str | None:
    """Whether the first phones are confirmed; the reason if they will not be, else None. One whose
    watch was interrupted, so that nothing is known of it, is switched again."""
    groups = await tx.batches.first_phones(batch.uuid, batch.first or 0, shown(now))
    missed = min((group.position for group in groups if group.are_missed), default=None)
    if missed is not None:
        if await _switched_again(tx, batch, missed, shown(now), new_id):
            return None
        return await _why_missed(tx, batch, missed, shown(now))
    if any(group.state is not PhoneState.DONE for group in groups):
        return None
    pending = [one.position for one in groups if one.confirmation is Confirmation.PENDING]
    if not pending:
        return True
    latest = max(group.ended_at or "" for group in groups)
    if latest >= shown(now - timedelta(minutes=batch.first_minutes)):
        return None
    phone = await _phone_at(tx, batch, min(pending))
    deployment = await tx.deployments.find(phone.deployment_uuid or "")
    late = f"{phone.mac}, one of the first phones, is not confirmed after {batch.first_minutes}"
    if deployment is not None and deployment.awaits_load:
        return f"{late} minutes: it is not known to run the load {deployment.load} yet."
    return f"{late} minutes."


async def _switched_again(
    tx: BatchesTransaction, batch: Batch, position: int, now: str, new_id: NewId
) -> bool:
    phone = await _phone_at(tx, batch, position)
    deployment = await tx.deployments.find(phone.deployment_uuid or "")
    is_done = phone.state is PhoneState.DONE
    if not is_done or deployment is None or not deployment.as_of(now).was_interrupted:
        return False
    (claim,) = await tx.batches.tried(batch.uuid, position - 1, 1)
    again = claim.again(new_id())
    return again.cut_off < MOST_CUT_OFF and await tx.batches.move(claim, watched_again(again))


async def _why_missed(tx: BatchesTransaction, batch: Batch, position: int, now: str) -> str:
    phone = await _phone_at(tx, batch, position)
    if phone.state is not PhoneState.DONE:
        return f"{phone.mac}, one of the first phones: {phone.message}"
    deployment = await tx.deployments.find(phone.deployment_uuid or "")
    why = "Its deployment was removed."
    if deployment is not None:
        why = deployment.as_of(now).confirmation_message or "It was not watched."
    return f"{phone.mac}, one of the first phones, is not confirmed: {why}"


async def _phone_at(tx: BatchesTransaction, batch: Batch, position: int) -> BatchPhone:
    (phone,) = await tx.batches.phones(batch.uuid, WantedPhones(after=position - 1)).rows(1)
    return phone


async def add_undo(tx: BatchesTransaction, stopped: Batch, now: str, new_id: NewId) -> None:
    """Add the batch that gives the phones that a stopped one changed back what was there. It is
    part of the transaction in which that one ends: it is added once."""
    undo = replace(
        stopped,
        uuid=new_id(),
        action=BatchAction.UNDO,
        state=BatchState.RUNNING,
        created_at=now,
        undo_on_stop=False,
        only_changed=False,
        undo_of=stopped.uuid,
        **dict.fromkeys(
            ("message", "code", "ended_at", "start_at", "first", "stop_after_failures")
        ),
    )
    await tx.batches.add(undo)
    after, total = 0, 0
    while claims := await tx.batches.tried(stopped.uuid, after, PIECE):
        after = claims[-1].position
        items = []
        for claim in claims:
            undoes = await _to_be_undone(tx, claim)
            if undoes is not None:
                total += 1
                item = BatchItem(undo.uuid, total, claim.mac, new_id(), undoes=undoes)
                attempts = f"{claim.attempts} {claim.attempt_uuid}".strip()
                items.append(replace(item, attempts=attempts))
        if items:
            await tx.batches.add_phones(items)
    fields: dict[str, Value] = {"action": "undo", "undo_of": stopped.uuid, "phones": total}
    tx.trail.note(Event("batch.created", "batch", undo.uuid, fields))


async def _to_be_undone(tx: BatchesTransaction, claim: Claim) -> str | None:
    """The last deployment of a stopped batch to a phone, if the phone may have its file."""
    record = await tx.deployments.find(claim.attempt_uuid)
    if record and (record.place is not None or record.outcome is Outcome.INTERRUPTED):
        return record.uuid
    # An attempt that failed, or that never began, followed one that a crash interrupted.
    return claim.attempts.split()[-1] if claim.attempts else None
