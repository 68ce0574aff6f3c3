"""The page at /docs in a real browser: make test-browser."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from browser.cdp import browser

PASSWORD = "correct horse battery"


@pytest.fixture
def base(tmp_path: Path) -> Iterator[str]:
    """The URL of the service, with an account."""
    program = [sys.executable, "-m", "phoneprov_http.main"]
    environment = {**os.environ, "PHONEPROV_DATA_DIR": str(tmp_path / "data")}
    subprocess.run(
        [*program, "create-admin", "--username", "ada", "--email", "ada@example.com",
         "--password-stdin"],
        input=PASSWORD, text=True, env=environment, check=True, timeout=60,
    )  # fmt: skip
    port = 8000 + os.getpid() % 20000
    server = subprocess.Popen([*program, "serve", "--port", str(port)], env=environment)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(200):
            assert server.poll() is None, "the service did not start"
            try:
                httpx.get(f"{address}/health/ready")
                break
            except httpx.TransportError:
                time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait(40)


def test_docs_page_shows_every_operation_and_runs_one(base: str, tmp_path: Path) -> None:
    credentials = {"username": "ada", "password": PASSWORD}
    token = httpx.post(f"{base}/api/v1/auth/login", json=credentials).json()["data"]["accessToken"]
    paths = httpx.get(f"{base}/docs/openapi.json").json()["paths"]
    chromium = shutil.which("chromium") or shutil.which("google-chrome") or "chromium"
    screenshots = Path(os.environ.get("SCREENSHOTS", tmp_path))

    with browser(chromium, tmp_path / "profile") as page:
        page.call("Page.navigate", url=f"{base}/docs")
        count = sum(len(operations) for operations in paths.values())
        page.until(f"document.querySelectorAll('.opblock').length === {count}")
        page.screenshot(screenshots / "docs.png")

        page.click(".btn.authorize")
        page.type("#auth-bearer-value", token)
        page.click(".auth-btn-wrapper .authorize")
        page.click(".auth-btn-wrapper .btn-done")
        page.click("#operations-Me-get_me .opblock-summary-control")
        page.click("#operations-Me-get_me .try-out__btn")
        page.click("#operations-Me-get_me .execute")
        live = "#operations-Me-get_me .live-responses-table"
        page.until(f"!!document.querySelector('{live} .response-col_status')")
        shown = page.evaluate(f"document.querySelector('{live}').innerText")
        page.evaluate(f"document.querySelector('{live}').scrollIntoView()")
        page.screenshot(screenshots / "docs-tried.png")

        assert "200" in shown
        assert '"username": "ada"' in shown
        assert page.evaluate("localStorage.length + document.cookie.length") == 0
        assert page.complaints == []
        asked = [address for address in page.asked if not address.startswith("data:")]
        assert f"{base}/api/v1/me" in asked
        assert {address for address in asked if not address.startswith(f"{base}/")} == set()
