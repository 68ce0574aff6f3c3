"""Which deployments an account can read."""

import pytest
from msgspec.structs import replace

from phoneprov_core.features.fleet.model import Replacement
from phoneprov_core.kernel.errors import Invalid, NotFound
from phoneprov_core.kernel.ports import NEWEST, Listing, Window
from phoneprov_core.switching.deployments.model import (
    Deployment,
    DeploymentFilter,
    Outcome,
    may_read,
)
from support.phone_records import a_deployment, a_phone
from support.records import identifier
from support.switching import Desk

MAC = "00:1B:D4:12:34:56"
OTHER = "00:1B:D4:12:34:99"


@pytest.fixture
async def history(desk: Desk) -> list[Deployment]:
    """Deployments of Ada's profile by Ada, of Bob's by Ada, of Bob's by root, and of Ada's on
    another phone."""
    placed = {"place": "somewhere", "outcome": Outcome.DEPLOYED}
    rows = [
        a_deployment(1, MAC, owner_uuid=desk.ada.user_uuid, user_uuid=desk.ada.user_uuid, **placed),
        a_deployment(2, MAC, owner_uuid=desk.bob.user_uuid, user_uuid=desk.ada.user_uuid, **placed),
        a_deployment(
            3, MAC, owner_uuid=desk.bob.user_uuid, user_uuid=desk.root.user_uuid, **placed
        ),
        a_deployment(4, OTHER, owner_uuid=desk.ada.user_uuid, user_uuid=desk.ada.user_uuid),
    ]
    async with desk.database.write() as tx:
        for row in rows:
            await tx.deployments.add(row)
    return rows


async def numbers(listing: Listing[Deployment]) -> list[int]:
    return [row.number for row in await listing.everything()]


def hidden(row: Deployment) -> Deployment:
    """The deployment for who may not read what was deployed."""
    return replace(row, sha256=None, size=None)


async def test_deployments_are_visible_to_their_account_and_level_0(
    desk: Desk, history: list[Deployment]
) -> None:
    for actor, seen in ((desk.root, [1, 2, 3, 4]), (desk.ada, [1, 2, 4]), (desk.bob, [2, 3])):
        assert await numbers(await desk.deployments.all(actor)) == seen
        of_phone = await desk.deployments.of_phone(actor, "001bd4123456")
        assert await numbers(of_phone) == [number for number in seen if number < 4]
        for row in history:
            if row.number in seen:
                found = await desk.deployments.get(actor, row.uuid.upper())
                assert found == (row if may_read(actor, row) else hidden(row))
            else:
                with pytest.raises(NotFound):
                    await desk.deployments.get(actor, row.uuid)


async def test_current_deployment_is_visible_to_its_owner(
    desk: Desk, history: list[Deployment]
) -> None:
    assert await desk.deployments.current(desk.root, MAC) == history[2]
    assert await desk.deployments.current(desk.bob, "001bd4123456") == history[2]
    for actor, mac in (
        (desk.ada, MAC),
        (desk.ada, OTHER),
        (desk.root, OTHER),
        (desk.root, "nonsense"),
    ):
        with pytest.raises(NotFound):
            await desk.deployments.current(actor, mac)
    assert await numbers(await desk.deployments.all(desk.ada, DeploymentFilter(current=True))) == []
    assert await numbers(await desk.deployments.all(desk.bob, DeploymentFilter(current=True))) == [
        3
    ]


async def test_current_deployment_of_a_phone_is_not_that_of_the_phone_it_replaced(
    desk: Desk, history: list[Deployment]
) -> None:
    async with desk.database.write() as tx:
        await tx.replacements.put(Replacement(OTHER, MAC, history[3].created_at))

    assert await numbers(await desk.deployments.of_phone(desk.root, OTHER)) == [1, 2, 3, 4]
    current = DeploymentFilter(current=True)
    assert await numbers(await desk.deployments.of_phone(desk.root, OTHER, current)) == []
    assert await numbers(await desk.deployments.of_phone(desk.root, MAC, current)) == [3]


async def test_page_total_counts_visible_matches(desk: Desk, history: list[Deployment]) -> None:
    listing = await desk.deployments.all(
        desk.ada, DeploymentFilter(mac=MAC), Window(limit=1, offset=1)
    )

    assert (await numbers(listing), listing.total) == ([2], 2)


async def test_phone_without_deployments_has_an_empty_history(desk: Desk) -> None:
    async with desk.database.write() as tx:
        await tx.phones.add(a_phone(1))

    assert await numbers(await desk.deployments.of_phone(desk.bob, a_phone(1).mac)) == []


@pytest.mark.parametrize("mac", ["", "nonsense", "00:1B:D4:00:00:99"])
async def test_unknown_phone_has_no_deployments(
    desk: Desk, mac: str, history: list[Deployment]
) -> None:
    with pytest.raises(NotFound):
        await desk.deployments.of_phone(desk.root, mac)


async def test_phone_history_of_other_users_does_not_reveal_a_phone(
    desk: Desk, history: list[Deployment]
) -> None:
    with pytest.raises(NotFound):
        await desk.deployments.of_phone(desk.bob, OTHER)


async def test_missing_phone_is_reported_before_other_errors(
    desk: Desk, history: list[Deployment]
) -> None:
    with pytest.raises(NotFound):
        await desk.deployments.of_phone(desk.root, "00:1B:D4:00:00:99", DeploymentFilter(mac=OTHER))
    with pytest.raises(Invalid) as invalid:
        await desk.deployments.of_phone(desk.root, MAC, DeploymentFilter(mac=OTHER))
    assert [problem.field for problem in invalid.value.problems] == ["mac"]


def test_filters_are_canonical() -> None:
    wanted = DeploymentFilter(mac="001bd4123456", profile_uuid=identifier(10).upper())

    assert (wanted.mac, wanted.profile_uuid) == (MAC, identifier(10))
    with pytest.raises(Invalid):
        DeploymentFilter(mac="nonsense")


async def test_before_pages_through_visible_deployments(
    desk: Desk, history: list[Deployment]
) -> None:
    page = await desk.deployments.all(desk.ada, DeploymentFilter(before=NEWEST), Window(limit=2))
    assert (await numbers(page), page.total, page.window) == ([4, 2], None, None)
    page = await desk.deployments.all(
        desk.ada, DeploymentFilter(before=history[1].uuid), Window(limit=2)
    )
    assert await numbers(page) == [1]
    of_phone = await desk.deployments.of_phone(desk.bob, MAC, DeploymentFilter(before=NEWEST))
    assert await numbers(of_phone) == [3, 2]

    for unknown in (identifier(999), history[2].uuid):
        with pytest.raises(NotFound):
            await desk.deployments.all(desk.ada, DeploymentFilter(before=unknown))
    with pytest.raises(Invalid) as refused:
        await desk.deployments.all(desk.ada, DeploymentFilter(before=NEWEST), Window(offset=1))
    assert [problem.field for problem in refused.value.problems] == ["offset"]
