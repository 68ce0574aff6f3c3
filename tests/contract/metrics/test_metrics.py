"""Metrics: access, counts, and the files in ``deploy`` that use them."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from faults.served import Served as Workers, free_port
from phoneprov_adapters import metrics as counters
from phoneprov_adapters.memory.database import MemoryDatabase
from phoneprov_adapters.metrics import FOLDER, Exposition, shared_counts
from phoneprov_core.features.serving.model import Fetch, FetchResult, Transport
from phoneprov_core.switching.deployments.model import Confirmation, Outcome, StepName
from phoneprov_http.errors import bearers_of
from phoneprov_http.front import Front
from phoneprov_http.main.server.metrics import Metrics
from support.phone_records import a_deployment, a_phone
from support.records import a_mac, identifier
from support.scale import long_only
from support.served import served

TOKEN = "a service token of the tests"
DEPLOY = Path(__file__).parents[3] / "deploy"

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def samples(text: str) -> Samples:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def _expose() -> bytes:
    return b"figures"


async def _app(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"the application"})


def asked(metrics: Metrics, path: str = "/metrics", **request: Any) -> httpx.Response:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app=metrics)
        async with httpx.AsyncClient(transport=transport, base_url="http://h:8123") as client:
            return await client.request(request.pop("method", "GET"), path, **request)

    return asyncio.run(ask())


async def is_token(scope: Any) -> bool:
    return bearers_of(scope["headers"]) == [TOKEN.encode()]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (f"Bearer {TOKEN}", 200),
        (f"bearer {TOKEN}", 200),
        (f"Bearer {TOKEN}x", 401),
        (f"Bearer {TOKEN[:-1]}", 401),
        (f"Basic {TOKEN}", 401),
        ("Bearer", 401),
        ("Bearer \xe9", 401),
        (None, 401),
    ],
)
def test_metrics_require_their_token(sent: str | None, status: int) -> None:
    headers = {} if sent is None else {"Authorization": sent.encode("latin-1")}

    reply = asked(Metrics(_app, _expose, token=is_token), headers=headers)

    assert reply.status_code == status
    assert (reply.text == "figures") == (status == 200)
    if status == 401:
        assert reply.headers["www-authenticate"] == "Bearer"
        assert reply.json()["error"]["code"] == "unauthenticated"
        assert reply.headers["x-request-id"] == reply.json()["error"]["request_id"]


def test_metrics_without_token_or_listener_are_served_by_the_application() -> None:
    assert asked(Metrics(_app, _expose)).text == "the application"


def test_metrics_other_methods_are_refused() -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    reply = asked(Metrics(_app, _expose, token=is_token), method="POST", headers=headers)
    assert (reply.status_code, reply.headers["allow"]) == (405, "GET, HEAD")


def test_metrics_listener_needs_no_token_and_serves_nothing_else() -> None:
    metrics = Metrics(_app, _expose, token=is_token, port=8123)
    assert asked(metrics).text == "figures"
    assert asked(metrics, "/api/v1/me").status_code == 404


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_metrics_request_is_observed_with_its_template(method: str) -> None:
    seen: list[tuple[object, ...]] = []

    async def routed(scope: Any, receive: Any, send: Any) -> None:
        scope["path_template"] = "/phones/{mac}"
        await _app(scope, receive, send)

    metrics = Metrics(Front(routed), _expose, lambda *what: seen.append(what[:3]), token=is_token)
    reply = asked(metrics, "/phones/001BD4123456", method=method)
    asked(metrics)

    assert bool(reply.content) == (method == "GET")
    assert seen == [(method, "/phones/{mac}", 200)]


async def test_exposition_without_database_reports_it_down() -> None:
    database = MemoryDatabase()
    await database.close()

    found = samples((await Exposition(database)()).decode())

    assert found["phoneprov_database_up", ()] == 0
    assert not [name for name, _ in found if name.startswith("phoneprov_phones")]


async def test_exposition_shows_records_by_state() -> None:
    database = MemoryDatabase()
    async with database.write() as tx:
        await tx.phones.add(a_phone(1))
        await tx.phones.add(a_phone(2, is_active=False))
        await tx.directory_keys.finished("ad", 1_700_000_000_250)
        await tx.directory_keys.finished("entra", 1_600_000_000_000)

    found = samples((await Exposition(database)()).decode())

    assert found["phoneprov_database_up", ()] == 1
    assert found["phoneprov_phones", (("state", "active"),)] == 1
    assert found["phoneprov_phones", (("state", "inactive"),)] == 1
    assert found["phoneprov_hotdesk_sessions", ()] == 0
    fleet = {dict(labels)["state"]: n for (name, labels), n in found.items() if "fleet" in name}
    assert {state: number for state, number in fleet.items() if number} == {"never_seen": 1}
    last = "phoneprov_sync_last_success_timestamp_seconds"
    assert found[last, (("source", "ad"),)] == 1_700_000_000.25
    assert found[last, (("source", "entra"),)] == 1_600_000_000


@asynccontextmanager
async def adding(expected: Samples) -> AsyncIterator[None]:
    """What is done meanwhile adds these numbers to the counters."""

    async def counted() -> Samples:
        return samples((await Exposition(MemoryDatabase())()).decode())

    before = await counted()
    yield
    after = await counted()
    assert {name: after[name] - before.get(name, 0) for name in expected} == expected


async def test_counters_deployment_counts_once_and_its_confirmation_once() -> None:
    deployment = a_deployment(
        1, a_mac(1), outcome=Outcome.DEPLOYED, ended_at="2026-01-31T00:00:03.000Z"
    )
    failed = msgspec.structs.replace(
        deployment, outcome=Outcome.FAILED, failed_step=StepName.UPLOAD
    )
    awaited = msgspec.structs.replace(deployment, confirmation=Confirmation.PENDING)
    seen = msgspec.structs.replace(deployment, confirmation=Confirmation.CONFIRMED)
    outcomes = [
        (("outcome", "failed"), ("step", "upload")),
        (("outcome", "deployed"), ("step", "")),
    ]
    confirmed = ("phoneprov_deployment_confirmations_total", (("confirmation", "confirmed"),))
    async with adding(
        {
            **{("phoneprov_deployments_total", labels): 1 for labels in outcomes},
            confirmed: 1,
            ("phoneprov_deployment_duration_seconds_count", ()): 2,
        }
    ):
        for one in (failed, awaited, seen):
            counters.journal_deployment(one)


async def test_counters_fetch_is_counted_by_transport_and_result() -> None:
    fetch = Fetch(
        uuid=identifier(1),
        mac=a_mac(1),
        name="SEP001BD4000001.cnf.xml",
        transport=Transport.TFTP,
        client_ip="10.0.0.1",
        result=FetchResult.REFUSED,
        bytes=0,
        duration_ms=1,
        created_at="2026-01-31T00:00:00.000Z",
    )
    labels = (("result", "refused"), ("transport", "tftp"))

    async with adding({("phoneprov_config_fetches_total", labels): 1}):
        counters.count_fetch(fetch)
    async with adding({("phoneprov_unrecorded_fetches_total", ()): 3}):
        counters.count_unrecorded(3)


def test_metrics_service_has_bounded_labels(tmp_path: Path) -> None:
    """Requests for many records make no more series than a request for one."""
    with (
        served(tmp_path, {"PHONEPROV_METRICS_TOKEN": TOKEN}) as service,
        httpx.Client(base_url=service.url) as client,
    ):
        for number in range(5):
            client.get(f"/api/v1/phones/{a_mac(number)}")
            client.get(f"/nowhere/{number}")
            client.request(f"METHOD{number}", "/api/v1/me")
        assert client.get("/metrics").status_code == 401
        reply = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert reply.headers["content-type"].startswith("text/plain")
    found = {
        labels: value
        for (name, labels), value in samples(reply.text).items()
        if name == "phoneprov_http_requests_total"
    }
    phones = [dict(labels) for labels in found if "mac" in dict(labels)["route"]]
    assert [one["route"] for one in phones] == ["/api/v1/phones/{mac}"]
    assert {dict(labels)["method"] for labels in found} <= {"GET", "POST", "other"}
    assert not re.search(r"[0-9A-F]{2}(:[0-9A-F]{2}){5}", reply.text)


_COUNT = """
from phoneprov_adapters.metrics import count_request
count_request("GET", "/api/v1/me", 200, 0.1)
"""
_EXPOSE = """
import asyncio
from phoneprov_adapters.memory.database import MemoryDatabase
from phoneprov_adapters.metrics import Exposition
print(asyncio.run(Exposition(MemoryDatabase())()).decode())
"""


def test_shared_counts_are_those_of_all_processes_since_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "counts"
    folder.mkdir()
    (folder / "counter_1.db").write_bytes(b"of an earlier start")
    monkeypatch.setenv(FOLDER, str(folder))

    with shared_counts():
        for script in (_COUNT, _COUNT):
            subprocess.run([sys.executable, "-c", script], check=True)
        done = subprocess.run(
            [sys.executable, "-c", _EXPOSE], check=True, capture_output=True, text=True
        )

    labels = (("method", "GET"), ("route", "/api/v1/me"), ("status", "200"))
    assert samples(done.stdout)["phoneprov_http_requests_total", labels] == 2


def test_shared_counts_without_a_named_folder_leave_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FOLDER, raising=False)
    with shared_counts():
        folder = Path(os.environ[FOLDER])
        assert folder.stat().st_mode & 0o777 == 0o700
        assert list(folder.iterdir()) == []
    assert FOLDER not in os.environ
    assert not folder.exists()


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Workers]:
    service = Workers(
        tmp_path,
        workers=2,
        PHONEPROV_METRICS_PORT=str(free_port()),
    )
    yield service
    service.kill()


@long_only
async def test_metrics_of_two_workers_are_one(workers: Workers) -> None:
    """Any worker returns the counts of both."""
    await asyncio.to_thread(workers.start)
    url = f"http://127.0.0.1:{workers.environment['PHONEPROV_METRICS_PORT']}"
    labels = (("method", "GET"), ("route", "/api/v1/me"), ("status", "401"))
    async with workers.lines(2) as lines, httpx.AsyncClient() as client:
        for line in lines:
            for _ in range(3):
                assert (await line.ask("GET", "/me")).status == 401
        counts = set()
        for _ in range(6):
            reply = await client.get(f"{url}/metrics", headers={"Connection": "close"})
            assert reply.status_code == 200
            counts.add(samples(reply.text)["phoneprov_http_requests_total", labels])
        assert (await client.get(f"{url}/health/live")).status_code == 404
        assert (await client.get(f"http://127.0.0.1:{workers.port}/metrics")).status_code == 404
    assert counts == {3 * len(lines)}


def _metric_names() -> set[str]:
    text = asyncio.run(Exposition(MemoryDatabase())()).decode()
    families = list(text_string_to_metric_families(text))
    with_samples = {sample.name for family in families for sample in family.samples}
    names = set()
    for family in families:
        if family.type == "counter":
            names.add(f"{family.name}_total")
        elif family.type == "histogram":
            names |= {f"{family.name}_bucket", f"{family.name}_count", f"{family.name}_sum"}
    return with_samples | names | {
        "phoneprov_phones", "phoneprov_batches", "phoneprov_fleet", "phoneprov_drills",
        "phoneprov_sync_last_success_timestamp_seconds",
    }  # fmt: skip


def test_deploy_files_use_metrics_that_exist() -> None:
    dashboard = json.loads((DEPLOY / "grafana-dashboard.json").read_text())
    rules = yaml.safe_load((DEPLOY / "phoneprov-alerts.yml").read_text())
    expressions = [
        target["expr"] for panel in dashboard["panels"] for target in panel["targets"]
    ] + [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    used = {name for text in expressions for name in re.findall(r"phoneprov_\w+", text)}
    assert used
    assert used <= _metric_names()
    assert yaml.safe_load((DEPLOY / "prometheus.yml").read_text())["rule_files"] == [
        "phoneprov-alerts.yml"
    ]


@pytest.mark.skipif("PHONEPROV_TEST_PROMTOOL" not in os.environ, reason="make test-metrics")
def test_promtool_accepts_the_deploy_files_and_the_exposition() -> None:
    for command, folder in (
        (["check", "rules", "phoneprov-alerts.yml"], DEPLOY),
        (["check", "config", "prometheus.yml"], DEPLOY),
    ):
        subprocess.run(["promtool", *command], cwd=folder, check=True, capture_output=True)
    text = asyncio.run(Exposition(MemoryDatabase())())
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=text, check=False, capture_output=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif("PHONEPROV_TEST_PROMTOOL" not in os.environ, reason="make test-metrics")
def test_alerts_fire_for_a_stale_sync_and_for_states_of_phones(tmp_path: Path) -> None:
    """Of two directories one is synchronised every hour."""
    last, fleet = "phoneprov_sync_last_success_timestamp_seconds", "phoneprov_fleet"
    series = [
        (f'{last}{{source="ad", instance="a"}}', "0x4320"),
        (f'{last}{{source="entra", instance="a"}}', "0+60x4320"),
        (f'{fleet}{{state="unregistered"}}', "5x600 6x3720"),
        (f'{fleet}{{state="wrong_model"}}', "0x600 1x3720"),
    ]
    alerts = {
        "PhoneprovSyncStale": (48, 50, [{"severity": "warning", "source": "ad"}]),
        "PhoneprovPhonesUnregistered": (10, 13, [{"severity": "warning"}]),
        "PhoneprovPhonesOfAnotherKind": (10, 13, [{"severity": "warning"}]),
    }
    tests = [
        {"eval_time": f"{hour}h", "alertname": name,
         "exp_alerts": [{"exp_labels": labels} for labels in expected]}
        for name, (before, after, firing) in alerts.items()
        for hour, expected in ((before, []), (after, firing))
    ]  # fmt: skip
    rules = yaml.safe_load((DEPLOY / "phoneprov-alerts.yml").read_text())
    for rule in (rule for group in rules["groups"] for rule in group["rules"]):
        rule["annotations"] = {}  # promtool compares them too
    (tmp_path / "rules.yml").write_text(yaml.safe_dump(rules))
    (tmp_path / "tests.yml").write_text(
        yaml.safe_dump(
            {
                "rule_files": ["rules.yml"],
                "evaluation_interval": "5m",
                "tests": [
                    {
                        "interval": "1m",
                        "input_series": [{"series": one, "values": v} for one, v in series],
                        "alert_rule_test": tests,
                    }
                ],
            }
        )
    )
    done = subprocess.run(
        ["promtool", "test", "rules", "tests.yml"], cwd=tmp_path, check=False, capture_output=True
    )
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
