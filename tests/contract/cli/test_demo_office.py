"""The office of the demo is as its records say: looking at its phones finds what is recorded."""

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

from phoneprov_adapters.composition.lifecycle import create_database, prepare, running
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.simulator.phone import SimulatedPhone
from phoneprov_core.features.fleet.states import FleetState
from phoneprov_core.features.history.model import HistoryQuery
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.people.users.model import Registration
from phoneprov_http.main.commands.demo.history import fill_office
from phoneprov_http.main.commands.demo.office import PHONES, simulated_office
from phoneprov_http.main.commands.simulate import reaching


async def test_office_has_phones_in_each_state_and_they_are_found_so(tmp_path: Path) -> None:
    async with SimulatedPhone(ftp_password="x") as first, simulated_office(first, "x") as folders:
        environment = {
            "PHONEPROV_DATA_DIR": str(tmp_path),
            **reaching(first, "phoneprov", "x"),
            "PHONEPROV_PHONE_NETWORKS": "127.0.0.0/16",
        }
        settings = read_settings(environment)
        container = prepare(settings, pause=lambda _: asyncio.sleep(0))
        await create_database(settings)

        async def states() -> dict[str, FleetState | None]:
            async with container.database().read() as tx:
                phones = await tx.fleet.watched("", 500)
            return {phone.mac: seen.state if seen else None for phone, seen in phones}

        async with running(container):
            account = Registration(
                first_name="A", last_name="B", username="ada", email="a@example.com",
                password="analytical engine",
            )  # fmt: skip
            await container.use_cases().create_admin(account)
            await fill_office(environment, folders)
            recorded = await states()
            async with container.database().read() as tx:
                deployments = await tx.deployments.rows(1000)
                desks = [await tx.desks.find(mac) for mac in recorded]
                batches = await tx.batches.rows(100)
                locations = await tx.locations.rows(100)
                linked = await tx.links.full.rows(1000)
                templates = await tx.templates.rows(100)
            use_cases = container.use_cases()
            last_week = timestamp(datetime.now(UTC) - timedelta(days=7))
            moment = HistoryQuery(at=last_week)
            listing = await use_cases.history.phones(use_cases.system_actor(), moment)
            then = [one async for piece in listing for one in piece]
            watch = container.watch_fleet()
            await watch.round(0)
            assert watch.files is not None
            done = await watch.files.round(0, watch._keep_file, lambda: True)
            seen = await states()

    assert len(recorded) == PHONES
    # What its pages say fits together: a timeout took its time, and a person is at one desk.
    silent = [one for one in deployments if "took over 5 seconds" in str(one.message)]
    assert len(silent) > 10
    assert min(one.steps[-1].duration_ms for one in silent) >= 5000
    users = [desk.user_uuid for desk in desks if desk.user_uuid]
    assert len(users) == len(set(users)) > 50
    assert [one.outcome.value for one in deployments[-20:]].count("failed") >= 1
    assert [one.state.value for one in batches] == ["done", "done", "planned"]
    # Two uploads failed, and one phone was new.
    assert (batches[1].phones.failed, batches[1].phones.done) == (3, 27)
    assert len(templates) == 1
    # Its audit trail is as old as its deployments: an earlier moment can be seen, with its people.
    assert len(then) == PHONES
    assert all(one.deployed_at is None or one.deployed_at <= last_week for one in then)
    assert sum(one.username is not None and bool(one.lines) for one in then) > 50
    assert len(locations) == 7
    assert len(linked) == PHONES
    # New phones have nothing yet. Three changes of today failed, and two of the batch.
    unseen = {mac for mac, one in recorded.items() if one is FleetState.NEVER_SEEN}
    newest = {one.mac: one for one in deployments}
    assert set(recorded) - set(newest) == unseen
    assert [one.outcome.value for one in newest.values()].count("failed") == 5
    recent = Counter(one.created_at[:10] for one in deployments)
    assert len(recent) > 60
    assert set(recorded.values()) == {*FleetState} - {FleetState.USER_INACTIVE}
    assert done.failures == []
    # The demo has no exchange, and a look logs in to no server of a phone.
    unknown = {FleetState.UNREGISTERED, FleetState.FILE_CHANGED}
    assert seen == {
        mac: FleetState.FINE if one in unknown else one for mac, one in recorded.items()
    }
    counts = Counter(recorded.values())
    assert min(counts[FleetState.FILE_CHANGED], counts[FleetState.WRONG_LOAD]) > 1
    assert counts[FleetState.FINE] > PHONES * 0.9
