"""Browsers that sign in with the provider of a test."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from support.api import Api, data_of
from support.oidc_stub import CLIENT, SECRET, OidcStub

OIDC, CALLBACK = "/console/session/oidc", "/console/session/oidc/callback"
PUBLIC = "https://phones.example.org/prov"


def settings_of(stub: OidcStub, **more: str) -> dict[str, Any]:
    return {
        "PHONEPROV_OIDC_ISSUER": stub.issuer,
        "PHONEPROV_OIDC_CLIENT_ID": CLIENT,
        "PHONEPROV_OIDC_CLIENT_SECRET": SECRET,
        "PHONEPROV_PUBLIC_URL": PUBLIC,
        **{f"PHONEPROV_{name}": value for name, value in more.items()},
    }


class Browser:
    """Cookies of a browser. ``goes`` begins a sign-in, ``comes`` back with what the provider
    sent."""

    def __init__(self, api: Api, stub: OidcStub) -> None:
        self.api, self.stub = api, stub
        self.kept = self.session = ""

    async def goes(self) -> str:
        reply = await self.ask(OIDC)
        assert reply.status_code == 302
        return self.stub.authorize(reply.headers["location"])

    async def comes(self, address: str) -> httpx.Response:
        assert address.startswith(f"{PUBLIC}{CALLBACK}?")
        return await self.ask(address.removeprefix(PUBLIC))

    async def signs_in(self) -> str:
        """The result: the code of the error, empty for none."""
        return result_of(await self.comes(await self.goes()))

    async def ask(self, path: str) -> httpx.Response:
        cookies = {"Cookie": f"phoneprov_signin={self.kept}"} if self.kept else {}
        reply = await self.api.client.get(path, headers={**cookies, "Sec-Fetch-Site": "cross-site"})
        for cookie in reply.headers.get_list("set-cookie"):
            name, _, rest = cookie.partition("=")
            if name == "phoneprov_signin":
                self.kept = rest.partition(";")[0]
            else:
                self.session = rest.partition(";")[0]
        return reply


def result_of(reply: httpx.Response) -> str:
    assert reply.status_code == 302
    assert reply.headers["location"].startswith(f"{PUBLIC}/console/")
    query = parse_qs(urlsplit(reply.headers["location"]).query)
    return " ".join(text for texts in query.values() for text in texts)


async def begun(api: Api, browser: Browser) -> Any:
    cookie = {"Cookie": f"phoneprov_session={browser.session}"}
    return data_of(await api.client.post("/console/session/refresh", headers=cookie))
