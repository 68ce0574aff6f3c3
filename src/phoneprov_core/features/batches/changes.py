"""The changes that a batch would make on a phone, without personal values."""

import re
from collections.abc import Sequence
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
from phoneprov_core.inventory.configuration.well_formed import fault_in
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.kernel.actor import Event, Value
from phoneprov_core.kernel.ports import NewId
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.switching.deployments.model import Confirmation, Outcome
from phoneprov_core.switching.deployments.ports import Rendered, ValuePlace

_SHORTEST = 3
"""Minimum number of characters of a value that is looked for in a text without marks."""


def known_values(phone: Phone, *texts: Rendered | None) -> dict[str, str]:
    """The values of a phone and its user, with their names: what is replaced in a text without
    marks."""
    values = {phone.mac: "phone.mac", phone.mac.replace(":", ""): "phone.hex"}
    for rendered in texts:
        content = rendered.text.encode() if rendered else b""
        for mark in rendered.marks if rendered else ():
            value = content[mark.start : mark.end].decode()
            if (
                len(value) >= _SHORTEST
                and " " not in mark.name
                and not mark.name.startswith("values.")
            ):
                values.setdefault(value, mark.name)
    return values


def named(old: Rendered | None, new: Rendered, known: dict[str, str]) -> tuple[str, str]:
    """Both texts with known values replaced by their names. A value that differs between the texts
    is marked with its side; a text of ``values`` that differs is shown."""
    before, after = old or Rendered(""), new
    was, is_now = _values(before), _values(after)
    both = was.keys() & is_now.keys()
    same = {name for name in both if was[name] == is_now[name]}
    texts = []
    for rendered, side in ((before, "before"), (after, "after")):
        if rendered.marks:
            text = _replaced(rendered, same, both - same, side)
        else:
            text = _by_value(rendered.text, known)
        # A name in a place where XML has no text would make it ill-formed.
        faulty = rendered.text and fault_in(text.encode()) is not None
        texts.append(_without_secrets(rendered) if faulty else text)
    return texts[0], texts[1]


def _without_secrets(rendered: Rendered) -> str:
    """The text with a word for each secret, which may be in the name of an element."""
    content, pieces, done = rendered.text.encode(), [], 0
    words: dict[bytes, bytes] = {}
    for mark in rendered.marks:
        if mark.secret:
            word = words.setdefault(content[mark.start : mark.end], b"secret%d" % len(words))
            pieces += [content[done : mark.start], word]
            done = mark.end
    return b"".join([*pieces, content[done:]]).decode()


def _values(rendered: Rendered) -> dict[str, list[bytes]]:
    content = rendered.text.encode()
    values: dict[str, list[bytes]] = {}
    for mark in rendered.marks:
        found = values.setdefault(mark.name, [])
        value = content[mark.start : mark.end]
        if value not in found:
            found.append(value)
    return values


def _replaced(rendered: Rendered, same: set[str], differ: set[str], side: str) -> str:
    content, pieces, done = rendered.text.encode(), [], 0
    for mark in rendered.marks:
        pieces.append(content[done : mark.start])
        if mark.name in differ and (mark.secret or not _is_value(mark)):
            pieces.append(f"{{{{ {mark.name}, {side} }}}}".encode())
        elif mark.name in same or mark.secret or not _is_value(mark):
            pieces.append(f"{{{{ {mark.name} }}}}".encode())
        else:
            pieces.append(content[mark.start : mark.end])
        done = mark.end
    return b"".join([*pieces, content[done:]]).decode()


def _is_value(mark: ValuePlace) -> bool:
    """Whether this is a text of the profile; a changed text is shown."""
    return mark.name.startswith("values.")


def _by_value(text: str, known: dict[str, str]) -> str:
    longest_first: Sequence[str] = sorted(known, key=len, reverse=True)
    pattern = "|".join(re.escape(value) for value in longest_first)
    return re.sub(
        rf"(?<![0-9A-Za-z])(?:{pattern})(?![0-9A-Za-z])|(?<=SEP)(?:{pattern})",
        lambda match: f"{{{{ {known[match[0]]} }}}}",
        text,
    )


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
    # An attempt that failed, or that never began, followed one that a crash interrupted.
    return claim.attempts.split()[-1] if claim.attempts else None
