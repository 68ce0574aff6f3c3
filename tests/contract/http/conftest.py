"""The application, a superadmin, and two accounts without a permission."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from support.api import Api, Caller, opened_api


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[Api]:
    async with opened_api(tmp_path) as opened:
        yield opened


@pytest.fixture
async def admin(api: Api) -> Caller:
    return await api.account("admin", level=0)


@pytest.fixture
async def ada(api: Api) -> Caller:
    return await api.account("ada")


@pytest.fixture
async def bob(api: Api) -> Caller:
    return await api.account("bob")


@pytest.fixture
def anonymous(api: Api) -> Caller:
    return api.anonymous
