"""Whose each number is: ``/numbers`` for a page of records, ``/search`` for what is typed."""

import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from phoneprov_adapters.sql.engines.postgres_reading import PostgresReadConnection
from phoneprov_adapters.sql.engines.sqlite import SqliteReadConnection
from phoneprov_core.features.desks.records import DeskUse
from support.api import Api, Caller, data_of, error_of, opened_api

FRONT, LAB = "00:1B:D4:00:00:45", "00:1B:D4:00:00:46"
NOWHERE = "00:1B:D4:00:00:99"
PAGE = 40


@pytest.fixture(params=["sqlite", "postgres"])
async def api(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Api]:
    async with opened_api(tmp_path, database_kind=request.param) as opened:
        yield opened


class Office:
    """Zoë Müller with 101, logged in at the laboratory in Bonn, and Bob with 102, whose profile is
    as Zoë's; a helpdesk for Berlin."""

    def __init__(self, api: Api, admin: Caller) -> None:
        self.api, self.admin = api, admin

    async def fill(self) -> "Office":
        self.zoe, self.bob = [await self.api.account(name) for name in ("zoe", "bob")]
        self.helper = await self.api.account("helper")
        right = {"right": "helpdesk", "locations": ["Berlin"]}
        data_of(await self.admin.put(f"/users/{self.helper.uuid}/rights", right), 200)
        self.extensions, self.profiles = [], []
        for caller, names, number in (
            (self.zoe, ("Zoë", "Müller"), "101"),
            (self.bob, ("Bob", "Mueller"), "102"),
        ):
            first, last = names
            body = {"first_name": first, "last_name": last}
            data_of(await self.admin.put(f"/users/{caller.uuid}", body), 200)
            self.extensions.append(await self.extension(number, caller))
            profile = {"user_uuid": caller.uuid, "name": "Desk", "cnf_xml": "<device/>"}
            made = data_of(await self.admin.post("/phone-profiles", profile), 201, metadata=False)
            self.profiles.append(made["uuid"])
        for mac, name, location in ((FRONT, "Front", "Berlin/1"), (LAB, "Lab", "Bonn")):
            body = {"mac": mac, "name": name, "location": location}
            data_of(await self.admin.post("/phones", body), 201)
        await self.log_in(LAB, self.zoe)
        return self

    async def extension(self, number: str, user: Caller | None = None) -> str:
        body = {"type": "chan_sccp", "extension": number, "name": "Line", "password": "secret"}
        made = str(data_of(await self.admin.post("/extensions", body), 201)["uuid"])
        if user:
            link = {"user_uuid": user.uuid, "extension_uuid": made}
            data_of(await self.admin.post("/user-extensions", link), 201)
        return made

    async def log_in(self, mac: str, user: Caller) -> None:
        async with self.api.database.write() as tx:
            desk = await tx.desks.find(mac)
            await tx.desks.put(desk.used(DeskUse(user.uuid), "2026-01-31T08:15:30.250Z"))


@pytest.fixture
async def office(api: Api, admin: Caller) -> Office:
    return await Office(api, admin).fill()


async def numbers(caller: Caller, of: str, *ids: str) -> dict[str, Any]:
    found = data_of(await caller.post("/numbers", {"of": of, "ids": list(ids)}), 200)
    return {one["id"]: one for one in found}


async def found(caller: Caller, q: str) -> tuple[list[str], list[str], str | None]:
    """The usernames and the phones that a text finds, and which is the best."""
    data = data_of(await caller.get("/search", q=q))
    people = [one["people"][0]["username"] for one in data["people"]]
    return people, [one["id"] for one in data["phones"]], data["best"]


async def test_page_has_people_and_numbers_in_the_order_of_its_records(office: Office) -> None:
    admin = office.admin
    profiles = await numbers(admin, "profiles", *reversed(office.profiles), *office.profiles)
    assert list(profiles) == [*reversed(office.profiles)]
    assert [(one["name"], one["numbers"]) for one in profiles.values()] == [
        ("Desk", ["102"]),
        ("Desk", ["101"]),
    ]
    phones = await numbers(admin, "phones", LAB.replace(":", "").lower(), FRONT, NOWHERE, "no")
    assert list(phones) == [LAB, FRONT]
    assert phones[LAB]["people"][0]["name"] == "Zoë Müller"
    assert (phones[LAB]["numbers"], phones[FRONT]["numbers"]) == (["101"], [])
    users = await numbers(admin, "users", office.zoe.uuid)
    assert users[office.zoe.uuid]["phones"] == [
        {"mac": LAB, "name": "Lab", "location": "Bonn", "is_logged_in": True}
    ]
    extensions = await numbers(admin, "extensions", *office.extensions)
    assert [one["people"][0]["username"] for one in extensions.values()] == ["zoe", "bob"]


async def test_account_without_level_0_sees_its_own_people_and_numbers_only(office: Office) -> None:
    zoe, bob = office.zoe, office.bob
    shared = {"user_uuid": bob.uuid, "extension_uuid": office.extensions[0]}
    data_of(await office.admin.post("/user-extensions", shared), 201)
    data_of(
        await office.admin.put(
            f"/phones/{FRONT}/desk", {"extension_uuid": await office.extension("200")}
        ),
        200,
    )
    everything = {
        "phones": [LAB, FRONT],
        "users": [zoe.uuid, bob.uuid],
        "profiles": office.profiles,
        "extensions": office.extensions,
    }
    of_zoe = {of: list(await numbers(zoe, of, *ids)) for of, ids in everything.items()}
    assert of_zoe == {
        "phones": [LAB],
        "users": [zoe.uuid],
        "profiles": office.profiles[:1],
        "extensions": office.extensions[:1],
    }
    line = (await numbers(zoe, "extensions", *office.extensions))[office.extensions[0]]
    assert [one["username"] for one in line["people"]] == ["zoe"]
    assert await numbers(bob, "phones", LAB, FRONT) == {}


async def test_right_shows_people_everywhere_and_phones_in_its_scope(office: Office) -> None:
    helper = office.helper
    assert list(await numbers(helper, "phones", LAB, FRONT)) == [FRONT]
    person = (await numbers(helper, "users", office.zoe.uuid))[office.zoe.uuid]
    assert (person["numbers"], person["phones"], person["phones_total"]) == (["101"], [], 0)
    assert await found(helper, "101") == (["zoe"], [], "people")
    await office.log_in(FRONT, office.bob)
    assert await found(helper, "102") == (["bob"], [FRONT], "people")
    assert await found(helper, "00:1b:d4") == ([], [FRONT], "phones")


async def test_typed_number_finds_who_has_it_and_where_that_person_is(office: Office) -> None:
    data = data_of(await office.admin.get("/search", q="101"))
    (person,), (phone,) = data["people"], data["phones"]
    assert (person["name"], person["numbers"]) == ("Zoë Müller", ["101"])
    assert [one["name"] for one in person["phones"]] == ["Lab"]
    assert (phone["id"], phone["numbers"], data["best"]) == (LAB, ["101"], "people")


async def test_exact_number_comes_before_records_whose_text_begins_with_it(office: Office) -> None:
    for number in range(8):
        phone = {"mac": f"1005ca0000{number:02x}"}
        data_of(await office.admin.post("/phones", phone), 201)
    body = {"extension_uuid": await office.extension("1005")}
    data_of(await office.admin.put(f"/phones/{FRONT}/desk", body), 200)
    people, phones, best = await found(office.admin, "1005")
    assert (people, phones[0], best) == ([], FRONT, "phones")
    assert len(phones) == 6


@pytest.mark.parametrize("typed", ["muller", "Mueller", "MÜLLER", "mül", "muel"])
async def test_person_is_found_in_every_spelling(office: Office, typed: str) -> None:
    people, phones, best = await found(office.admin, typed)
    assert (set(people), phones, best) == ({"zoe", "bob"}, [LAB], "people")


async def test_name_of_a_phone_is_a_better_match_than_a_part_of_an_address(office: Office) -> None:
    body = {"email": "front@example.com"}
    data_of(await office.admin.put(f"/users/{office.bob.uuid}", body), 200)
    assert await found(office.admin, "Front") == (["bob"], [FRONT], "phones")
    assert await found(office.admin, "front@") == (["bob"], [], "people")


async def test_account_without_level_0_finds_phones_by_what_it_may_read(office: Office) -> None:
    assert await found(office.bob, "lab") == ([], [LAB], "phones")
    assert await found(office.bob, "101") == ([], [], None)
    assert await found(office.bob, "zoe") == ([], [], None)
    (phone,) = data_of(await office.bob.get("/search", q="lab"))["phones"]
    assert (phone["people"], phone["numbers"]) == ([], [])
    (own,) = data_of(await office.zoe.get("/search", q="lab"))["phones"]
    assert own["numbers"] == ["101"]


@pytest.mark.parametrize("q", ["", "  ", "%", "_", "\\", "'", "\N{COMBINING ACUTE ACCENT}"])
async def test_text_without_a_match_finds_nothing(office: Office, q: str) -> None:
    assert await found(office.admin, q) == ([], [], None)


async def test_number_filter_of_phones_needs_level_0_or_a_right(office: Office) -> None:
    error_of(await office.bob.get("/phones", number="101"), 403, "forbidden")
    (phone,) = data_of(await office.admin.get("/phones", number="101"))
    assert phone["mac"] == LAB
    assert data_of(await office.helper.get("/phones", number="101")) == []


async def test_number_in_groups_finds_what_the_whole_number_finds(office: Office) -> None:
    lab = await found(office.admin, LAB)
    for q in ("00 1b d4 00 00 46", "001b d400 0046", "1BD4 0000 46"):
        assert await found(office.admin, q) == lab, q
    whole = await found(office.admin, "101")
    assert whole == (["zoe"], [LAB], "people")
    assert await found(office.admin, "1 01") == whole
    assert data_of(await office.admin.get("/search", q="1 01"))["q"] == "101"
    # Groups that records have are found as they are.
    data_of(await office.admin.put(f"/phones/{FRONT}", {"name": "Desk 1 01"}), 200)
    assert await found(office.admin, "1 01") == ([], [FRONT], "phones")
    assert await found(office.admin, "10 elsewhere") == ([], [], None)


async def test_hostile_texts_are_refused_or_answered_soon(office: Office) -> None:
    body = {"first_name": "a" * 255, "last_name": "a" * 255, "email": f"{'a' * 60}@example.com"}
    data_of(await office.admin.put(f"/users/{office.bob.uuid}", body), 200)
    for q, status in (
        ("a" * 254 + "b", 200),
        (" ".join(["a" * 14 + "b"] * 16), 200),
        ("\N{ARABIC LIGATURE SALLALLAHOU ALAYHE WASALLAM}" * 100, 200),
        ("\N{COMBINING DOT BELOW}\N{COMBINING ACUTE ACCENT}" * 100, 422),
        ("b " * 17, 422),
        ("a" * 256, 422),
        ("a" * 2100, 400),
    ):
        began = time.process_time()
        reply = await office.admin.get("/search", q=q)
        assert reply.status_code == status, q
        assert time.process_time() - began < 1
    ids = [office.bob.uuid] * 1001
    error_of(await office.admin.post("/numbers", {"of": "users", "ids": ids}), 422, "invalid")
    ids = ["x" * 300]
    error_of(await office.admin.post("/numbers", {"of": "users", "ids": ids}), 422, "invalid")


async def test_page_and_search_cost_the_same_queries_for_any_number_of_rows(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[object] = []

    def count(connection: type[Any], method: str) -> None:
        fetch = getattr(connection, method)

        def counted(self: Any, *query: Any, **values: Any) -> Any:
            reads.append(query)
            return fetch(self, *query, **values)

        monkeypatch.setattr(connection, method, counted)

    for connection in (SqliteReadConnection, PostgresReadConnection):
        for method in ("fetch_all", "fetch_one"):
            count(connection, method)

    async def cost(caller: Caller, of: str, ids: list[str]) -> int:
        reads.clear()
        await numbers(caller, of, *ids)
        return len(reads)

    async def searched(caller: Caller, q: str) -> int:
        reads.clear()
        await found(caller, q)
        return len(reads)

    callers = (office.admin, office.helper)
    await office.log_in(FRONT, office.bob)
    few = {
        "phones": [LAB],
        "users": [office.zoe.uuid],
        "profiles": office.profiles[:1],
        "extensions": office.extensions[:1],
    }
    before = [[await cost(one, of, ids) for of, ids in few.items()] for one in callers]
    search_before = [await searched(one, "10") for one in callers]
    many: dict[str, list[str]] = {of: [*ids] for of, ids in few.items()}
    for number in range(PAGE):
        user = await office.api.account(f"a101-{number}") if number < 4 else office.bob
        many["users"].append(user.uuid)
        many["extensions"].append(await office.extension(f"101{number:02}", user))
        phone = {"mac": f"001bd41100{number:02x}", "name": f"Phone {number}", "location": "Berlin"}
        many["phones"].append(data_of(await office.admin.post("/phones", phone), 201)["mac"])
        await office.log_in(many["phones"][-1], user)
        profile = {"user_uuid": user.uuid, "name": "Desk", "cnf_xml": "<device/>"}
        made = data_of(await office.admin.post("/phone-profiles", profile), 201, metadata=False)
        many["profiles"].append(made["uuid"])
    assert [[await cost(one, of, ids) for of, ids in many.items()] for one in callers] == before
    assert [await searched(one, "10") for one in callers] == search_before
    # With authentication, and with the query that finds the locations of a scope.
    assert max(map(max, before)) <= 5
    assert max(search_before) <= 10
