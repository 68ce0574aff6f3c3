"""The console in a real browser: make test-console. SCREENSHOTS names a folder for its pictures."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from browser.console_rig import Console, Phones, Service, chromium, fill
from support.polling import wait_for

expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def phones() -> Iterator[Phones]:
    with Phones(4) as running:
        yield running


@pytest.fixture(scope="module")
def service(phones: Phones, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    settings = {**phones.settings, "PHONEPROV_CONFIRM_TIMEOUT": "20"}
    with Service(tmp_path_factory.mktemp("service"), settings) as running:
        fill(running, phones)
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture
def screenshots(tmp_path: Path) -> Path:
    folder = Path(os.environ.get("SCREENSHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def console(browser: Browser, service: Service) -> Iterator[Console]:
    """Signed in as the superadmin; no page logs an error or sends a request to another host."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = Console(context, service.url)
    opened.open()
    opened.sign_in()
    opened.settled()
    opened.go("Phones")
    yield opened
    context.close()
    assert opened.complaints == []
    assert opened.hosts == {service.url.removeprefix("http://")}


@pytest.fixture(scope="module")
def work(service: Service) -> dict[str, str]:
    """Records that a day of work leaves: a template and its profile, a phone that another one
    answers for, a batch with a failure, a phone that is not in the inventory."""
    me = service.api("GET", "me")
    body = "<device>\n  <name>{{ phone.name }}</name>\n</device>\n"
    template = service.api("POST", "configuration-templates", {"name": "axe", "body": body})
    profile = service.api("POST", "phone-profiles", {
        "user_uuid": me["uuid"], "name": "Of a template", "template": "axe", "values": {"a": "b"},
    })  # fmt: skip
    order = {"profile_uuid": profile["uuid"], "mac": "00:1B:D4:00:00:01"}
    service.api("POST", "phone-profiles/switch", order)
    changed = {"body": body.replace("name }}", "name|upper }}")}
    service.api("PUT", f"configuration-templates/{template['uuid']}", changed)
    foreign = "00:1B:D4:00:00:02"
    service.api("PUT", f"phones/{foreign}", {"phone_ip": "127.0.1.3"})
    service.look_at_phones()
    service.api("PUT", f"phones/{foreign}", {"phone_ip": "127.0.1.2"})
    far = service.api("POST", "phones", {"mac": "00:1B:D4:00:00:7F", "name": "No address"})
    batch = service.api("POST", "batches", {
        "action": "switch", "profile_uuid": profile["uuid"], "macs": [far["mac"]],
    })  # fmt: skip
    service.ask_for_file("SEP001BD4000071.cnf.xml", "127.0.1.71")
    wait_for(lambda: service.api("GET", f"batches/{batch['uuid']}")["ended_at"])
    (deployment,) = service.api("GET", "deployments?limit=1")
    return {
        "template": template["uuid"], "profile": profile["uuid"], "foreign": foreign,
        "batch": batch["uuid"], "deployment": deployment["uuid"], "user": me["uuid"],
    }  # fmt: skip
