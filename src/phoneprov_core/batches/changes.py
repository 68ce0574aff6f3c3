"""Changes of batches that take several statements."""

from datetime import datetime, timedelta

import msgspec

from phoneprov_core.batches.commands import WantedPhones
from phoneprov_core.batches.model import Batch, BatchAction, BatchState, PhoneState
from phoneprov_core.batches.ports import BatchesTransaction, BatchStore
from phoneprov_core.batches.transitions import SKIPPED, BatchItem, Claim, postponed
from phoneprov_core.deployments.model import Confirmation
from phoneprov_core.kernel.system import NewId, shown
from phoneprov_core.kernel.trail import Event, Value

PIECE = 500
"""Number of phones that are read at a time."""


async def halt(
    batches: BatchStore, batch_uuid: str, state: BatchState, message: str | None
) -> bool:
    """Stop starting phones: a running batch gets this state, and its pending phones are skipped.
    Returns False and changes nothing if the batch is not running."""
    batch = await batches.find(batch_uuid)
    halted = batch and batch.halted(state, message)
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


async def judge_first(tx: BatchesTransaction, batch: Batch, now: datetime) -> bool | str | None:
    """Whether the first phones are confirmed; the reason if they are not and will not be, None
    while that is open."""
    phones = await tx.batches.phones(batch.uuid, WantedPhones()).rows(batch.first or 0)
    latest = ""
    for phone in phones:
        if phone.state in {PhoneState.FAILED, PhoneState.UNKNOWN}:
            return f"{phone.mac}, one of the first phones: {phone.message}"
        if phone.state is not PhoneState.DONE:
            return None
        latest = max(latest, phone.ended_at or "")
    is_over = latest < shown(now - timedelta(minutes=batch.first_minutes))
    for phone in phones:
        if phone.deployment_uuid is None:
            continue  # it has the configuration already
        deployment = await tx.deployments.find(phone.deployment_uuid)
        record = deployment and deployment.as_of(shown(now))
        confirmation = record.confirmation if record else Confirmation.NONE
        if confirmation is Confirmation.CONFIRMED:
            continue
        why = record.confirmation_message if record else "its deployment was removed."
        if confirmation is not Confirmation.PENDING:
            return f"{phone.mac}, one of the first phones, is not confirmed: {why}"
        if is_over:
            return (
                f"{phone.mac}, one of the first phones, is not confirmed after "
                f"{batch.first_minutes} minutes."
            )
        return None
    return True


async def add_undo(tx: BatchesTransaction, stopped: Batch, now: str, new_id: NewId) -> None:
    """Add the batch that gives the phones that a stopped one changed back what was there. It is
    part of the transaction in which that one ends: it is added once."""
    undo = msgspec.structs.replace(
        stopped,
        uuid=new_id(),
        action=BatchAction.UNDO,
        state=BatchState.RUNNING,
        message=None,
        created_at=now,
        ended_at=None,
        start_at=None,
        first=None,
        undo_on_stop=False,
        only_changed=False,
        stop_after_failures=None,
        undo_of=stopped.uuid,
    )
    await tx.batches.add(undo)
    position, after, total = 0, 0, 0
    while True:
        wanted = WantedPhones(after=after)
        phones = await tx.batches.phones(stopped.uuid, wanted).rows(PIECE)
        if not phones:
            break
        after = phones[-1].position
        items = []
        for phone in phones:
            record = phone.deployment_uuid and await tx.deployments.find(phone.deployment_uuid)
            if record and record.place is not None:
                position += 1
                items.append(
                    BatchItem(undo.uuid, position, phone.mac, new_id(), undoes=record.uuid)
                )
        if items:
            await tx.batches.add_phones(items)
        total += len(items)
    fields: dict[str, Value] = {"action": "undo", "undo_of": stopped.uuid, "phones": total}
    tx.trail.note(Event("batch.created", "batch", undo.uuid, fields))
