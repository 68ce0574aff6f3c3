"""The audit trail over HTTP: its entries, and how they are read."""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from phoneprov_core.people import audit as use_cases
from phoneprov_core.people.audit import REFUSALS, WantedEntries
from support.api import PASSWORD, STRANGER, Api, Caller, data_of, error_of, opened_api
from support.log_lines import lines_of
from support.records import a_mac
from support.switch_rig import World, a_desk_phone, a_profile_of

TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
FIELDS = {
    "uuid", "at", "actor_uuid", "actor", "token", "client_ip", "request_id", "action", "resource",
    "resource_id", "changes",
}  # fmt: skip
MAC = a_mac(1)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
async def api(world: World, tmp_path: Path) -> AsyncIterator[Api]:
    proxies = {"PHONEPROV_TRUSTED_PROXIES": "127.0.0.1/32", "PHONEPROV_LEVEL_RULE": "strict"}
    async with opened_api(tmp_path, overrides=world.adapters(), **proxies) as opened:
        yield opened
        await opened.container.tasks().drain(5.0)


@pytest.fixture
async def root(api: Api) -> Caller:
    return await api.account("root", level=0)


async def entries(root: Caller, **query: Any) -> list[dict[str, Any]]:
    """The entries, newest first."""
    found: list[dict[str, Any]] = data_of(await root.get("/audit", **query))
    return found


async def test_entry_of_update_has_actor_address_request_and_values(api: Api, root: Caller) -> None:
    await root.post("/phones", {"mac": MAC, "location": "1st floor"})
    headers = {"X-Request-ID": "r-77", "X-Forwarded-For": "192.0.2.9"}
    await root.ask("PUT", f"/phones/{MAC}", json={"location": "2nd floor"}, headers=headers)

    reply = await root.get("/audit", resource="phone")

    updated, created = data_of(reply, 200, "2 audit entry(s) found")
    assert set(updated) == FIELDS
    assert updated["action"] == "phone.updated"
    assert (updated["actor_uuid"], updated["actor"]) == (root.uuid, "root")
    assert (updated["client_ip"], updated["request_id"]) == ("192.0.2.9", "r-77")
    assert updated["resource_id"] == MAC
    assert updated["changes"] == {"location": {"old": "1st floor", "new": "2nd floor"}}
    assert created["changes"]["mac"] == {"old": None, "new": MAC}


async def test_audit_filters_and_before_select_entries(api: Api, root: Caller) -> None:
    for number in range(1, 6):
        await root.post("/phones", {"mac": a_mac(number)})
    everything = await entries(root, resource="phone")
    assert [one["resource_id"] for one in everything] == [a_mac(n) for n in range(5, 0, -1)]

    first = await entries(root, resource="phone", limit=2)
    rest = await entries(root, resource="phone", before=first[-1]["uuid"])
    assert first + rest == everything
    (one,) = await entries(root, resource_id=a_mac(3))
    assert await entries(root, since=one["at"], until=one["at"]) == []
    assert one in await entries(root, since=one["at"], actor_uuid=root.uuid.upper())
    assert await entries(root, actor_uuid=STRANGER) == []
    assert {row["action"] for row in await entries(root, action="phone.created")} == {
        "phone.created"
    }


async def test_audit_invalid_filters_are_named(api: Api, root: Caller) -> None:
    bad = await root.get("/audit", since="yesterday", until="2026-13-01T00:00:00Z")
    assert set(error_of(bad, 422)) == {"since", "until"}
    assert set(error_of(await root.get("/audit", before="x"), 422)) == {"before"}
    error_of(await root.get("/audit", before=STRANGER), 404)


async def test_audit_secrets_are_not_recorded(api: Api, root: Caller) -> None:
    fields = {
        "type": "chan_pjsip", "extension": "1001", "name": "Ada", "password": "sip-secret",
        "voicemail_passcode": "97531",
    }  # fmt: skip
    made = data_of(await root.post("/extensions", fields), 201)
    await root.put(f"/extensions/{made['uuid']}", {"password": "other-secret", "name": "Grace"})
    await root.put(f"/users/{root.uuid}", {"password": "a new pass-phrase 7"})
    await root.put(f"/vendor-users/{root.uuid}", {"pin_code": "864208"})
    profile = await a_profile_of(root)

    (updated,) = await entries(root, action="extension.updated")
    assert updated["changes"] == {"password": "changed", "name": {"old": "Ada", "new": "Grace"}}
    (user,) = await entries(root, action="user.updated")
    assert user["changes"] == {"password": "changed"}
    (created,) = await entries(root, action="profile.created", resource_id=profile)
    assert created["changes"]["revision"] == {"old": None, "new": 1}
    text = str(await entries(root))
    for secret in ("sip-secret", "other-secret", "97531", "pass-phrase", "864208", "<device"):
        assert secret not in text


async def test_audit_failed_and_locked_logins_are_recorded_and_logged(
    api: Api, root: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "phoneprov.logins")
    guess = {"username": "root", "password": "not it"}
    headers = {"X-Forwarded-For": "198.51.100.7"}
    for _ in range(6):
        await api.anonymous.ask("POST", "/auth/login", json=guess, headers=headers)
    unknown = {"username": "typed-password", "password": "x"}
    await api.anonymous.post("/auth/login", unknown)

    failed = await entries(root, action="login.failed")
    assert [one["resource_id"] for one in failed] == [None, *[root.uuid] * 5]
    assert {one["client_ip"] for one in failed[1:]} == {"198.51.100.7"}
    assert {one["actor"] for one in failed} == {None, "root"}
    assert {one["actor_uuid"] for one in failed} == {None}
    (locked,) = await entries(root, action="login.locked")
    assert locked["resource_id"] == root.uuid
    assert 0 < locked["changes"]["seconds"]["new"] <= 30
    assert "typed-password" not in str(await entries(root))
    lines = [
        (one.getMessage(), one.__dict__["fields"]["client_ip"])
        for one in caplog.records
        if one.name == "phoneprov.logins"
    ]
    assert lines == [
        *[("login failed", "198.51.100.7")] * 5,
        ("login locked", "198.51.100.7"),
        ("login failed", "127.0.0.1"),
    ]


async def test_audit_login_and_logout_are_recorded(api: Api, root: Caller) -> None:
    ada = await api.account("ada")
    login = {"username": "ada", "password": PASSWORD}
    token = data_of(await api.anonymous.post("/auth/login", login))["refreshToken"]
    await ada.post("/auth/logout", {"refresh_token": token})
    await ada.post("/auth/logout", {})
    succeeded = await entries(root, action="login.succeeded", actor_uuid=ada.uuid)
    assert [one["actor"] for one in succeeded] == ["ada", "ada"]
    ended = await entries(root, action="session.ended")
    assert {(one["actor_uuid"], one["resource_id"]) for one in ended} == {(ada.uuid, ada.uuid)}
    assert [one["changes"]["sessions"]["new"] for one in ended] == ["all", "one"]
    data_of(await api.anonymous.post("/auth/login", login))
    data_of(await root.put(f"/users/{ada.uuid}", {"password": "another good one"}))
    newest = (await entries(root, action="session.ended"))[0]
    assert (newest["actor_uuid"], newest["resource"]) == (root.uuid, "session")


async def test_audit_reused_refresh_token_is_recorded(api: Api, root: Caller) -> None:
    login = {"username": "root", "password": PASSWORD}
    token = data_of(await api.anonymous.post("/auth/login", login))["refreshToken"]
    for status, count in ((200, 0), (401, 1)):
        reply = await api.anonymous.post("/auth/refresh", {"refresh_token": token})
        assert reply.status_code == status
        assert len(await entries(root, action="session.reused")) == count
    (reused,) = await entries(root, action="session.reused")
    assert reused["resource_id"] == root.uuid


async def test_audit_refusals_are_recorded_with_a_limit_per_account(api: Api, root: Caller) -> None:
    ada, bob = await api.account("ada"), await api.account("bob")
    for _ in range(REFUSALS.most + 5):
        assert (await ada.get("/users")).status_code == 403
    await bob.get(f"/personal-directory/{root.uuid}")
    await bob.get("/audit")
    refused = await entries(root, action="access.refused", actor_uuid=ada.uuid)
    assert len(refused) == REFUSALS.most
    assert {one["resource_id"] for one in refused} == {"GET /api/v1/users"}
    bobs = await entries(root, action="access.refused", actor_uuid=bob.uuid)
    assert [one["resource_id"] for one in bobs] == [
        "GET /api/v1/audit",
        "GET /api/v1/personal-directory/{user_uuid}",
    ]


async def test_audit_switch_is_recorded_with_its_outcome(api: Api, root: Caller) -> None:
    await a_desk_phone(root, mac=MAC, phone_ip="10.0.0.1")
    profile = await a_profile_of(root)
    wanted = {"profile_uuid": profile, "mac": MAC}
    data_of(await root.post("/phone-profiles/switch", wanted), metadata=False)
    (switched,) = await entries(root, action="phone.switched")
    assert switched["resource_id"] == MAC
    changes = {field: change["new"] for field, change in switched["changes"].items()}
    assert changes["profile_uuid"] == profile
    assert (changes["revision"], changes["outcome"], changes["restart"]) == (1, "deployed", "ok")
    (begun,) = await entries(root, action="deployment.created")
    assert begun["resource_id"] == changes["deployment_uuid"]
    assert begun["request_id"] == switched["request_id"]


async def test_audit_deleted_phone_records_flag_and_kems(api: Api, root: Caller) -> None:
    await root.post("/phones", {"mac": MAC})
    await root.put(f"/vendor-phones/{MAC}", {"vendor": True})
    kem = data_of(await root.post("/vendor-kem", {"connected_phone": MAC}), 201)
    headers = {"X-Request-ID": "gone"}
    await root.ask("DELETE", f"/phones/{MAC}", headers=headers)
    of_request = [one for one in await entries(root) if one["request_id"] == "gone"]
    assert [one["action"] for one in of_request] == [
        "kem.updated",
        "vendor_phone.deleted",
        "phone.deleted",
    ]
    assert of_request[0]["resource_id"] == kem["uuid"]
    assert of_request[0]["changes"] == {"connected_phone": {"old": MAC, "new": None}}


async def test_audit_background_batch_is_recorded_with_its_request(
    api: Api, root: Caller, world: World
) -> None:
    await a_desk_phone(root, mac=MAC, phone_ip="10.0.0.1")
    profile = await a_profile_of(root)
    headers = {"X-Request-ID": "floor-2", "traceparent": TRACEPARENT}
    with lines_of("phoneprov") as lines:
        body = {"action": "switch", "profile_uuid": profile, "macs": [MAC]}
        reply = await root.ask("POST", "/batches", json=body, headers=headers)
        batch = data_of(reply, 202)
        async with asyncio.timeout(60):
            while True:
                if any(line["event"] == "batch" for line in lines):
                    break
                await asyncio.sleep(0.02)
    of_batch = [one for one in await entries(root) if one["request_id"] == "floor-2"]
    assert {one["action"] for one in of_batch} == {
        "batch.created",
        "deployment.created",
        "phone.switched",
        "batch.finished",
    }
    (switched,) = [one for one in of_batch if one["action"] == "phone.switched"]
    assert (switched["actor_uuid"], switched["actor"]) == (root.uuid, "root")
    events = {line["event"] for line in lines if line.get("request_id") == "floor-2"}
    assert events >= {"request", "deployment", "batch"}
    for line in lines:
        if line.get("request_id") == "floor-2":
            assert line["traceparent"] == TRACEPARENT
            assert line["client_ip"] == "127.0.0.1"
    async with api.database.read() as tx:
        found = await tx.audit.newest(WantedEntries(resource_id=batch["uuid"]), 9)
    assert {one.traceparent for one in found} == {TRACEPARENT}


async def test_search_finds_words_of_all_parts_and_continues_where_it_stopped(
    root: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(use_cases, "MOST_COMPARED", 4)
    monkeypatch.setattr(use_cases, "_PIECE", 2)
    for number, place in enumerate(("2nd Floor", "Annex", "Annex", "Annex", "2nd floor"), 1):
        await root.post("/phones", {"mac": a_mac(number), "location": place})

    reply = await root.get("/audit", q="ROOT 2nd floor", resource="phone")
    (found,) = data_of(reply, 200, "1 audit entry(s) found")
    assert found["resource_id"] == a_mac(5)
    stopped = reply.json()["metadata"]["searched_to"]
    reply = await root.get("/audit", q="ROOT 2nd floor", resource="phone", before=stopped)
    (found,) = data_of(reply, 200)
    assert found["resource_id"] == a_mac(1)
    assert [one["resource_id"] for one in await entries(root, q=a_mac(3))] == [a_mac(3)]
    reply = await root.get("/audit", q="created", limit=1)
    assert reply.json()["metadata"] == {"searched_to": reply.json()["data"][0]["uuid"]}
    assert await entries(root, q="nowhere", resource="phone", resource_id=a_mac(1)) == []
