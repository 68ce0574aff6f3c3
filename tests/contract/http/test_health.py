"""Liveness and readiness checks."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from phoneprov_adapters.composition.lifecycle import readiness
from phoneprov_http.app import create_app
from support.api import Api, data_of, error_of, opened_api


@pytest.mark.parametrize(
    ("path", "message"), [("/health/live", "Alive"), ("/health/ready", "Ready")]
)
async def test_health_checks_without_token_succeed(api: Api, path: str, message: str) -> None:
    reply = await api.client.get(path)

    assert data_of(reply, 200, message) is None
    assert reply.json()["metadata"] == {}
    error_of(await api.client.post(path), 405)


@pytest.fixture
async def api_over_a_file(tmp_path: Path) -> AsyncIterator[Api]:
    async with opened_api(tmp_path, database_kind="sqlite") as api:
        yield api


async def test_unavailable_database_is_not_ready(api_over_a_file: Api, tmp_path: Path) -> None:
    api = api_over_a_file
    app = create_app(api.container.use_cases(), ready=readiness(api.container))
    transport = httpx.ASGITransport(app=app)  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        data_of(await client.get("/health/ready"), 200, "Ready")

        await api.database.close()

        reply = await client.get("/health/ready")
        assert error_of(reply, 503, "unavailable") == {}
        data_of(await client.get("/health/live"), 200, "Alive")
