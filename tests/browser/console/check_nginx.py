"""The console below a prefix of a real nginx, configured by the block of the how-to."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect

from browser.console_rig import Console, Phones, Service, choose, fill
from faults.served import free_port
from support.polling import wait_for

NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
PAGE = Path(__file__).parents[3] / "docs/how-to/console.md"

pytestmark = pytest.mark.skipif(NGINX is None, reason="no nginx is installed")


def configuration(folder: Path, port: int, service: str) -> str:
    """The nginx block of the page, with the address of the service."""
    found = re.search(r"```nginx\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found
    assert "http://127.0.0.1:8000/" in found[1]
    assert "location /telephony/" in found[1]
    block = found[1].replace("http://127.0.0.1:8000", service)
    paths = "".join(
        f"{name}_temp_path {folder}/{name};"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    return (
        f"daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;"
        f"events {{}} http {{ access_log off; {paths}"
        f"server {{ listen 127.0.0.1:{port}; {block}\n}} }}"
    )


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    settings = {"PHONEPROV_TRUSTED_PROXIES": "127.0.0.1"}
    with Phones(2) as phones:
        folder = tmp_path_factory.mktemp("service")
        with Service(folder, {**phones.settings, **settings}) as running:
            fill(running, phones)
            yield running


@pytest.fixture
def proxied(service: Service, tmp_path: Path) -> Iterator[str]:
    """The address of the prefix."""
    port = free_port()
    (tmp_path / "nginx.conf").write_text(configuration(tmp_path, port, service.url))
    assert NGINX
    nginx = subprocess.Popen([NGINX, "-p", tmp_path, "-c", tmp_path / "nginx.conf"])
    url = f"http://127.0.0.1:{port}/telephony"
    try:
        wait_for(lambda: _answers(url), nginx)
        yield url
    finally:
        nginx.terminate()
        nginx.wait(30)


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health/live", trust_env=False).is_success
    except httpx.TransportError:
        return False


def test_console_below_a_prefix_signs_in_switches_and_signs_out(
    browser: Browser, proxied: str
) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    console = Console(context, proxied)
    asked: list[str] = []
    page = console.page
    page.on("request", lambda one: asked.append(one.url))
    page.goto(f"{proxied}/console")
    console.sign_in()
    console.settled()
    (cookie,) = context.cookies()
    assert cookie["path"] == "/telephony/console/session"
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")

    page.reload()  # signed in by the cookie
    console.go("Phones")
    expect(page.get_by_role("link", name="Desk 1")).to_be_visible()
    console.open("#/phones/00:1B:D4:00:00:02")  # a deep link
    page.reload()
    expect(page.get_by_role("heading", name="Desk 2")).to_be_visible()
    page.get_by_role("link", name="Switch this phone").click()
    choose(page, "Profile", "Front desk")
    page.get_by_role("button", name="Switch", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Switch").click()
    expect(page.get_by_role("heading", name="Deployed")).to_be_visible()
    for link in ("Batches", "Profiles", "People", "Directory", "Audit", "Phones"):
        console.go(link)
        expect(page.get_by_role("heading", name=link, level=1)).to_be_visible()
    page.goto(f"{proxied}/docs/")
    expect(page.locator(".opblock").first).to_be_visible()
    console.open("#/help/how-to/console")
    expect(page.get_by_role("heading", name="Use the console")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Username")).to_be_visible()
    assert context.cookies() == []
    page.reload()
    expect(page.get_by_label("Username")).to_be_visible()
    assert console.complaints == []
    assert [url for url in asked if not url.startswith(proxied)] == []
    context.close()
