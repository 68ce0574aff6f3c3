"""``/phone``: every reply has the status 200, every failure is a text on the phone's screen."""

import logging
import time
from typing import Any

from litestar.types import Receive, Send

from phoneprov_core.features.desks.access import NotServed
from phoneprov_core.features.desks.adoption import NewPhone
from phoneprov_core.features.desks.pages import CHARSETS, render
from phoneprov_core.features.desks.pins import wrong_pin
from phoneprov_core.features.desks.services import PhoneServices
from phoneprov_core.kernel.errors import NotFound, PhoneprovError, Unavailable
from phoneprov_core.switching.devices.names import mac_of_device
from phoneprov_http.errors import begin, body_of, end, log_request
from phoneprov_http.front import PHONE_PAGES
from phoneprov_http.phone.language import Languages
from phoneprov_http.phone.pages import POSTED, Pages, Reply, failure
from phoneprov_http.phone.request import CHANGING, LARGEST, PhoneRequest

log = logging.getLogger("phoneprov.phone")

_LONG_AGO = b"Fri, 02 Jan 1970 00:00:00 GMT"


class PhonePages:
    """The ASGI application of the paths below ``/phone/``, inside the front.

    These replies carry few of the other headers, the one of ``authentication`` none of them: the
    69xx cannot read ``AUTHORIZED`` beside security headers. The log never holds a query: PINs and
    passwords travel in it.
    """

    def __init__(
        self, services: PhoneServices, *, base: str = "", languages: Languages | None = None
    ) -> None:
        self._services = services
        self._languages = languages or Languages()
        pages = Pages(services)
        self._handlers, self._new_handlers = pages.handlers, pages.new_handlers
        self._base = base

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        path = scope["path"].removeprefix(PHONE_PAGES)
        if path in self._new_handlers and not self._services.adopt.is_on:
            path = path if path in self._handlers else "-"
        has_body = path in POSTED and scope["method"] == "POST"
        body = await body_of(receive, LARGEST) if has_body else None
        request = PhoneRequest(scope, body or b"", self._base, self._languages)
        result = "ok"
        try:
            if path == "authentication":
                result = await self._authenticate(request, send)
            else:
                result = await self._show(path, request, send)
        finally:
            is_known = path in self._handlers or path in self._new_handlers
            log_request(
                log,
                "phone request",
                began,
                method=scope["method"],
                route=f"{PHONE_PAGES}{path if is_known else '-'}",
                phone=mac_of_device(request.device) or None,
                client_ip=request.ip,
                result=result,
            )

    async def _authenticate(self, request: PhoneRequest, send: Send) -> str:
        try:
            is_right = request.method == "GET" and await self._services.credentials(
                request["UserID"], request["Password"], request.ip
            )
        except PhoneprovError:
            is_right = False
        word = b"AUTHORIZED" if is_right else b"UNAUTHORIZED"
        await begin(send, 200, len(word), [(b"content-type", b"text/plain")])
        await end(send, word)
        return "ok" if is_right else "unauthorized"

    async def _show(self, path: str, request: PhoneRequest, send: Send) -> str:
        result = "ok"
        try:
            reply = await self._reply(path, request)
        except PhoneprovError as error:
            result = error.code
            reply = failure(request, path, error)
        except Exception as error:
            result = "internal_error"
            # The traceback holds no values.
            log.exception("unexpected %s", type(error).__name__)
            unknown = Unavailable("An internal error occurred. Try again later.")
            reply = failure(request, path, unknown)
        try:
            body = render(reply.page, request.charset)
            headers = _headers(reply, request)
            if result == NotAllowed.code:
                headers.append((b"allow", ", ".join(_methods(path)).encode()))
            await begin(send, 200, len(body), headers)
            await end(send, b"" if request.method == "HEAD" else body)
        finally:
            if reply.changed is not None:
                reply.changed.answered()
        return result

    async def _reply(self, path: str, request: PhoneRequest) -> Reply:
        if request.method not in _methods(path):
            raise NotAllowed
        handler, new_handler = self._handlers.get(path), self._new_handlers.get(path)
        try:
            at = await self._services.identify(request.device, request.ip)
            if at.user is not None:
                request.speak_to(at.user)
            if handler is not None:
                return await handler(request, at)
            if new_handler is None:
                raise NotFound(
                    "There is no such page. Press Services and begin again.", code="no_page"
                )
        except NotServed:
            if new_handler is None:
                raise
            new = await self._new_phone(request)
            if new is not None:
                return await new_handler(request, new)
            if handler is not None:
                raise
        # The form of a phone that is none of those that ask: no other text than for a wrong PIN.
        raise wrong_pin()

    async def _new_phone(self, request: PhoneRequest) -> NewPhone | None:
        return await self._services.adopt.identify(request.device, request.ip, request.model)


class NotAllowed(PhoneprovError):
    """The page does not take this method."""

    code = "method_not_allowed"
    usual = "This page was opened the wrong way. Press Services and begin again."


def _methods(path: str) -> tuple[str, ...]:
    # HEAD is answered like GET, which must be without effect then.
    if path in CHANGING:
        return ("GET", "POST") if path in POSTED else ("GET",)
    return ("GET", "HEAD")


def _headers(reply: Reply, request: PhoneRequest) -> list[tuple[bytes, bytes]]:
    charset = CHARSETS[request.charset]
    headers = [
        (b"content-type", f"text/xml; charset={charset}".encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
    ]
    if reply.next_url is not None:
        headers.append((b"refresh", f"0; url={reply.next_url}".encode()))
    if reply.fleeting:
        headers.append((b"expires", _LONG_AGO))
    return headers
