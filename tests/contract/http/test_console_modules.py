"""The console's modules without a browser, and what the console calls of the API."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from phoneprov_http.console.files import assets
from support.api import Api

TESTS = Path(__file__).parents[2] / "console"
NODE = shutil.which("node")

NOT_CALLED = {
    # The session routes of the page stand for these.
    "/auth/login", "/auth/logout", "/auth/refresh", "/auth/register",
    # The same as lists that the console reads.
    "/me/phones", "/me/vendor-services/company", "/user-extensions",
    # One record of a list that holds it whole.
    "/company-directory/{uuid}", "/extensions/{uuid}", "/permissions/{uuid}", "/vendor-kem/{uuid}",
    "/vendor-services/{uuid}", "/vendor-phones/{mac}", "/vendor-users/by-user/{userUuid}",
    # Without a page so far.
    "/me/tokens",
}  # fmt: skip


@pytest.mark.skipif(NODE is None, reason="Node.js is not installed")
def test_console_modules_pass_their_own_tests() -> None:
    assert NODE
    files = [str(file) for file in sorted(TESTS.glob("*.test.mjs"))]
    done = subprocess.run(
        [NODE, "--test", *files], capture_output=True, text=True, timeout=120, check=False
    )

    assert files
    assert done.returncode == 0, done.stdout + done.stderr


async def test_console_has_a_place_for_every_read_of_the_api(api: Api) -> None:
    paths = (await api.client.get("/docs/openapi.json")).json()["paths"]
    text = "\n".join(file.content.decode() for file in assets().values())
    read = {
        path.removeprefix("/api/v1")
        for path, operations in paths.items()
        if path.startswith("/api/v1") and "get" in operations
    }

    def is_called(path: str) -> bool:
        """Whether the fixed parts of the path stand in one text of a module, in their order, or
        after a variable that holds their begin."""
        head, *rest = [part for part in re.split(r"/?\{\w+\}/?", path.strip("/")) if part]
        if not rest:
            return re.search(rf"""["'`(]{re.escape(head)}(?![\w-])""", text) is not None
        return all(re.search(rf"\}}/{re.escape(part)}(?![\w-])", text) for part in rest)

    assert {path for path in read - NOT_CALLED if not is_called(path)} == set()
