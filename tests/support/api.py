"""The real application over an empty database, and callers with accounts."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from dependency_injector import providers

from phoneprov_adapters.composition.container import Container
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.security.credentials import Argon2Hasher
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql.engines.transaction import Database
from phoneprov_core.people.access import Assignment
from support.keys import NEW_KEY, argon2_parameters
from support.records import a_permission, a_user, identifier, moment
from support.shared_app import shared_app
from support.stores import DATABASES

PASSWORD = "a password of the tests"
STRANGER = identifier(0xDEAD)
"""A uuid without a record."""


class Caller:
    """A caller. ``uuid`` is the account, empty for a caller without a token."""

    def __init__(self, client: httpx.AsyncClient, uuid: str = "", token: str = "") -> None:
        self.uuid = uuid
        self.token = token
        self._client = client

    async def get(self, path: str, **query: Any) -> httpx.Response:
        return await self.ask("GET", path, params=query)

    async def post(self, path: str, body: Any) -> httpx.Response:
        return await self.ask("POST", path, json=body)

    async def put(self, path: str, body: Any) -> httpx.Response:
        return await self.ask("PUT", path, json=body)

    async def delete(self, path: str) -> httpx.Response:
        return await self.ask("DELETE", path)

    async def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        """``path`` starts after ``/api/v1``; ``more`` is what httpx takes."""
        headers = {**({"Authorization": f"Bearer {self.token}"} if self.token else {})}
        headers |= more.pop("headers", {})
        return await self._client.request(method, f"/api/v1{path}", headers=headers, **more)


class Api:
    """The running application. ``database`` is its database, ``container`` made it."""

    def __init__(self, client: httpx.AsyncClient, database: Database, container: Container) -> None:
        self.client = client
        self.database = database
        self.container = container
        self.anonymous = Caller(client)
        self._accounts = 0

    async def account(self, name: str, *, level: int | None = None) -> Caller:
        """A new account that is logged in; its permission is of ``level``, None for none."""
        self._accounts += 1
        number = 0xACC000 + self._accounts
        user = a_user(number, username=name, email=f"{name}@example.com")
        user_hash = await self.container.hasher().hash(PASSWORD)
        async with self.database.write() as tx:
            await tx.users.add(user)
            await tx.users.set_password_hash(user.uuid, user_hash)
            if level is not None:
                permission = a_permission(number, level=level, name=f"level {level} of {name}")
                await tx.permissions.add(permission)
                await tx.assignments.assign(
                    Assignment(identifier(number), user.uuid, permission.uuid, level, "", moment(1))
                )
        reply = await self.anonymous.post("/auth/login", {"username": name, "password": PASSWORD})
        return Caller(self.client, user.uuid, data_of(reply)["accessToken"])


@asynccontextmanager
async def opened_api(
    folder: Path,
    *,
    database_kind: str = "memory",
    overrides: Mapping[str, object] | None = None,
    **environment: str,
) -> AsyncIterator[Api]:
    """The application with these settings and its data in ``folder``. ``overrides`` are adapters,
    by their name in the container, that replace the real ones."""
    settings = read_settings({"PHONEPROV_DATA_DIR": str(folder), **environment})
    keys = SecretKeys.parse(NEW_KEY)
    container = Container(settings=settings, keys=keys)
    hasher = Argon2Hasher(keys, workers=1, parameters=argon2_parameters())
    container.hasher.override(providers.Object(hasher))
    for name, adapter in (overrides or {}).items():
        getattr(container, name).override(providers.Object(adapter))

    try:
        async with DATABASES[database_kind](folder) as database:
            container.database.override(providers.Object(database))
            with shared_app(container.use_cases(), settings) as app:
                transport = httpx.ASGITransport(app=app)  # type: ignore[arg-type]
                async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                    yield Api(client, database, container)
    finally:
        hasher.close()


def data_of(
    reply: httpx.Response, status: int = 200, message: str | None = None, *, metadata: bool = True
) -> Any:
    """The ``data`` of a reply, whose status, message and envelope are checked."""
    envelope = reply.json()
    assert reply.status_code == status, envelope
    attached = {"metadata"} if metadata else set()
    assert set(envelope) == {"success", "message", "data", *attached}
    assert envelope["success"] is True
    if message is not None:
        assert envelope["message"] == message
    return envelope["data"]


def error_of(reply: httpx.Response, status: int, code: str | None = None) -> dict[str, str]:
    """The invalid fields of a failure, each with its message."""
    envelope = reply.json()
    assert reply.status_code == status, envelope
    assert set(envelope) == {"success", "message", "data", "error"}
    assert envelope["success"] is False
    assert envelope["data"] is None
    assert envelope["message"]
    error = envelope["error"]
    assert set(error) == {"code", "details", "request_id"}
    assert error["request_id"] == reply.headers["x-request-id"]
    if code is not None:
        assert error["code"] == code
    return {problem["field"]: problem["message"] for problem in error["details"]}
