"""A floor of phones for batches."""

from typing import Any

from phoneprov_core.batches.commands import CreateBatch
from phoneprov_core.batches.model import Batch, BatchPhone
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.phones.model import CreatePhone
from phoneprov_core.profiles.model import CreateProfile, Profile
from support.office import Office
from support.records import a_mac
from support.switching import XML

FLOOR = "2nd floor"


async def create_floor(office: Office, root: Actor, owner: Actor, phones: int) -> Profile:
    """Phones on the second floor, and a profile."""
    for number in range(1, phones + 1):
        office.clock.advance(0.001)
        await office.phones.create(
            root,
            CreatePhone(
                mac=a_mac(number),
                model="CP-7945G",
                phone_ip=f"10.20.30.{number}",
                software_type="SCCP",
                location=FLOOR,
            ),
        )
    return await office.profiles.create(
        owner, CreateProfile(user_uuid=owner.user_uuid, name="The floor", cnf_xml=XML)
    )


async def begin(office: Office, actor: Actor, profile: Profile | None, **more: Any) -> Batch:
    """Start a batch of switches to the profile, or of restarts; by default of the whole floor."""
    values: dict[str, Any] = {"action": "restart" if profile is None else "switch"}
    if profile is not None:
        values["profile_uuid"] = profile.uuid
    if not {"macs", "model", "location", "software_type"} & set(more):
        values["location"] = FLOOR
    return await office.batches.start(actor, CreateBatch(**(values | more)))


async def ended(office: Office, actor: Actor, batch: Batch) -> Batch:
    """Wait until no worker is active; the batch."""
    await office.background.done()
    return await office.batches.get(actor, batch.uuid)


async def phones_of(office: Office, actor: Actor, batch: Batch) -> list[BatchPhone]:
    return await (await office.batches.phones(actor, batch.uuid)).everything()
