"""A phone that is deleted and created again is served nothing of its earlier user."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from phoneprov_core.features.serving.model import FetchResult, Transport
from phoneprov_core.features.serving.use_cases import FileRequest
from support.api import Api, Caller, data_of, error_of, opened_api
from support.polling import until
from support.switch_rig import FILE, MAC, World, a_desk_phone, a_profile_of, switch

IP, OTHER_IP = "10.0.0.5", "10.0.0.6"
SECRETS = "<device><sshPassword>secret of ada</sshPassword></device>"


class Fleet:
    """A phone with ada's configuration, which this service serves."""

    def __init__(self, api: Api, admin: Caller, ada: Caller) -> None:
        self.api, self.admin, self.ada = api, admin, ada
        self.profile = ""

    async def fetched(self, ip: str) -> FetchResult:
        provided = await self.api.container.provide_file().open(
            FileRequest(Transport.TFTP, FILE, ip)
        )
        assert (provided.content is not None) == (provided.result is FetchResult.SERVED)
        return provided.result

    async def delete(self, caller: Caller | None = None) -> Any:
        return await (caller or self.admin).delete(f"/phones/{MAC}")

    async def is_free(self) -> bool:
        async with self.api.database.read() as tx:
            return await tx.leases.holder(MAC) is None


@pytest.fixture(params=["sqlite", "postgres"])
async def fleet(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Fleet]:
    adapters = World().adapters()
    del adapters["uploader"]
    async with opened_api(
        tmp_path,
        database_kind=request.param,
        overrides=adapters,
        PHONEPROV_UPLOADER="served",
        PHONEPROV_SHARED_WRITE="bearer",
        PHONEPROV_CONFIRM_TIMEOUT="0",
    ) as api:
        fleet = Fleet(api, await api.account("admin", level=0), await api.account("ada"))
        await a_desk_phone(fleet.admin, phone_ip=IP)
        fleet.profile = await a_profile_of(fleet.ada, cnf_xml=SECRETS)
        assert (await switch(fleet.ada, fleet.profile)).status_code == 200
        await until(fleet.is_free)
        assert await fleet.fetched(IP) is FetchResult.SERVED
        try:
            yield fleet
        finally:
            await api.container.tasks().drain(30)


async def test_phone_in_use_is_not_deleted_by_a_plain_account(fleet: Fleet) -> None:
    mallory = await fleet.api.account("mallory")

    assert error_of(await fleet.delete(mallory), 403, "forbidden") == {}
    await fleet.admin.put(f"/phones/{MAC}", {"phone_ip": None})
    # It still has a served file and a desk; without a recorded address it is served nothing.
    error_of(await fleet.delete(mallory), 403)
    assert {await fleet.fetched(ip) for ip in (IP, OTHER_IP)} == {FetchResult.REFUSED}
    await fleet.admin.put(f"/phones/{MAC}", {"phone_ip": IP})
    assert await fleet.fetched(IP) is FetchResult.SERVED
    assert await fleet.fetched(OTHER_IP) is FetchResult.REFUSED


@pytest.mark.parametrize("how", ["create", "create without address", "import"])
async def test_phone_created_again_is_not_served_the_former_configuration(
    fleet: Fleet, how: str
) -> None:
    data_of(await fleet.delete(), 200, "Phone deleted")
    assert await fleet.fetched(IP) is FetchResult.NOT_FOUND

    if how == "import":
        table = f"mac,model,phone_ip\n{MAC},CP-7945G,{OTHER_IP}\n"
        data_of(await fleet.admin.post("/imports/phones", {"csv": table}), 200, "Table imported")
    else:
        await a_desk_phone(fleet.admin, phone_ip=OTHER_IP if how == "create" else None)

    assert FetchResult.SERVED not in {await fleet.fetched(ip) for ip in (IP, OTHER_IP)}
    desk = data_of(await fleet.admin.get(f"/phones/{MAC}/desk"))
    assert (desk["user_uuid"], desk["default_profile_uuid"]) == (None, None)
    # What was deployed to the earlier phone is not deployed again unless it is named.
    error_of(await fleet.admin.post(f"/phones/{MAC}/rollback", {}), 404)


async def test_batch_does_not_bring_the_former_configuration_to_a_phone_created_again(
    fleet: Fleet,
) -> None:
    await fleet.delete()
    await a_desk_phone(fleet.admin, phone_ip=OTHER_IP)

    wanted = {"action": "switch", "macs": [MAC]}
    batch = data_of(await fleet.admin.post("/batches", wanted), 202)

    async def has_ended() -> bool:
        return bool(data_of(await fleet.admin.get(f"/batches/{batch['uuid']}"))["ended_at"])

    await until(has_ended)
    assert await fleet.fetched(OTHER_IP) is FetchResult.NOT_FOUND


async def test_phone_is_not_deleted_during_a_switch(fleet: Fleet) -> None:
    async with fleet.api.database.write() as tx:
        fence = await tx.leases.take(MAC, "a switch", 60)
        assert fence

    error_of(await fleet.delete(), 409, "phone_busy")

    assert await fleet.fetched(IP) is FetchResult.SERVED
    async with fleet.api.database.write() as tx:
        await tx.leases.release(MAC, "a switch", fence)
    data_of(await fleet.delete())
