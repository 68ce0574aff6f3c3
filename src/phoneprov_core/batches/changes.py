"""Changes of batches that take several statements."""

from phoneprov_core.batches.model import BatchState
from phoneprov_core.batches.ports import BatchStore
from phoneprov_core.batches.transitions import SKIPPED, Turn, postponed


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
    batches: BatchStore, turn: Turn, again: Turn, seconds: int, message: str | None
) -> bool:
    """Postpone a phone, or skip it if its batch is not running. Returns False and changes nothing
    if the phone is no longer running under this claim."""
    # Locked: a batch that is stopped in between would keep a pending phone.
    state = await batches.state(turn.batch_uuid)
    return await batches.move(turn, postponed(again, seconds, message, state))
