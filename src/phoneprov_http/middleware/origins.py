"""What a request is called in log lines and audit entries: its id, trace and client address."""

import re
import secrets
from collections.abc import Sequence
from itertools import count

from litestar.types import HTTPScope

from phoneprov_core.kernel.origin import Origin, valid_traceparent
from phoneprov_http.middleware.addresses import Network, client_ip

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")

# An identifier is random for its process and counted within it. To ask the system for random
# bytes would hand the interpreter to another thread each time.
_PROCESS = secrets.token_hex(10)
_numbers = count(secrets.randbits(40))


def origin_of(scope: HTTPScope, trusted_proxies: Sequence[Network]) -> Origin:
    """The origin of a request. A short, plain request id of the client is kept."""
    return Origin(_request_id(scope), _traceparent(scope), client_ip(scope, trusted_proxies))


def _request_id(scope: HTTPScope) -> str:
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
            return value.decode()
    return f"{_PROCESS}{next(_numbers):012x}"


def _traceparent(scope: HTTPScope) -> str | None:
    """The ``traceparent`` of the request, if it is sent once and valid."""
    sent = [value for name, value in scope["headers"] if name == b"traceparent"]
    return valid_traceparent(sent[0].decode("latin-1")) if len(sent) == 1 else None
