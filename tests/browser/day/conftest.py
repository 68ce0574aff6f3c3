"""An office of 400 phones and 450 people in three places, and its operator: make test-day."""

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from browser.console_rig import PASSWORD, USERNAME, Console, Phones, Service, chromium
from phoneprov_adapters.simulator.phone import CommandReceived, SimulatedPhone
from phoneprov_core.switching.devices.commands import restart_keys
from support.ftp_servers import (
    PASSWORD as FTP_PASSWORD,
    USER as FTP_USER,
    PlainHandler,
    pyftpdlib_server,
)

expect.set_options(timeout=30_000)

PLACES = ("Berlin/2nd floor", "Berlin/3rd floor", "Potsdam")
PEOPLE, PHONES, FLOOR = 450, 400, 40
"""The phones of the first place are simulated; of the others the office has the records."""
BODY = (
    "<device>\n  <name>{{ phone.name }}</name>\n  <user>{{ user.username }}</user>\n"
    "{% for line in lines %}  <line>{{ line.number }}</line>\n{% endfor %}"
    "  <loadInformation>SCCP45.9-4-2SR3-1S</loadInformation>\n</device>\n"
)
SECONDS_OF_AN_ACT, SECONDS_OF_A_KEY = 1.5, 0.25


class Office:
    """The service with its records, the simulated phones, and the folder of the FTP server. The
    last phone is a spare one, which is not in the inventory."""

    def __init__(self, service: Service, phones: Phones, folder: Path) -> None:
        self.service, self.folder = service, folder
        self.phones = {one.mac: one for one in phones.phones}
        *self.macs, self.spare = self.phones
        self.api = service.api

    def file_of(self, mac: str) -> str:
        """The configuration of a phone on the FTP server; empty if it has none."""
        file = self.folder / f"SEP{mac.replace(':', '')}.cnf.xml"
        return file.read_text("utf-8") if file.exists() else ""

    def restarts_of(self, mac: str) -> int:
        """The number of restarts that the phone carried out."""
        phone: SimulatedPhone = self.phones[mac]
        commands = [one for one in phone.events if isinstance(one, CommandReceived)]
        return len(commands) // len(restart_keys(phone.model))

    def switch(self, number: int) -> str:
        """Put the profile of a person onto the desk of the same number; its MAC address."""
        mac = self.macs[number - 1]
        name = f"Desk of person{number}"
        profiles = self.api("GET", f"phone-profiles?q={name.replace(' ', '%20')}")
        (uuid,) = [one["uuid"] for one in profiles if one["name"] == name]
        self.api("POST", "phone-profiles/switch", {"profile_uuid": uuid, "mac": mac})
        return mac

    def person(self, username: str) -> Any:
        """The record of a person."""
        (found,) = [one for one in self.api("GET", "users") if one["username"] == username]
        return found


def fill(service: Service, phones: Phones) -> None:
    service.log_in()
    simulated = [(one.mac, one.model, one.host) for one in phones.phones[:FLOOR]]
    others = [
        (f"00:1B:D4:01:{n >> 8:02X}:{n & 255:02X}", "CP-7945G", "") for n in range(PHONES - FLOOR)
    ]
    rows = "".join(
        f"{mac},{model},SCCP,Desk {n},{PLACES[0 if host else 1 + n % 2]},{host}\n"
        for n, (mac, model, host) in enumerate([*simulated, *others], 1)
    )
    people = "".join(
        f"person{n},First{n},Last{n},person{n}@office.example,{PLACES[n % 3]}\n"
        for n in range(1, PEOPLE)
    )
    tables = {
        "phones": f"mac,model,software_type,name,location,phone_ip\n{rows}",
        "users": f"username,first_name,last_name,email,location\n{people}",
        "locations": "name,emergency_number,emergency_place\n"
        + "".join(f"{place},+4930{n}000,{place}\n" for n, place in enumerate(PLACES)),
        "extensions": "extension,type,name,password\n"
        + "".join(f"{n},chan_sccp,Line {n},secret of {n}\n" for n in range(2001, 2041)),
        "user-extensions": "username,extension\n"
        + "".join(f"person{n},{2000 + n}\n" for n in range(1, 41)),
        "company-directory": "name,work\n"
        + "".join(f"First{n} Last{n},{2000 + n}\n" for n in range(1, 41)),
        "templates": f'name,body\noffice,"{BODY}"\n',
        "profiles": "username,name,template\n"
        + "".join(f"person{n},Desk of person{n},office\n" for n in range(1, 41)),
    }
    for kind, csv in tables.items():
        done = service.api("POST", f"imports/{kind}", {"csv": csv})
        assert done["written"], (kind, done["rows"][:3])
    me = service.api("GET", "me")
    service.api("POST", "phone-profiles", {
        "user_uuid": me["uuid"], "name": "Vacant desk", "cnf_xml": "<device><vacant/></device>\n",
    })  # fmt: skip


@pytest.fixture(scope="session")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    folder = tmp_path_factory.mktemp("ftp")
    with pyftpdlib_server(folder, PlainHandler) as port, Phones(FLOOR + 1) as phones:
        settings = {
            **phones.settings,
            "PHONEPROV_FTP_HOST": "127.0.0.1",
            "PHONEPROV_FTP_PORT": str(port),
            "PHONEPROV_FTP_USER": FTP_USER,
            "PHONEPROV_FTP_PASSWORD": FTP_PASSWORD,
            "PHONEPROV_CONFIRM_TIMEOUT": "20",
            "PHONEPROV_BODY_MAX": "4194304",
        }
        with Service(tmp_path_factory.mktemp("service"), settings) as service:
            fill(service, phones)
            yield Office(service, phones, folder)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


class Operator:
    """Acts in the console by roles and labels alone, and counts acts, keys and waits."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.page: Page = console.page
        self.acts = self.keys = 0
        self.waited = 0.0

    def _find(self, role: str, name: str | re.Pattern[str], within: Locator | None) -> Locator:
        where: Any = self.page if within is None else within
        exact = isinstance(name, str)
        return where.get_by_role(role, name=name, exact=exact).first

    def press(
        self, name: str | re.Pattern[str], role: str = "button", within: Locator | None = None
    ) -> Self:
        """Press a button, or another element with a role."""
        self._act(lambda: self._find(role, name, within).click())
        return self

    def follow(self, name: str | re.Pattern[str], within: Locator | None = None) -> Self:
        """Follow a link."""
        return self.press(name, "link", within)

    def go(self, name: str) -> Self:
        """Follow a link of the navigation."""
        self._act(lambda: self.console.go(name))
        return self

    def fill(self, label: str | re.Pattern[str], text: str, keys: int | None = None) -> Self:
        """Type into a field: the whole text, or ``keys`` of it."""
        self.keys += len(text) if keys is None else keys
        self._act(lambda: self._labelled(label).fill(text))
        return self

    def choose(self, label: str | re.Pattern[str], option: str | re.Pattern[str]) -> Self:
        """Choose an option of a list by its text, or by a part of it."""

        def choose() -> None:
            field = self._labelled(label)
            if isinstance(option, str):
                field.select_option(label=option)
                return
            found = field.locator("option").filter(has_text=option)
            expect(found.first).to_be_attached()
            field.select_option(value=found.first.get_attribute("value") or "")

        self._act(choose)
        return self

    def unfold(self, title: str) -> Self:
        """Show what is folded below this title."""
        self._act(lambda: self.page.get_by_text(title, exact=True).click())
        return self

    def attach(self, label: str, name: str, kind: str, content: bytes) -> Self:
        """Choose a file for a field."""
        file: Any = {"name": name, "mimeType": kind, "buffer": content}
        self._act(lambda: self._labelled(label).set_input_files(file))
        return self

    def _labelled(self, label: str | re.Pattern[str]) -> Locator:
        return self.page.get_by_label(label, exact=isinstance(label, str)).first

    def see(self, text: str | re.Pattern[str]) -> Self:
        """Wait until the page says this."""
        began = time.monotonic()
        expect(self.page.get_by_text(text).first).to_be_visible()
        self.waited += time.monotonic() - began
        return self

    def find(self, text: str) -> Self:
        """Search in the bar above, and take the person or phone of this name."""
        box = self.page.get_by_role("banner").get_by_role("combobox")
        self.keys += len(text)
        self._act(lambda: box.fill(text))
        named = self.page.get_by_text(text, exact=True)
        self._act(lambda: self.page.get_by_role("option").filter(has=named).first.click())
        self.console.settled()
        return self

    def _act(self, act: Any) -> None:
        self.acts += 1
        began = time.monotonic()
        act()
        self.waited += time.monotonic() - began

    def seconds(self) -> float:
        """About the time of a person: acts, keys, and the waits of this machine."""
        return self.acts * SECONDS_OF_AN_ACT + self.keys * SECONDS_OF_A_KEY + self.waited


@pytest.fixture
def operator(
    browser: Browser, office: Office, request: pytest.FixtureRequest, capsys: Any
) -> Iterator[Operator]:
    """Signed in as the superadmin. Prints the stopwatch; no page logs an error."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, accept_downloads=True)
    console = Console(context, office.service.url)
    console.open()
    console.sign_in(USERNAME, PASSWORD)
    console.settled()
    yield (acting := Operator(console))
    if getattr(request.node, "failed", False):
        print(console.page.locator("main").aria_snapshot())  # noqa: T201
    context.close()
    name = request.node.name.removeprefix("test_").split("_")[0]
    with capsys.disabled():
        print(  # noqa: T201
            f"\n{name}: {acting.acts} acts, {acting.keys} keys, {acting.waited:.1f} s of waits; "
            f"about {acting.seconds():.0f} s of a person"
        )
    assert console.complaints == []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    report = yield
    if report.when == "call":
        item.failed = report.failed  # type: ignore[attr-defined]
    return report
