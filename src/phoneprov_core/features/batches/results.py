"""The results of the phones of a batch, the confirmation of the first phones, the end of a stopped
batch, and its undo."""

import hashlib
from datetime import datetime, timedelta

from msgspec.structs import replace

from phoneprov_core.features.batches.commands import WantedPhones
from phoneprov_core.features.batches.model import (
    Batch,
    BatchAction,
    BatchPhone,
    BatchState,
    PhoneState,
)
from phoneprov_core.features.batches.ports import (
    SKIPPED,
    BatchesTransaction,
    BatchItem,
    BatchStore,
    Claim,
    postponed,
    watched_again,
)
from phoneprov_core.features.batches.rules import MOST_CUT_OFF
from phoneprov_core.features.desks.occupancy import LOGIN_ENDED, Occupancy, UseBack
from phoneprov_core.features.desks.records import EarlierUse
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.kernel.actor import Actor, Event, Value
from phoneprov_core.kernel.errors import PhoneprovError
from phoneprov_core.kernel.ports import Clock, NewId, ReadAndWrite
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.switching.deployments.model import Action, Confirmation, Deployment, Outcome
from phoneprov_core.switching.deployments.order import DeploymentRequest, Texts, newest_request
from phoneprov_core.switching.deployments.ports import current_of
from phoneprov_core.switching.deployments.rollback import order_again
from phoneprov_core.switching.errors import OUTCOME_UNKNOWN, REPLY_LOST, SWITCHED_OFF

_CUT_OFF = "The file is in place, and the service was interrupted while it restarted the phone."

DEFAULT = "The login before the batch has ended; the phone got its default profile."


class LeftAlone(Exception):
    """The phone is not changed back; the message gives the reason."""


class StillRestarting(Exception):
    """The phone still restarts with the configuration to be undone, and would ignore the next
    restart."""


def result_of(record: Deployment) -> tuple[PhoneState, str | None]:
    """The result for the phone of a deployment that ended. A phone that has the new file but was
    not restarted counts as failed, unless restarts are switched off."""
    if record.may_have_restarted:
        if record.confirmation is Confirmation.CONFIRMED:
            return PhoneState.DONE, f"{_CUT_OFF} {record.confirmation_message}"
        return PhoneState.UNKNOWN, f"{_CUT_OFF} {record.restart}"
    if record.outcome is not Outcome.DEPLOYED:
        is_unknown = record.outcome is Outcome.UNKNOWN
        return PhoneState.UNKNOWN if is_unknown else PhoneState.FAILED, record.message
    if record.restarted or record.restart in {None, SWITCHED_OFF}:
        why = [None if record.restarted else record.restart, record.message]
        return PhoneState.DONE, " ".join(filter(None, why)) or None
    if record.restarted is None:
        return PhoneState.UNKNOWN, f"The file is in place. {record.restart}"
    return (
        PhoneState.FAILED,
        f"The file is in place, but the phone was not restarted: {record.restart}",
    )


def runs(current: Deployment | None, clock: Clock) -> bool:
    """Whether the phone runs its current deployment, as far as is known. A phone that has the file
    but was not restarted, or not seen to restart, may run the earlier configuration."""
    if current is None or not current.is_certain:
        return False
    missed = current.as_of(timestamp(clock())).confirmation is Confirmation.NOT_CONFIRMED
    return result_of(current)[0] is PhoneState.DONE and not missed


def is_unchanged(in_place: Deployment | None, order: DeploymentRequest, clock: Clock) -> bool:
    """Whether an order, once rendered, would change nothing: the phone runs exactly this text, as a
    profile of the same user. Lines at the exchange belong to the user, not to the text."""
    if in_place is None or in_place.owner_uuid != order.profile.user_uuid:
        return False
    sha256 = hashlib.sha256(order.cnf_xml.encode()).hexdigest()
    return in_place.sha256 == sha256 and runs(in_place, clock)


def state_after(error: PhoneprovError) -> PhoneState:
    """The state of a phone whose deployment raised this error."""
    is_unknown = error.code in {OUTCOME_UNKNOWN, REPLY_LOST}
    return PhoneState.UNKNOWN if is_unknown else PhoneState.FAILED


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
    """Whether the first phones are confirmed; the reason if they will not be, else None. A phone
    whose watch was interrupted without a result is switched again."""
    groups = await tx.batches.first_phones(batch.uuid, batch.first or 0, timestamp(now))
    missed = min((group.position for group in groups if group.are_missed), default=None)
    if missed is not None:
        if await _switched_again(tx, batch, missed, timestamp(now), new_id):
            return None
        return await _why_missed(tx, batch, missed, timestamp(now))
    if any(group.state is not PhoneState.DONE for group in groups):
        return None
    pending = [one.position for one in groups if one.confirmation is Confirmation.PENDING]
    if not pending:
        return True
    latest = max(group.ended_at or "" for group in groups)
    if latest >= timestamp(now - timedelta(minutes=batch.first_minutes)):
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
    if deployment is None or not deployment.as_of(now).was_interrupted:
        return False
    if phone.state is not PhoneState.DONE and not deployment.may_have_restarted:
        return False
    (claim,) = await tx.batches.tried(batch.uuid, position - 1, 1)
    again = claim.again(new_id())
    return again.cut_off < MOST_CUT_OFF and await tx.batches.move(
        claim, watched_again(phone.state, again)
    )


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
    """Create the batch that restores the phones changed by a stopped batch. It is part of the
    transaction in which the stopped batch ends, so it is created once."""
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
            ("message", "code", "ended_at", "start_at", "first", "stop_after_failures", "as_of")
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
    # A crash interrupted an attempt, and the next attempt failed or never began.
    return claim.attempts.split()[-1] if claim.attempts else None


async def order_of_undo(
    database: ReadAndWrite[BatchesTransaction],
    texts: Texts,
    occupancy: Occupancy,
    actor: Actor,
    claim: Claim,
    phone: Phone,
    clock: Clock,
) -> DeploymentRequest:
    """The order that restores the configuration from before the undone deployment. Raises
    ``LeftAlone``, ``StillRestarting`` until the phone was seen again or its time is over, and
    ``NotFound`` if what was there was deleted."""
    async with database.read() as tx:
        undone = await tx.deployments.find(claim.undoes or "")
        before = await current_of(tx.deployments, phone)
        attempts = claim.attempts.split()
        while before is not None and before.uuid in attempts:
            before = await tx.deployments.placed_before(before)
        if undone is None or (before is not None and before.number > undone.number):
            raise LeftAlone("Another deployment followed; the phone was left unchanged.")
        if before is None or before.created_at < phone.created_at:
            raise LeftAlone("It has no earlier configuration; the phone was left unchanged.")
        if not before.is_certain:
            raise LeftAlone("Its earlier state is unknown; the phone was left unchanged.")
        if undone.as_of(timestamp(clock())).confirmation is Confirmation.PENDING:
            raise StillRestarting
        use, is_over = await occupancy.use_to_give_back(tx, phone, before)
        desk = await tx.desks.find(phone.mac)
    note = None
    order = None
    if is_over:
        default = desk.default_profile_uuid
        order = await newest_request(database, texts, Action.ROLLBACK, default, phone)
        use, note = (use, LOGIN_ENDED) if order is None else (EarlierUse(use.at), DEFAULT)
    if order is None:
        async with database.read() as tx:
            order = await order_again(tx, actor, phone, before)
        order = replace(order, checks_rights=True)
    return replace(order.having(UseBack(use)), uuid=claim.attempt_uuid, note=note)
