"""The requests and replies shown in ``docs/reference/http`` are what really happens.

A page shows pairs of blocks: a request, and the reply to it. They are carried out in order,
on a service of the page's own, as ada, who holds level 0, unless the request says otherwise.
A phone that was restarted is back before the next request.
With ``PHONEPROV_WRITE_DOCS=1`` the replies are written into the pages instead of compared.
"""

import asyncio
import json
import os
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from phoneprov_adapters.memory.devices import (
    MemoryPhone,
    MemoryReachability,
    MemoryUploader,
    MemoryWatch,
)
from phoneprov_adapters.memory.system import (
    CountingIds,
    FixedClock,
    MemoryBackground,
    PlainHasher,
    await_directly,
)
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_adapters.sql.stores.people import audit
from phoneprov_core.kernel.values import PRIVATE_RANGES
from phoneprov_core.switching.deployments.confirm import Watch
from support.api import PASSWORD, Api, opened_api

PAGES = sorted((Path(__file__).parents[3] / "docs/reference/http").glob("*.md"))
PAIR = re.compile(
    r"(?P<before>```http\n(?P<request>(?:GET|POST|PUT|DELETE) [^`]*?)\n```\n\n)"
    r"```http\nHTTP/1.1 (?P<status>\d+)[^\n]*\n\n(?P<reply>.*?)\n```",
    re.DOTALL,
)
CAME_BACK = "The phone was away for 41 s and answers again, with the firmware SCCP45.9-4-2SR3-1S."
ORDERED = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}")
"""UUIDs of audit entries, which contain the time."""
WRITING = os.environ.get("PHONEPROV_WRITE_DOCS") == "1"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
async def test_examples_of_a_page_are_real_responses(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = page.read_text(encoding="utf-8")
    pairs = list(PAIR.finditer(text))
    assert len(pairs) == text.count("HTTP/1.1 "), "a reply without its request"
    assert pairs

    networks = PhoneNetworks.parse(PRIVATE_RANGES)
    phone = MemoryPhone(networks)
    clock = FixedClock()
    monkeypatch.setattr(audit, "system_clock", clock)
    tasks = _Directly()
    watch = MemoryWatch()
    adapters = {
        "watch": Watch(None, watch, seconds=120),
        "reachability": MemoryReachability(),
        "clock": clock,
        "new_id": CountingIds(),
        "hasher": PlainHasher(),
        "uploader": MemoryUploader(networks),
        "phone_commands": phone,
        "tasks": tasks,
        "pause": lambda _: asyncio.sleep(0.02),
    }
    async with opened_api(tmp_path, overrides=adapters) as api:
        token = (await api.account("ada", level=0)).token

        async def meanwhile() -> None:
            clock.advance(1)
            for mac in set(watch.watched):
                watch.comes_back(mac, CAME_BACK)
            await tasks.start.done()

        text = await _execute_request(api, token, text, pairs, meanwhile)
    if WRITING:
        page.write_text(text, encoding="utf-8")


class _Directly:
    run = staticmethod(await_directly)

    def __init__(self) -> None:
        self.start = MemoryBackground()


async def _execute_request(
    api: Api,
    token: str,
    text: str,
    pairs: list[re.Match[str]],
    meanwhile: Callable[[], Awaitable[None]],
) -> str:
    for pair in pairs:
        await meanwhile()
        reply = await _ask(api, token, pair["request"])
        if WRITING:
            phrase = httpx.codes.get_reason_phrase(reply.status_code)
            shown = json.dumps(_shortened(reply.json()), indent=2, ensure_ascii=False)
            block = f"```http\nHTTP/1.1 {reply.status_code} {phrase}\n\n{shown}\n```"
            text = text.replace(pair[0], pair["before"] + block, 1)
            continue
        assert reply.status_code == int(pair["status"]), reply.text
        assert _agree(reply.json(), json.loads(pair["reply"])), reply.text
    return text


async def _ask(api: Api, token: str, request: str) -> httpx.Response:
    head, _, body = request.partition("\n\n")
    first, *fields = head.splitlines()
    method, path = first.split()
    headers = {"Authorization": f"Bearer {token}"}
    headers |= dict(field.split(": ", 1) for field in fields)
    content = body.replace("PASSWORD", PASSWORD).encode() if body else None
    if content:
        headers["Content-Type"] = "application/json"
    return await api.client.request(method, path, headers=headers, content=content)


def _shortened(value: Any) -> Any:
    """Tokens, hashes and request ids differ each time or are long: only their beginning."""
    if isinstance(value, dict):
        return {
            key: "..." if key in {"request_id", "at"} else _shortened(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    if isinstance(value, str) and value.startswith("eyJ"):
        return "eyJ..."
    if isinstance(value, str) and value.startswith("pp_"):
        return "pp_..."
    if isinstance(value, str) and (value.startswith("$plain") or ORDERED.fullmatch(value)):
        return "..."
    return value


def _agree(real: Any, shown: Any) -> bool:
    if isinstance(shown, str) and shown.endswith("..."):
        return isinstance(real, str) and real.startswith(shown[:-3])
    if isinstance(shown, dict):
        return (
            isinstance(real, dict)
            and list(real) == list(shown)
            and all(_agree(real[key], shown[key]) for key in shown)
        )
    if isinstance(shown, list):
        return isinstance(real, list) and len(real) == len(shown) and all(map(_agree, real, shown))
    return type(real) is type(shown) and bool(real == shown)
