"""Locations: which phones a change concerns, and what the exchange gets."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from phoneprov_core.features.desks.records import DeskUse
from phoneprov_core.inventory.locations import Locations
from phoneprov_core.kernel.errors import Unavailable
from support.api import Api, Caller, data_of, error_of, opened_api
from support.records import moment

TOKEN = "a service token of Asterisk"
PLACE = "München; Lager & Küche = 50 %"


def mac(number: int) -> str:
    return f"00:1B:D4:12:34:{number:02}"


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[Api]:
    async with opened_api(
        tmp_path,
        PHONEPROV_ASTERISK_TOKEN=TOKEN,
        PHONEPROV_ASTERISK_PJSIP="on",
        PHONEPROV_ASTERISK_LANGUAGES="de",
    ) as opened:
        yield opened


async def asked(api: Api, table: str, name: str, kind: str) -> list[str]:
    """The options of this kind in the answer that Asterisk gets."""
    key = "id" if table.startswith("ps_") else "name"
    headers = {"Authorization": f"Bearer {TOKEN}"}
    reply = await api.client.post(f"/asterisk/{table}/single", data={key: name}, headers=headers)
    return [value for option, value in parse_qsl(reply.text, strict_parsing=True) if option == kind]


async def device(api: Api, number: int) -> list[str]:
    return await asked(api, "sccpdevice", f"SEP{mac(number).replace(':', '')}", "setvar")


async def endpoint(api: Api, number: str = "101") -> list[str]:
    return await asked(api, "ps_endpoints", number, "set_var")


async def located(admin: Caller, name: str, **fields: Any) -> dict[str, Any]:
    made: dict[str, Any] = (await admin.post("/locations", {"name": name, **fields})).json()
    return made


async def a_phone(admin: Caller, number: int, location: str | None, **fields: Any) -> None:
    body = {"mac": mac(number), "location": location, **fields}
    data_of(await admin.post("/phones", body), 201)


async def test_change_names_the_phones_that_have_other_values(api: Api, admin: Caller) -> None:
    await a_phone(admin, 1, "Berlin/3/301")
    await a_phone(admin, 2, "berlin / 4")
    await a_phone(admin, 3, "Berlin/4", software_type="SIP")
    await a_phone(admin, 4, "Berlin/4", is_active=False)
    await a_phone(admin, 5, "Berlin 4")
    await a_phone(admin, 6, None)

    berlin = await located(admin, "Berlin", emergency_number="+493012345")
    assert berlin["metadata"] == {"phones": [mac(1), mac(2)]}
    third = await located(admin, "Berlin/3", emergency_number="+493099999", emergency_place="3")
    assert third["metadata"] == {"phones": [mac(1)]}
    path = f"/locations/{berlin['data']['uuid']}"
    changed = (await admin.put(path, {"emergency_number": "+493055555"})).json()
    assert changed["metadata"] == {"phones": [mac(2)]}
    assert (await admin.put(path, {"emergency_number": "+493055555"})).json()["metadata"] == {}
    moved = (await admin.put(path, {"name": "Berlin 4"})).json()
    assert moved["metadata"] == {"phones": [mac(2), mac(5)]}
    gone = (await admin.delete(f"/locations/{third['data']['uuid']}")).json()
    assert (gone["message"], gone["metadata"]) == ("Location deleted", {"phones": [mac(1)]})


async def test_phone_that_moves_is_named_if_it_has_other_values(api: Api, admin: Caller) -> None:
    await located(admin, "Berlin", emergency_number="+493012345")
    await located(admin, "Leipzig", emergency_number="+4934112345")
    await a_phone(admin, 1, "Berlin/3")
    await a_phone(admin, 2, "Berlin", software_type="SIP")

    async def moved(number: int, **fields: Any) -> Any:
        reply = await admin.put(f"/phones/{mac(number)}", fields)
        data_of(reply)
        return reply.json()["metadata"]

    named = {"phones": [mac(1)]}
    assert await moved(1, location="berlin / 4") == {}
    assert await moved(1, location="Leipzig", name="Desk") == named
    assert await moved(1, name="Hall") == {}
    assert await moved(1, location=None) == named
    assert await moved(2, location="Leipzig") == {}
    assert await moved(1, location="Leipzig", is_active=False) == {}
    missing = await admin.put("/phones/001bd4999999", {"location": "Leipzig"})
    assert missing.status_code == 404
    assert (await admin.get("/locations", x="1")).status_code == 422


async def test_name_is_unique_without_regard_to_case(api: Api, admin: Caller) -> None:
    await located(admin, "Straße/ü")
    refused = error_of(await admin.post("/locations", {"name": "STRASSE / u\u0308"}), 409)
    assert list(refused) == ["name"]


async def test_place_that_asterisk_would_cut_is_refused(api: Api, admin: Caller) -> None:
    most = "\U0001d11e" * 127 + "xyz"  # 511 bytes
    made = await located(admin, "A", emergency_place=most)
    assert made["data"]["emergency_place"] == most
    path = f"/locations/{made['data']['uuid']}"
    refused = error_of(await admin.put(path, {"emergency_place": f"{most}x"}), 422)
    assert refused["emergency_place"].startswith("must be at most 511 bytes in UTF-8")


async def test_device_has_the_values_of_its_location_before_its_buttons(
    api: Api, admin: Caller
) -> None:
    await a_phone(admin, 1, "Berlin/3")
    body = {"type": "chan_sccp", "extension": "101", "name": "Desk", "password": "secret"}
    own = data_of(await admin.post("/extensions", body), 201)["uuid"]
    data_of(await admin.put(f"/phones/{mac(1)}/desk", {"extension_uuid": own}))
    assert await device(api, 1) == []
    lines = (await admin.get(f"/phones/{mac(1)}/lines")).json()
    assert lines["metadata"] == {}

    await located(admin, "Berlin", emergency_number="+493012345", emergency_place="elsewhere")
    await located(admin, "Berlin/3", emergency_place=PLACE)
    assert await device(api, 1) == [
        "PHONEPROV_EMERGENCY=+493012345", f"PHONEPROV_PLACE={PLACE}"
    ]  # fmt: skip
    headers = {"Authorization": f"Bearer {TOKEN}"}
    name = {"name": f"SEP{mac(1).replace(':', '')}"}
    reply = await api.client.post("/asterisk/sccpdevice/single", data=name, headers=headers)
    assert [key for key, _ in parse_qsl(reply.text)][-3:] == ["setvar", "setvar", "button"]
    lines = (await admin.get(f"/phones/{mac(1)}/lines", limit=1)).json()
    assert lines["metadata"] == {
        "total": 1, "limit": 1, "offset": 0,
        "emergency_number": "+493012345", "emergency_place": PLACE,
    }  # fmt: skip


async def test_endpoint_has_the_values_of_the_phone_of_its_user(
    api: Api, admin: Caller, ada: Caller
) -> None:
    data_of(await admin.put(f"/users/{ada.uuid}", {"lang": "de-CH"}))
    for number, (city, prefix) in enumerate((("Berlin", "30"), ("Leipzig", "341")), start=1):
        await located(admin, city, emergency_number=f"+49{prefix}112", emergency_place=city)
        await a_phone(admin, number, f"{city}/1", software_type="SIP")
    await a_phone(admin, 3, "Leipzig", software_type="SCCP")
    await a_phone(admin, 4, "Leipzig", software_type="SIP", is_active=False)
    body = {"type": "chan_pjsip", "extension": "101", "name": "Ada", "password": "secret"}
    extension = data_of(await admin.post("/extensions", body), 201)["uuid"]
    link = {"user_uuid": ada.uuid, "extension_uuid": extension}
    assert await endpoint(api) == []
    data_of(await admin.post("/user-extensions", link), 201)
    assert await endpoint(api) == []

    berlin = ["PHONEPROV_EMERGENCY=+4930112", "PHONEPROV_PLACE=Berlin"]
    leipzig = ["PHONEPROV_EMERGENCY=+49341112", "PHONEPROV_PLACE=Leipzig"]

    async def use(number: int, user: str | None) -> None:
        async with api.container.database().write() as tx:
            state = await tx.desks.at(mac(number))
            assert state is not None
            await tx.desks.put(state.desk.used(DeskUse(user), moment(1)))

    async def stated(number: int) -> str | None:
        metadata = (await admin.get(f"/phones/{mac(number)}/lines")).json()["metadata"]
        found: str | None = metadata.get("emergency_place")
        return found

    assert await stated(1) == "Berlin"  # without a number of chan_pjsip
    await use(1, ada.uuid)
    await use(3, ada.uuid)  # an SCCP phone has no endpoint
    await use(4, ada.uuid)
    assert await endpoint(api) == berlin
    assert await stated(1) == "Berlin"
    await use(2, ada.uuid)
    assert await endpoint(api) == []  # at two phones: never a guess
    assert (await stated(1), await stated(2)) == (None, None)
    await use(1, None)
    assert await endpoint(api) == leipzig
    assert (await stated(1), await stated(2)) == ("Berlin", "Leipzig")
    assert await asked(api, "ps_aors", "101", "set_var") == []
    [section] = [
        section.text
        async for section in api.container.transfer().asterisk(
            api.container.use_cases().system_actor(), "chan_pjsip", with_secrets=True
        )
    ]
    # The snapshot says of the endpoint what Asterisk gets when it asks.
    headers = {"Authorization": f"Bearer {TOKEN}"}
    reply = await api.client.post(
        "/asterisk/ps_endpoints/single", data={"id": "101"}, headers=headers
    )
    (_, named), *options = parse_qsl(reply.text, strict_parsing=True)
    assert ("language", "de") in options
    assert ("set_var", "PHONEPROV_PLACE=Leipzig") in options
    lines = [f"[{named}]", "type = endpoint", *(f"{name} = {value}" for name, value in options)]
    assert section.startswith("\n".join([*lines, "", ""]))


async def test_change_that_is_stored_is_answered_although_the_database_is_away_then(
    admin: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: Any) -> list[str]:
        raise Unavailable("The database cannot be used right now; try again later.")

    data_of(await admin.post("/phones", {"mac": mac(1), "location": "Berlin"}), 201)
    monkeypatch.setattr(Locations, "moved", away)
    monkeypatch.setattr(Locations, "showing", away)

    moved = data_of(await admin.put(f"/phones/{mac(1)}", {"location": "Leipzig"}))
    made = data_of(await admin.post("/locations", {"name": "Leipzig"}), 201)

    assert (moved["location"], made["name"]) == ("Leipzig", "Leipzig")
