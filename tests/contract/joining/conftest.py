"""An office in which people join and leave, with each database."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from support.api import Caller, data_of, error_of
from support.hotdesk import Hotdesk, hotdesk
from support.stores import DATABASES

TEMPLATE = (
    "<device><user>{{ user.username }}</user><n>{{ values.vlan | default('-') }}</n></device>"
)


class People:
    """The office, and what the people of an act got."""

    def __init__(self, office: Hotdesk) -> None:
        self.office, self.admin = office, office.admin

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return dict(data_of(await self.admin.post(f"/people/{path}", body)))

    async def join(self, *people: dict[str, Any], dry_run: bool = False) -> dict[str, Any]:
        return await self.post("join", {"people": list(people), "dry_run": dry_run})

    async def leave(self, *names: str, **more: Any) -> dict[str, Any]:
        people = [{"username": name} for name in names]
        return await self.post("leave", {"people": people, **more})

    async def undo(self, act: str) -> dict[str, Any]:
        return await self.post("undo", {"act": act})

    async def refused(self, path: str, body: dict[str, Any], status: int = 409) -> dict[str, str]:
        """The problems of a request that is refused, by field."""
        return error_of(await self.admin.post(f"/people/{path}", body), status)

    async def rows(self, path: str, **query: Any) -> list[dict[str, Any]]:
        return list((await self.admin.get(path, **query)).json()["data"])

    async def named(self, username: str) -> dict[str, Any]:
        return next(one for one in await self.rows("/users") if one["username"] == username)

    async def numbers(self, username: str) -> list[str]:
        uuid = (await self.named(username))["uuid"]
        return [one["extension"] for one in await self.rows(f"/user-extensions/by-user/{uuid}")]

    async def extension(self, number: str) -> dict[str, Any] | None:
        found = [one for one in await self.rows("/extensions") if one["extension"] == number]
        return found[0] if found else None

    async def everything(self) -> list[Any]:
        """All that acts change, to compare."""
        paths = ("/users", "/extensions", "/user-extensions", "/company-directory", "/desks",
                 "/audit", "/phone-profiles")  # fmt: skip
        return [await self.rows(path) for path in paths]


def person(name: str, **fields: Any) -> dict[str, Any]:
    usual = {"first_name": name.title(), "last_name": "Byron", "username": name,
             "email": f"{name}@office.example"}  # fmt: skip
    return {**usual, **fields}


def steps(moved: dict[str, Any], number: int = 0) -> dict[str, str]:
    """The outcome of each part; the last of several."""
    return {one["part"]: one["outcome"] for one in moved["people"][number]["steps"]}


@pytest.fixture(params=sorted(DATABASES))
async def people(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[People]:
    async with hotdesk(tmp_path, database_kind=request.param) as office:
        body = {"name": "office", "body": TEMPLATE}
        data_of(await office.admin.post("/configuration-templates", body), 201)
        yield People(office)


async def token_of(people: People) -> Caller:
    made = data_of(await people.admin.post("/me/tokens", {"name": "script"}), 201)
    return Caller(people.office.api.client, people.admin.uuid, made["token"])
