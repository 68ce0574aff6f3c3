"""Deployments over HTTP: a desk phone, a superadmin and two users."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from phoneprov_adapters.memory.system import PlainHasher
from support.api import opened_api
from support.deploying import Workplace
from support.switch_rig import World, a_desk_phone, a_profile_of


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Workplace]:
    world = World()
    adapters = {**world.adapters(), "hasher": PlainHasher()}
    async with opened_api(tmp_path, database_kind="memory", overrides=adapters) as api:
        people = [await api.account(name) for name in ("ada", "bob")]
        office = Workplace(api, world, await api.account("admin", level=0), *people)
        await a_desk_phone(office.admin)
        office.profile = await a_profile_of(office.ada)
        yield office
