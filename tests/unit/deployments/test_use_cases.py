"""Which deployments an account can read."""

import pytest

from phoneprov_core.deployments.model import Deployment, Outcome, Wanted
from phoneprov_core.fleet.model import Replacement
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Invalid, NotFound
from phoneprov_core.kernel.paging import NEWEST, Listing, Window
from support.office import Office
from support.phone_records import a_deployment, a_phone
from support.records import identifier

MAC = "00:1B:D4:12:34:56"
OTHER = "00:1B:D4:12:34:99"


@pytest.fixture
async def history(office: Office, root: Actor, ada: Actor, bob: Actor) -> list[Deployment]:
    """Deployments of Ada's profile by Ada, of Bob's by Ada, of Bob's by root, and of Ada's on
    another phone."""
    placed = {"place": "somewhere", "outcome": Outcome.DEPLOYED}
    rows = [
        a_deployment(1, MAC, owner_uuid=ada.user_uuid, user_uuid=ada.user_uuid, **placed),
        a_deployment(2, MAC, owner_uuid=bob.user_uuid, user_uuid=ada.user_uuid, **placed),
        a_deployment(3, MAC, owner_uuid=bob.user_uuid, user_uuid=root.user_uuid, **placed),
        a_deployment(4, OTHER, owner_uuid=ada.user_uuid, user_uuid=ada.user_uuid),
    ]
    async with office.database.write() as tx:
        for row in rows:
            await tx.deployments.add(row)
    return rows


async def numbers(listing: Listing[Deployment]) -> list[int]:
    return [row.number for row in await listing.everything()]


async def test_deployments_are_visible_to_their_account_and_level_0(
    office: Office, root: Actor, ada: Actor, bob: Actor, history: list[Deployment]
) -> None:
    for actor, seen in ((root, [1, 2, 3, 4]), (ada, [1, 2, 4]), (bob, [2, 3])):
        assert await numbers(await office.deployments.all(actor)) == seen
        of_phone = await office.deployments.of_phone(actor, "001bd4123456")
        assert await numbers(of_phone) == [number for number in seen if number < 4]
        for row in history:
            if row.number in seen:
                assert await office.deployments.get(actor, row.uuid.upper()) == row
            else:
                with pytest.raises(NotFound):
                    await office.deployments.get(actor, row.uuid)


async def test_current_deployment_is_visible_to_its_owner(
    office: Office, root: Actor, ada: Actor, bob: Actor, history: list[Deployment]
) -> None:
    assert await office.deployments.current(root, MAC) == history[2]
    assert await office.deployments.current(bob, "001bd4123456") == history[2]
    for actor, mac in ((ada, MAC), (ada, OTHER), (root, OTHER), (root, "nonsense")):
        with pytest.raises(NotFound):
            await office.deployments.current(actor, mac)
    assert await numbers(await office.deployments.all(ada, Wanted(current=True))) == []
    assert await numbers(await office.deployments.all(bob, Wanted(current=True))) == [3]


async def test_current_deployment_of_a_phone_is_not_that_of_the_phone_it_replaced(
    office: Office, root: Actor, history: list[Deployment]
) -> None:
    async with office.database.write() as tx:
        await tx.replacements.put(Replacement(OTHER, MAC, history[3].created_at))

    assert await numbers(await office.deployments.of_phone(root, OTHER)) == [1, 2, 3, 4]
    current = Wanted(current=True)
    assert await numbers(await office.deployments.of_phone(root, OTHER, current)) == []
    assert await numbers(await office.deployments.of_phone(root, MAC, current)) == [3]


async def test_page_total_counts_visible_matches(
    office: Office, ada: Actor, history: list[Deployment]
) -> None:
    listing = await office.deployments.all(ada, Wanted(mac=MAC), Window(limit=1, offset=1))

    assert (await numbers(listing), listing.total) == ([2], 2)


async def test_phone_without_deployments_has_an_empty_history(office: Office, bob: Actor) -> None:
    async with office.database.write() as tx:
        await tx.phones.add(a_phone(1))

    assert await numbers(await office.deployments.of_phone(bob, a_phone(1).mac)) == []


@pytest.mark.parametrize("mac", ["", "nonsense", "00:1B:D4:00:00:99"])
async def test_unknown_phone_has_no_deployments(
    office: Office, root: Actor, mac: str, history: list[Deployment]
) -> None:
    with pytest.raises(NotFound):
        await office.deployments.of_phone(root, mac)


async def test_phone_history_of_other_users_does_not_reveal_a_phone(
    office: Office, bob: Actor, history: list[Deployment]
) -> None:
    with pytest.raises(NotFound):
        await office.deployments.of_phone(bob, OTHER)


async def test_missing_phone_is_reported_before_other_errors(
    office: Office, root: Actor, history: list[Deployment]
) -> None:
    with pytest.raises(NotFound):
        await office.deployments.of_phone(root, "00:1B:D4:00:00:99", Wanted(mac=OTHER))
    with pytest.raises(Invalid) as invalid:
        await office.deployments.of_phone(root, MAC, Wanted(mac=OTHER))
    assert [problem.field for problem in invalid.value.problems] == ["mac"]


def test_filters_are_canonical() -> None:
    wanted = Wanted(mac="001bd4123456", profile_uuid=identifier(10).upper())

    assert (wanted.mac, wanted.profile_uuid) == (MAC, identifier(10))
    with pytest.raises(Invalid):
        Wanted(mac="nonsense")


async def test_before_pages_through_visible_deployments(
    office: Office, ada: Actor, bob: Actor, history: list[Deployment]
) -> None:
    page = await office.deployments.all(ada, Wanted(before=NEWEST), Window(limit=2))
    assert (await numbers(page), page.total, page.window) == ([4, 2], None, None)
    page = await office.deployments.all(ada, Wanted(before=history[1].uuid), Window(limit=2))
    assert await numbers(page) == [1]
    of_phone = await office.deployments.of_phone(bob, MAC, Wanted(before=NEWEST))
    assert await numbers(of_phone) == [3, 2]

    for unknown in (identifier(999), history[2].uuid):
        with pytest.raises(NotFound):
            await office.deployments.all(ada, Wanted(before=unknown))
    with pytest.raises(Invalid) as refused:
        await office.deployments.all(ada, Wanted(before=NEWEST), Window(offset=1))
    assert [problem.field for problem in refused.value.problems] == ["offset"]
