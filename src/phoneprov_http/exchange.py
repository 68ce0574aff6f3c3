"""``/asterisk``: devices and lines for Asterisk's realtime driver ``res_config_curl``.

Asterisk looks at the body alone: any ``key=value`` is an object, with every status, and the page of
an error would admit a phone. So every answer but that of an object is empty.
"""

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote

from litestar.types import HTTPScope, Receive, Send

from phoneprov_core.features.lines.model import Options
from phoneprov_core.features.lines.use_cases import Lines, PjsipObjects
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.kernel.values import Network, address_of
from phoneprov_core.people.auth.sessions import CheckServiceToken
from phoneprov_http.errors import bearers_of, begin, body_of, end, log_request

log = logging.getLogger("phoneprov.exchange")

Ask = Callable[[str], Awaitable[Options | None]]
"""Finds an object by its name."""

LARGEST = 4096
"""Bytes of a body. What Asterisk sends is shorter."""

SECONDS = 5.0
"""Deadline of an answer; the phone waits for the ``httptimeout`` of res_curl.conf."""

PJSIP_SECONDS = 1.0
"""Deadline for an object of PJSIP: a call asks for some ten of them, and then takes the last
export."""

_MOST_FIELDS = 20
_LOGGED = re.compile(r"[ -~]{1,80}")
_OTHERS = ("multi", "update", "store", "destroy", "require")


class Answer(NamedTuple):
    """The status, the body, and for the log what was asked for."""

    status: int
    body: bytes = b""
    asked: str = ""


class Exchange:
    """The ASGI application of the paths below ``/asterisk/``, inside the front. Without a ``token``
    none of them exists; requests must come from ``networks``."""

    def __init__(
        self,
        lines: Lines,
        pjsip: PjsipObjects | None = None,
        *,
        check_token: CheckServiceToken,
        token: str | None,
        networks: Sequence[Network],
    ) -> None:
        self._check_token = check_token
        self._token = token
        self._networks = networks
        self._asking: dict[str, tuple[str, Ask]] = {
            "/asterisk/sccpdevice/single": ("name", lambda name: lines.device(name)),
            "/asterisk/sccpline/single": ("name", lambda name: lines.line(name)),
        }
        if pjsip is not None:
            self._asking |= {
                "/asterisk/ps_endpoints/single": ("id", lambda name: pjsip.endpoint(name)),
                "/asterisk/ps_auths/single": ("id", lambda name: pjsip.auth(name)),
                "/asterisk/ps_aors/single": ("id", lambda name: pjsip.aor(name)),
            }
        self._empty = frozenset(
            path.replace("single", other) for path in self._asking for other in _OTHERS
        )

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        path = scope["path"]
        route = path if path in self._asking or path in self._empty else "-"
        scope["path_template"] = route
        try:
            async with asyncio.timeout(_seconds(path)):
                answer = await self._answer(scope, path, route, receive)
        except (TimeoutError, Unavailable):
            answer = Answer(503)
        except Exception as error:
            # The traceback holds no values.
            log.exception("unexpected %s", type(error).__name__)
            answer = Answer(500)
        log_request(
            log,
            "exchange request",
            began,
            method=scope["method"],
            route=route,
            asked=answer.asked if _LOGGED.fullmatch(answer.asked) else None,
            client_ip=scope["state"]["client_ip"],
            status=answer.status,
            bytes=len(answer.body),
        )
        headers = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"cache-control", b"no-store"),
        ]
        if answer.status == 401:
            headers.append((b"www-authenticate", b"Bearer"))
        if answer.status == 405:
            headers.append((b"allow", b"POST"))
        await begin(send, answer.status, len(answer.body), headers)
        await end(send, answer.body)

    async def _answer(self, scope: HTTPScope, path: str, route: str, receive: Receive) -> Answer:
        if self._token is None:
            return Answer(404)
        client_ip = str(scope["state"]["client_ip"])
        if not self._is_near(client_ip):
            return Answer(403)
        # With each reload of its configuration Asterisk adds the header once more, and sends all of
        # them, that of an earlier token included.
        sent = bearers_of(scope["headers"])
        if not await self._check_token("asterisk", self._token, sent, client_ip):
            return Answer(401)
        if route == "-":
            return Answer(404)
        if scope["method"] != "POST":
            return Answer(405)
        body = await body_of(receive, LARGEST)
        if body is None:
            return Answer(413)
        if path in self._empty:
            return Answer(200)
        field, ask = self._asking[path]
        name = _value_in(body, field)
        if name is None:
            return Answer(400)
        # PostgreSQL refuses a text with NUL.
        options = await ask(name) if name.isprintable() else None
        return Answer(404, asked=name) if options is None else Answer(200, written(options), name)

    def _is_near(self, ip: str) -> bool:
        address = address_of(ip)
        return address is not None and any(address in network for network in self._networks)


def _seconds(path: str) -> float:
    return PJSIP_SECONDS if path.startswith("/asterisk/ps_") else SECONDS


def written(options: Options) -> bytes:
    """The options of an object as one line of text."""
    return "&".join(
        f"{quote(name, safe='')}={quote(text, safe='')}" for name, text in options
    ).encode()


def _value_in(body: bytes, field: str) -> str | None:
    """A field of a form, None if it is not there exactly once."""
    try:
        text = body.decode()
        fields = parse_qsl(text, errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError:
        return None
    names = [value for name, value in fields if name == field]
    return names[0] if len(names) == 1 else None
