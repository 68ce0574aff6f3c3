"""The console's modules without a browser, and what the console calls of the API."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from phoneprov_http.console.files import assets
from support.access_table import PAGES
from support.api import Api
from support.kinds import STANDARD

TESTS = Path(__file__).parents[2] / "console"
NODE = shutil.which("node")

NOT_SHOWN = [
    kind.path
    for kind in STANDARD
    if "The console does not show" in (PAGES / f"{kind.path}.md").read_text("utf-8")
]
"""The resources of which the page says so."""

NOT_CALLED = {
    # The session routes of the page stand for these.
    "/auth/login", "/auth/logout", "/auth/refresh", "/auth/register",
    # The same as lists that the console reads.
    "/me/phones", "/me/vendor-services/company", "/user-extensions",
    # Each right is shown with its user.
    "/rights",
    # One record of a list that holds it whole.
    "/company-directory/{uuid}", "/extensions/{uuid}", "/locations/{uuid}", "/permissions/{uuid}",
    "/vendor-kem/{uuid}", "/vendor-phones/{mac}", "/vendor-users/by-user/{userUuid}",
    *(f"/{kind.path}/{{uuid}}" for kind in STANDARD),
    *(f"/{path}" for path in NOT_SHOWN),
}  # fmt: skip
# Which module sends each writing request; records.js and its like through recordDialog.
WRITTEN_BY = {
    "account.js": [
        "PUT /me/password", "DELETE /me/sessions/{uuid}",
        "DELETE /users/{uuid}/sessions/{session_uuid}", "DELETE /me/identities/{uuid}",
        "DELETE /users/{uuid}/identities/{identity_uuid}", "POST /me/tokens",
        "DELETE /me/tokens/{uuid}", "DELETE /users/{uuid}/tokens/{token_uuid}",
        "PUT /vendor-users/{userUuid}", "DELETE /vendor-users/{userUuid}",
        "DELETE /vendor-users/{userUuid}/lock",
    ],
    "batches.js": ["DELETE /batches/{uuid}"],
    "deployments.js": ["POST /batches", "POST /batches/plan"],
    "desks.js": ["PUT /phones/{mac}/desk", "POST /phone-profiles/switch"],
    "discovered.js": ["POST /discovered-phones/{mac}/adopt", "POST /phones/{mac}/replace"],
    "edit.js": ["POST /edits/{kind}"],
    "import.js": ["POST /imports/{kind}"],
    "join.js": ["POST /people/join", "POST /people/leave", "POST /people/undo"],
    "new-batch.js": [
        "POST /batches", "POST /batches/plan", "POST /batches/rehearse", "POST /batches/list",
    ],
    "people.js": [
        "POST /personal-directory/{userUuid}", "PUT /personal-directory/contact/{uuid}",
        "DELETE /personal-directory/contact/{uuid}", "POST /company-directory",
        "PUT /company-directory/{uuid}", "DELETE /company-directory/{uuid}", "POST /users",
    ],
    "person.js": [
        "POST /user-perms", "DELETE /user-perms/{userUuid}", "POST /user-extensions",
        "DELETE /user-extensions/{uuid}", "PUT /users/{uuid}/rights",
        "DELETE /users/{uuid}/rights", "PUT /users/{uuid}", "DELETE /users/{uuid}",
    ],
    "phone-parts.js": [
        "POST /phones/{mac}/desk/logout", "PUT /phones/{mac}/desk", "POST /phones/{mac}/rollback",
    ],
    "phone.js": [
        "POST /phones/{mac}/restart", "PUT /phones/{mac}",
        "DELETE /phones/{mac}",
    ],
    "phones.js": ["POST /phones"],
    "profile-parts.js": ["POST /phone-profiles/switch/preview"],
    "profiles.js": [
        "POST /phone-profiles", "PUT /phone-profiles/{uuid}", "DELETE /phone-profiles/{uuid}",
        "POST /phone-profiles/lint",
    ],
    "shared.js": ["POST /numbers", "PUT /phones/{mac}/note", "PUT /users/{uuid}/note"],
    "records.js": [
        "PUT /vendor-phones/{mac}", "DELETE /vendor-phones/{mac}",
        *(
            operation
            for kind in (
                "extensions", "locations", "permissions", "vendor-kem",
                *(one.path for one in STANDARD),
            )
            if kind not in NOT_SHOWN
            for operation in (f"POST /{kind}", f"PUT /{kind}/{{uuid}}", f"DELETE /{kind}/{{uuid}}")
        ),
    ],
    "templates.js": [
        "POST /configuration-templates", "POST /configuration-templates/check",
        "POST /configuration-templates/{uuid}/render", "PUT /configuration-templates/{uuid}",
        "DELETE /configuration-templates/{uuid}", "POST /configuration-templates/{uuid}/plan",
    ],
}  # fmt: skip
CALLS = {"POST": ["api.post("], "PUT": ["api.put("], "DELETE": ["api.remove(", " removed("]}


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


async def test_console_has_a_place_for_every_write_of_the_api(api: Api) -> None:
    paths = (await api.client.get("/docs/openapi.json")).json()["paths"]
    written = {
        f"{method.upper()} {path.removeprefix('/api/v1')}"
        for path, operations in paths.items()
        for method in operations
        if path.startswith("/api/v1") and method in {"post", "put", "delete"}
    }
    files = {name: file.content.decode() for name, file in assets().items()}
    called = {
        operation
        for name, operations in WRITTEN_BY.items()
        for operation in operations
        if _sends(files[f"views/{name}"], *operation.split(" /"))
    }

    # The session routes of the page stand for those of accounts.
    without = ("auth", *NOT_SHOWN)
    assert {one for one in written if one.split("/")[1] not in without} == called


def _sends(module: str, method: str, path: str) -> bool:
    """Whether a module has the last fixed part of the path, and the call or a dialog for it."""
    *_, last = (part for part in path.split("/") if not part.startswith("{"))
    has_part = re.search(rf"""["'`(/}}]{re.escape(last)}(?![\w-])""", module) is not None
    return has_part and any(call in module for call in (*CALLS[method], "recordDialog("))
