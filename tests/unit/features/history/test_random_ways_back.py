"""A floor as of a random moment: byte for byte, or left alone and named before it starts."""

import pytest

from phoneprov_adapters.sql.stores.people import audit
from phoneprov_core.features.batches import changes
from phoneprov_core.features.batches.model import PhoneState
from phoneprov_core.kernel.values import timestamp
from support.past import RandomOffice
from support.scale import LONG

PHONES, STEPS, MOMENTS = (100, 1500, 20) if LONG else (20, 200, 6)


@pytest.mark.parametrize("seed", [11, 12])
async def test_way_back_restores_every_file_that_the_plan_does_not_refuse(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    office = RandomOffice(phones=PHONES, seed=seed)
    monkeypatch.setattr(audit, "system_clock", office.clock)
    monkeypatch.setattr(changes, "MOST_NAMED", PHONES)
    await office.open()
    moments = []
    for _ in range(STEPS):
        await office.step()
        moments.append(timestamp(office.clock()))

    for at in office.random.sample(moments, MOMENTS):
        office.clock.advance(3600)
        location = office.random.choice([None, "Floor 3", "2nd floor"])
        then = {phone.mac: phone for phone in await office.then(at, location=location)}
        active = {mac for mac, phone in then.items() if phone.is_active}
        if not active:
            continue
        wanted = {"as_of": at, "location": location}
        planned = await office.plan(**wanted)
        refused = {mac: one.message for one in planned.problems for mac in one.macs}
        before = office.on_phones()
        batch = await office.run_without(action="switch", **wanted)

        assert (batch.as_of, planned.phones) == (at, len(active))
        states = {}
        for phone in await office.phones_of(batch):
            states[phone.mac] = phone.state
            if phone.mac in refused:
                assert phone.state is PhoneState.LEFT_OUT
                assert refused[phone.mac].replace("the phone", phone.mac) in (phone.message or "")
                assert office.on_phones().get(phone.mac) == before.get(phone.mac)
            else:
                assert phone.state is PhoneState.DONE, phone
                made = office.brought(then[phone.mac].deployment_uuid or "")
                assert office.on_phones()[phone.mac] == made
        assert states.keys() == active
        untouched = before.keys() - active
        assert {mac: office.on_phones()[mac] for mac in untouched} == {
            mac: before[mac] for mac in untouched
        }
