"""History says of any moment what the service said at that moment."""

import pytest
from msgspec.structs import replace

from phoneprov_adapters.sql.stores.people import audit
from phoneprov_core.kernel.errors import Invalid
from phoneprov_core.kernel.values import timestamp
from support.past import RandomOffice, Said, said
from support.scale import LONG

PHONES, STEPS, MOMENTS = (300, 5000, 200) if LONG else (25, 300, 40)
SEEDS = [1] if LONG else [1, 2]


@pytest.mark.parametrize("seed", SEEDS)
async def test_history_of_random_operations_says_what_was_said_then(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    office = RandomOffice(phones=PHONES, seed=seed)
    monkeypatch.setattr(audit, "system_clock", office.clock)
    await office.open()
    chosen = set(office.random.sample(range(STEPS), MOMENTS))
    moments: dict[str, dict[str, Said]] = {}
    for step in range(STEPS):
        await office.step()
        if step in chosen:
            moments[timestamp(office.clock())] = await office.now()
    office.clock.advance(1)
    here = await office.created()

    def known(expected: dict[str, Said]) -> dict[str, Said]:
        """The states of a phone are deleted with it."""
        return {
            mac: one if one.created_at == here.get(mac) else replace(one, state=None)
            for mac, one in expected.items()
        }

    async def history(at: str) -> None:
        expected = known(moments[at])
        assert {one.mac: said(one, expected) for one in await office.then(at)} == expected, at

    for at in moments:
        await history(at)

    elapsed = office.clock() - office.clock.now.fromisoformat(min(moments))
    await office.prune(max(1, elapsed.days // 2))
    async with office.database.read() as tx:
        oldest = await tx.history.oldest(min(moments))
    assert oldest is not None
    assert any(at < oldest for at in moments)
    for at in moments:
        if at >= oldest:
            await history(at)
        else:
            with pytest.raises(Invalid, match=oldest):
                await office.then(at)
