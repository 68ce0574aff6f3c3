"""Secrets that a caller may not read cannot be guessed from what the caller is shown."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from phoneprov_adapters.memory.system import PlainHasher
from support.api import Api, Caller, data_of, opened_api
from support.phone_records import a_fetch
from support.switch_rig import World

MAC = "00:1B:D4:00:00:45"
PROFILES = "/phone-profiles"
BODY = """<device>
<sshPassword>5508</sshPassword>
<servicesURL>http://user:5508@10.0.0.2/</servicesURL>
{% for line in lines %}<mine>{{ line.password }}</mine>{% endfor %}
<hint>{{ values.hint | default("") }}</hint>
</device>"""
GUESSES = "".join(
    f"<p><password>{number}</password><n>{number}</n></p>\n" for number in range(5500, 5510)
)
TYPED = (
    f"<device>\n{GUESSES}<servicesURL>http://user:5508@10.0.0.2/</servicesURL>\n"
    "<mine>7391</mine>\n</device>"
)


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[Api]:
    adapters = {**World().adapters(), "hasher": PlainHasher()}
    async with opened_api(tmp_path, database_kind="memory", overrides=adapters) as opened:
        yield opened


async def an_office(api: Api) -> tuple[Caller, Caller, str]:
    """Level 0, and a user with a line whose profile, made by level 0, has a template; it is on a
    phone."""
    admin, ada = await api.account("admin", level=0), await api.account("ada")
    phone = {"mac": MAC, "model": "CP-7945G", "phone_ip": "10.20.30.45"}
    data_of(await admin.post("/phones", phone), 201)
    line = {"type": "chan_sccp", "extension": "1001", "name": "Ada", "password": "7391"}
    extension = data_of(await admin.post("/extensions", line), 201)["uuid"]
    link = {"user_uuid": ada.uuid, "extension_uuid": extension}
    data_of(await admin.post("/user-extensions", link), 201)
    data_of(await admin.post("/configuration-templates", {"name": "office", "body": BODY}), 201)
    made = await admin.post(
        PROFILES, {"user_uuid": ada.uuid, "name": "Ada", "template": "office", "values": {}}
    )
    profile = str(made.json()["data"]["uuid"])
    await ada.post(f"{PROFILES}/switch", {"profile_uuid": profile, "mac": MAC})
    return admin, ada, profile


async def preview(caller: Caller, profile: str, **typed: Any) -> dict[str, Any]:
    body = {"profile_uuid": profile, "mac": MAC, **typed}
    reply = await caller.post(f"{PROFILES}/switch/preview", body)
    assert reply.status_code == 200, reply.text
    return dict(reply.json()["data"])


async def own_profile(caller: Caller) -> str:
    body = {"user_uuid": caller.uuid, "name": "Typed", "cnf_xml": "<device/>"}
    return str((await caller.post(PROFILES, body)).json()["data"]["uuid"])


async def test_preview_of_a_typed_text_shares_no_marks_with_what_is_on_the_phone(api: Api) -> None:
    admin, ada, _ = await an_office(api)
    own = await own_profile(ada)

    shown = await preview(ada, own, cnf_xml=TYPED)

    assert not re.search(r"\*\*\*\d", shown["diff"])
    assert "7391" not in re.sub(r"^\+.*", "", shown["diff"], flags=re.MULTILINE)
    assert (shown["on_phone"]["sha256"], shown["on_phone"]["size"]) == (None, None)
    # The address of the services is the same, its login included: that is not shown either.
    other = await preview(ada, own, cnf_xml=TYPED.replace("user:5508", "user:5507"))
    assert other["needs_reset"] == shown["needs_reset"]
    # What the caller typed, the caller may read.
    assert (shown["size"], shown["changed"]) == (len(TYPED), True)
    of_level_0 = await preview(admin, own, cnf_xml=TYPED)
    assert re.search(r"\*\*\*\d", of_level_0["diff"])
    assert of_level_0["on_phone"]["size"] is not None


async def test_preview_says_nothing_of_a_text_that_differs_in_secrets_only(api: Api) -> None:
    admin, ada, _ = await an_office(api)
    own = await own_profile(ada)
    async with api.database.read() as tx:
        current = await tx.deployments.current(MAC)
        assert current is not None
        rendered = await tx.renderings.of(current)
    assert rendered is not None
    for text in (rendered.text, rendered.text.replace("<sshPassword>5508", "<sshPassword>5507")):
        shown = await preview(ada, own, cnf_xml=text)
        assert shown["changed"] is not False
    assert (await preview(admin, own, cnf_xml=rendered.text))["changed"] is False


async def test_preview_of_a_rendered_text_shows_no_hash_and_no_size(api: Api) -> None:
    admin, ada, profile = await an_office(api)

    shown = await preview(ada, profile, values={"hint": "7391"})

    assert (shown["sha256"], shown["size"]) == (None, None)
    assert not re.search(r"\*\*\*\d", shown["diff"])
    same = await preview(ada, profile)
    assert (same["changed"], same["diff"]) == (None, "")
    assert same["diff_note"] == "What is masked is not compared: it may differ."
    assert (await preview(admin, profile))["changed"] is False


async def test_hash_and_size_of_a_rendered_configuration_are_shown_to_level_0_only(
    api: Api,
) -> None:
    admin, ada, _ = await an_office(api)
    await api.container.tasks().drain(10)
    (of_admin,) = data_of(await admin.get("/deployments"), 200)
    assert of_admin["sha256"] is not None
    assert of_admin["size"] is not None
    uuid = of_admin["uuid"]
    hidden = [
        *data_of(await ada.get("/deployments"), 200),
        *data_of(await ada.get("/deployments", current=True), 200),
        data_of(await ada.get(f"/deployments/{uuid}"), 200),
        *data_of(await ada.get(f"/phones/{MAC}/deployments"), 200),
        data_of(await ada.post(f"/phones/{MAC}/rollback", {"deployment_uuid": uuid}), 200),
    ]
    assert {(one["sha256"], one["size"]) for one in hidden} == {(None, None)}

    async with api.database.write() as tx:
        await tx.fetches.add(a_fetch(1, mac=MAC))
    (fetch,) = data_of(await ada.get(f"/phones/{MAC}/fetches"), 200)
    assert fetch["bytes"] is None
    (fetch,) = data_of(await admin.get(f"/phones/{MAC}/fetches"), 200)
    assert fetch["bytes"] is not None


async def test_own_text_on_a_phone_keeps_hash_size_and_numbered_marks(api: Api) -> None:
    _, ada, _ = await an_office(api)
    own = await own_profile(ada)
    await ada.put(f"{PROFILES}/{own}", {"cnf_xml": "<d><password>1</password></d>"})
    await ada.post(f"{PROFILES}/switch", {"profile_uuid": own, "mac": MAC})

    shown = await preview(ada, own, cnf_xml="<d><password>2</password></d>")

    assert "***2" in shown["diff"]
    assert shown["on_phone"]["size"] == 29
