"""Liveness and readiness checks."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from litestar.types import ASGIApp

from phoneprov_adapters.composition.lifecycle import bring_up_to_date, readiness
from phoneprov_adapters.security.crypto import SecretBox
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql.engines.postgres import PostgresDatabase
from phoneprov_adapters.sql.engines.sqlite import SqliteDatabase
from phoneprov_core.kernel.errors import NotWritable
from phoneprov_http.app import create_app
from support.api import Api, data_of, error_of, opened_api
from support.postgres import new_database
from support.records import a_user
from support.stores import KEY


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


async def test_database_that_stores_nothing_is_not_ready_until_it_does(
    api_over_a_file: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    api, database = api_over_a_file, api_over_a_file.database
    assert isinstance(database, SqliteDatabase)
    app = create_app(api.container.use_cases(), ready=readiness(api.container))
    transport = httpx.ASGITransport(app=app)  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        data_of(await client.get("/health/ready"), 200, "Ready")
        await database._drivers.writer.execute("PRAGMA query_only = 1")
        with pytest.raises(NotWritable):
            async with database.write() as tx:
                await tx.users.add(a_user(1))

        refused = await client.get("/health/ready")
        assert error_of(refused, 503, "unavailable") == {}
        assert "read-only" in refused.json()["message"]

        await database._drivers.writer.execute("PRAGMA query_only = 0")
        data_of(await client.get("/health/ready"), 200, "Ready")


async def test_read_only_postgres_is_not_ready() -> None:
    async with new_database() as url:
        await bring_up_to_date(url)
        database = PostgresDatabase(url, SecretBox(SecretKeys.parse(KEY)))
        await database.open()
        await database.require_writable()
        async with database.write() as tx:
            await tx.users.add(a_user(1))
        await database.answered("SET default_transaction_read_only = on", ())
        with pytest.raises(NotWritable, match="read-only"):
            await database.require_writable()
        await database.require_writable()  # on another connection
        await database.close()


async def test_tests_with_the_same_settings_share_one_application(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    created: list[ASGIApp] = []

    def noted(*arguments: Any, **named: Any) -> ASGIApp:
        created.append(create_app(*arguments, **named))
        return created[-1]

    monkeypatch.setattr("support.shared_app.create_app", noted)
    for name in ("one", "other"):
        async with opened_api(tmp_path / name, PHONEPROV_BODY_MAX="54321"):
            pass

    assert len(created) == 1
