"""The OpenAPI document and its page: public, and without content of other hosts."""

import asyncio
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path

import pytest

from support.api import Api, error_of

STATIC = resources.files("phoneprov_http").joinpath("static")
SWAGGER_UI = resources.files("swagger_ui").joinpath("static")


class Links(HTMLParser):
    """Every address that a page names, and its inline content."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.inline: list[str] = []
        self._tag = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tag = tag
        for name, value in attrs:
            if name in {"src", "href", "action", "data", "srcset", "poster"}:
                self.addresses.append(value or "")
            elif name == "style" or name.startswith("on"):
                self.inline.append(f"{tag} {name}")

    def handle_data(self, data: str) -> None:
        if self._tag in {"script", "style"} and data.strip():
            self.inline.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._tag = ""


async def test_docs_page_refers_to_files_of_this_service_only(api: Api) -> None:
    page = await api.client.get("/docs")
    links = Links(page.text)

    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert links.inline == []
    assert len(links.addresses) == 6
    for address in links.addresses:
        assert re.fullmatch(r"/?docs/[a-z0-9/.-]+", address)
        reply = await api.client.get(f"/{address.removeprefix('/')}")
        assert (reply.status_code, bool(reply.content)) == (200, True), address


async def test_docs_policy_allows_own_files_only(api: Api) -> None:
    policy = (await api.client.get("/docs")).headers["content-security-policy"]

    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }


def test_docs_styles_and_scripts_refer_to_no_other_host() -> None:
    styles = SWAGGER_UI.joinpath("swagger-ui.css").read_text(encoding="utf-8")
    assert "@import" not in styles
    addresses = re.findall(r"""url\(\s*["']?(.{5})""", styles)
    assert addresses
    assert set(addresses) == {"data:"}
    for name in ("docs.css", "docs.js", "docs.html"):
        assert "//" not in re.sub(
            r"^//.*", "", STATIC.joinpath(name).read_text("utf-8"), flags=re.MULTILINE
        )


def test_docs_bundle_calls_no_other_host() -> None:
    script = STATIC.joinpath("docs.js").read_text(encoding="utf-8")
    assert "validatorUrl: null" in script
    assert "queryConfigEnabled: false" in script
    assert 'url: "docs/openapi.json"' in script


@pytest.mark.parametrize(
    ("path", "media_type"),
    [
        ("docs.css", "text/css"),
        ("docs.js", "text/javascript"),
        ("swagger-ui/swagger-ui.css", "text/css"),
        ("swagger-ui/swagger-ui-bundle.js", "text/javascript"),
        ("swagger-ui/favicon-32x32.png", "image/png"),
    ],
)
async def test_docs_files_have_their_media_types(api: Api, path: str, media_type: str) -> None:
    reply = await api.client.get(f"/docs/{path}")

    folder = SWAGGER_UI if path.startswith("swagger-ui/") else STATIC
    assert reply.content == folder.joinpath(path.removeprefix("swagger-ui/")).read_bytes()
    assert reply.headers["content-type"].partition(";")[0] == media_type
    assert reply.headers["cache-control"] == "public, max-age=3600"
    assert reply.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "docs.html",
        "nothing.js",
        "swagger-ui",
        "swagger-ui/LICENSE",
        "swagger-ui/..%2fdocs.js",
        "..%2fapp.py",
        "%2e%2e/app.py",
        "swagger-ui/%2e%2e/%2e%2e/app.py",
    ],
)
async def test_docs_unknown_file_is_404(api: Api, path: str) -> None:
    error_of(await api.client.get(f"/docs/{path}"), 404, "not_found")


async def test_openapi_document_is_public_and_without_envelope(api: Api) -> None:
    first = await api.client.get("/docs/openapi.json")
    again = await api.client.get("/docs/openapi.json")

    assert first.status_code == 200
    assert first.headers["content-type"] == "application/json"
    assert first.json()["openapi"] == "3.1.0"
    assert first.content == again.content


async def test_openapi_command_prints_the_served_document(api: Api, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "phoneprov_http.main", "openapi"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path / "empty",
    )
    printed, complained = await process.communicate()

    assert (process.returncode, complained) == (0, b"")
    assert json.loads(printed) == (await api.client.get("/docs/openapi.json")).json()
    assert not (tmp_path / "empty" / "phoneprov-data").exists()
