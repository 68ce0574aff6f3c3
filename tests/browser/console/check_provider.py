"""Sign-in with a provider on another site: the browser decides which cookies come back."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from browser.console_rig import ORDINARY, PASSWORD, USERNAME, Console, Service, axe_finds
from support.ftp_cut import free_ports
from support.oidc_stub import CLIENT, SECRET, OidcStub, oidc_stub


@pytest.fixture
def stub() -> Iterator[OidcStub]:
    # Another site than 127.0.0.1, where the service is.
    with oidc_stub(host="localhost") as provider:
        yield provider


@pytest.fixture
def office(tmp_path: Path, stub: OidcStub) -> Iterator[Service]:
    (port,) = free_ports(1, "127.0.0.1")
    settings = {
        "PHONEPROV_OIDC_ISSUER": stub.issuer,
        "PHONEPROV_OIDC_CLIENT_ID": CLIENT,
        "PHONEPROV_OIDC_CLIENT_SECRET": SECRET,
        "PHONEPROV_OIDC_LABEL": "Office account",
        "PHONEPROV_PUBLIC_URL": f"http://127.0.0.1:{port}",
    }
    with Service(tmp_path, settings) as service:
        service.stop()
        service.start(port)
        service.log_in()
        service.api("POST", "users", {
            "first_name": "Grace", "last_name": "Hopper", "username": ORDINARY,
            "email": "grace@example.com", "password": PASSWORD,
        })  # fmt: skip
        yield service


def test_provider_on_another_site_signs_in_with_a_strict_session(
    browser: Browser, office: Service, stub: OidcStub
) -> None:
    stub.person = {"sub": "g", "preferred_username": ORDINARY}
    console = Console(browser.new_context(), office.url)
    console.open()
    button = console.page.get_by_role("button", name="Office account")
    button.wait_for()
    assert axe_finds(console.page) == []
    button.click()
    console.page.get_by_role("banner").get_by_role("combobox").wait_for()
    console.settled()
    assert axe_finds(console.page) == []  # the overview of a person with a phone

    assert {one.partition(":")[0] for one in console.hosts} == {"127.0.0.1", "localhost"}
    kept = {one["name"]: one for one in console.context.cookies()}
    assert set(kept) == {"phoneprov_session"}
    assert (kept["phoneprov_session"]["sameSite"], kept["phoneprov_session"]["httpOnly"]) == (
        "Strict", True,
    )  # fmt: skip
    console.page.reload()
    console.page.get_by_role("banner").get_by_role("combobox").wait_for()
    assert console.complaints == []
    console.context.close()


def test_level_0_connects_its_account_under_its_name(
    browser: Browser, office: Service, stub: OidcStub
) -> None:
    stub.person = {"sub": "a", "preferred_username": USERNAME}
    console = Console(browser.new_context(), office.url)
    console.open()
    console.page.get_by_role("button", name="Office account").click()
    expect(console.page.get_by_role("alert")).to_contain_text("No account here is connected")
    assert "sign_in" not in console.page.url

    console.sign_in()
    console.open("#/about")
    console.page.get_by_role("button", name="Connect", exact=True).click()
    expect(console.page.get_by_text("The account is connected with the provider.")).to_be_visible()
    console.open("#/about")
    expect(console.page.get_by_text("This account is connected")).to_be_visible()
    console.page.get_by_role("button", name="Disconnect").click()
    console.page.get_by_role("dialog").get_by_role("button", name="Disconnect").click()
    # The notice of the first time may still be shown.
    with console.page.expect_navigation(url=re.compile("sign_in=connected")):
        console.page.get_by_role("button", name="Connect", exact=True).click()
    expect(console.page.get_by_text("The account is connected with the provider.")).to_be_visible()
    console.open("#/about")
    console.page.get_by_role("button", name="Sign out").click()
    console.page.get_by_role("button", name="Office account").click()
    console.page.get_by_role("banner").get_by_role("combobox").wait_for()
    assert console.complaints == []
    console.context.close()


def test_provider_away_is_said_beside_the_button(
    browser: Browser, office: Service, stub: OidcStub
) -> None:
    stub.discovery = {"issuer": "https://other.example.org"}
    console = Console(browser.new_context(), office.url)
    console.open()
    console.page.get_by_role("button", name="Office account").click()

    expect(console.page.get_by_role("alert")).to_have_text(re.compile("cannot be reached"))
    console.sign_in()
    console.context.close()
