"""Generated requests to every operation of a service with records, sent as a superadmin."""

import itertools
import json
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import hypothesis
import requests
import schemathesis
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import ignored_auth

from phoneprov_core.kernel.values import HIDDEN, HIDDEN_BEYOND
from phoneprov_core.people.access import Assignment
from phoneprov_core.people.auth.model import Claims, TokenKind
from phoneprov_core.people.users.model import check_new_username
from support.fuzz_records import COUNT, RECORDS, fill
from support.records import (
    a_mac,
    a_permission,
    a_session,
    a_user,
    identifier,
    moment,
)
from support.served import Served

HOUR = 3600 * 1000
SEED = 4711
BOTH = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]


def is_new_username(name: str) -> bool:
    try:
        check_new_username(name)
    except ValueError:
        return False
    return bool(name)


# Rules that the document describes in words only, and values that follow them.
IN_WORDS = {
    "username": st.text(
        "abcz09\u00e4\u00df\u00e7\u0436\u03bb\u6f22_-. ", min_size=1, max_size=40
    ).filter(is_new_username),
    "phone_ip": st.sampled_from(["10.20.30.40", "2001:db8::7", "::ffff:10.0.0.1"]),
    "ip": st.sampled_from(["10.20.30.41", "fd00::1"]),
    "timezone": st.sampled_from(["UTC", "Europe/Paris", "America/Argentina/Ushuaia"]),
    "ends_at": st.sampled_from(["06:00 UTC", "23:59 Europe/Paris"]),
    "password": st.sampled_from(
        ["a password of the tests", "\u00e9\u00e8" * 100, "blue Elephants 9"]
    ),
    "cnf_xml": st.sampled_from(["<device/>", "<d a='1'>\u00fc<e/>\n</d>", "<x><![CDATA[<]]></x>"]),
    "body": st.sampled_from(
        ["<a>{{ phone.mac }}</a>", "{% if user.email %}<a/>{% endif %}", "<b/>"]
    ),
    "url": st.sampled_from(
        ["http://pbx/menu.xml", "HTTPS://[::1]:8443/?a=b#c", "http://u@h\u00f6"]
    ),
}

_BY_NAME = {"cnf_xml", "body", "phone_ip", "ip"}

# One service can have several clients.
_beginnings = itertools.count(0x10_0000, 0x10_0000)


class Fuzz:
    """Cases of each operation of a document, and the service that receives them."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._schema = schemathesis.openapi.from_dict(
            _with_formats(document),
            config=schemathesis.Config.from_dict(
                {
                    "seed": SEED,
                    "generation": {"with-security-parameters": False, "database": "none"},
                    "phases": {"coverage": {"generate-duplicate-query-parameters": True}},
                    # No schema knows refresh tokens, the current password, weak PINs, tables,
                    # the fields of a kind and which fields of a person exclude each other.
                    "operations": [
                        {
                            "include-path": path,
                            "checks": {"positive_data_acceptance": {"enabled": False}},
                        }
                        for path in (
                            "/api/v1/auth/logout",
                            "/api/v1/me/password",
                            "/api/v1/imports/{kind}",
                            "/api/v1/edits/{kind}",
                            "/api/v1/people/join",
                            "/api/v1/people/leave",
                            "/api/v1/vendor-users/{userUuid}",
                        )
                    ],
                }
            ),
        )
        self._numbers = itertools.count(next(_beginnings))
        self._turns = itertools.count()
        self._token = ""
        self._asked: Counter[str] = Counter()
        self.labels = [
            f"{method.upper()} {path}"
            for path, operations in document["paths"].items()
            for method in operations
        ]

    def begin(self, service: Served, *, fill_it: bool = True) -> None:
        """Send requests to this service from now on; ``fill_it`` first adds records to it."""
        self._service = service
        self._http = requests.Session()
        self._http.trust_env = False
        if fill_it:
            service.run(fill(service.container.database()))
        self._token = service.run(self._superadmin())

    def end(self) -> None:
        """Close the connections, so that the service does not wait for further requests."""
        self._http.close()

    def check_bounds(self, label: str) -> int:
        """Send one operation with each of its fields at its bounds and beyond. Returns the number
        of requests; raises for the first reply that is not allowed."""
        operation = self._operation(label)
        cases: Iterator[schemathesis.Case[Any]] = self._schema.iter_coverage_cases(
            operation,
            generation_modes=BOTH,
            generation_config=self._schema.config.generation_for(operation=operation),
        )
        asked = 0
        for case in cases:
            self._ask(case)
            asked += 1
        return asked

    def at_random(self, label: str, *, examples: int, seed: int = SEED) -> int:
        """Send one operation up to ``examples`` times with valid and as often with invalid input.
        Returns and raises like ``at_the_bounds``."""
        operation = self._operation(label)
        asked = 0
        can_be_wrong = bool(operation.body or operation.query or operation.path_parameters)
        for mode in BOTH if can_be_wrong else BOTH[:1]:

            @hypothesis.seed(zlib.crc32(label.encode()) + seed)
            @hypothesis.settings(
                max_examples=examples,
                deadline=None,
                database=None,
                suppress_health_check=list(hypothesis.HealthCheck),
                phases=[hypothesis.Phase.generate],
            )
            @hypothesis.given(operation.as_strategy(generation_mode=mode))
            def ask(case: schemathesis.Case[Any]) -> None:
                nonlocal asked
                self._ask(case)
                asked += 1

            ask()
        return asked

    def _operation(self, label: str) -> Any:
        method, path = label.split()
        return self._schema[path][method]

    def _ask(self, case: schemathesis.Case[Any]) -> None:
        if case.meta is None or case.meta.generation.mode.is_positive:
            self._aim(case)
        if case.operation.path.endswith("/auth/logout"):
            self._token = self._service.run(self._superadmin())
        label = case.operation.label
        self._asked[label] += 1
        reply = case.call_and_validate(
            base_url=self._service.url,
            session=self._http,
            headers={"Authorization": f"Bearer {self._token}"},
            # To repeat a request without a token and with a wrong one triples its time.
            excluded_checks=[ignored_auth] if self._asked[label] > 3 else [],
        )
        # A request may have ended every session and deleted every account.
        if reply.status_code == 401:
            self._token = self._service.run(self._superadmin())

    def _aim(self, case: schemathesis.Case[Any]) -> None:
        """Let half of the valid requests name records that exist."""
        if {"before", "after"} & set(case.query):
            # These parameters exclude each other, which no schema of one parameter can express.
            case.query.pop("offset", None)
        body = case.body if isinstance(case.body, dict) else {}
        for name in {"expires_at"} & set(body):
            # A leap year of the future, which no schema can require.
            body[name] = body[name] and f"2996{str(body[name])[4:]}"
        # A moment that is kept, which no schema can require.
        kept = datetime.now(UTC).isoformat(timespec="milliseconds")
        for given, name in ((case.query, "at"), (body, "as_of")):
            if given.get(name):
                given[name] = kept
        turn = next(self._turns)
        for name in set(case.path_parameters) - {"kind"} if turn % 2 else ():
            case.path_parameters[name] = RECORDS.of(case.operation.path, name, turn)
        for name in body if turn % 2 else ():
            if name == "macs" and body[name]:
                body[name] = [RECORDS.of("", "mac", turn)]
            if name in RECORDS.in_bodies and body[name] is not None:
                body[name] = RECORDS.of(RECORDS.in_bodies[name], name, turn)
        # Fields that must agree with the addressed record are not part of a schema.
        if case.method == "PUT" or "/personal-directory/" in case.operation.path:
            for name in {"uuid", "user_uuid", "mac", "level"} & set(body):
                if name != "user_uuid" or "/phone-profiles/" not in case.operation.path:
                    del body[name]
        if case.operation.path.endswith("/adopt"):
            body.pop("mac", None)
        if case.operation.path.endswith("/replace") and "mac" in body:
            body["mac"] = a_mac(COUNT + turn)
        # A profile has a text or a template, and keeps the one that is not given.
        if case.method == "PUT" and "/phone-profiles/" in case.operation.path:
            has_template = bool(body.get("template"))
            for name in {"cnf_xml"} if has_template else {"template", "values"}:
                body.pop(name, None)
            if not body.get("cnf_xml", True):
                del body["cnf_xml"]

    async def _superadmin(self) -> str:
        number = next(self._numbers)
        now = time.time_ns() // 1_000_000
        user = a_user(number, created_at=moment(1), updated_at=moment(1))
        permission = a_permission(
            0, uuid=identifier(number), name=f"p{number}", created_at=moment(1)
        )
        session = a_session(number, user.uuid, expires_at=now + HOUR, ends_at=now + HOUR)
        async with self._service.container.database().write() as tx:
            await tx.users.add(user)
            await tx.permissions.add(permission)
            await tx.assignments.assign(
                Assignment(identifier(number), user.uuid, permission.uuid, 0, "", moment(1))
            )
            await tx.sessions.start(session)
        claims = Claims(user.uuid, session.uuid, "t1", now - 2000, now + HOUR)
        return self._service.container.tokens().issue(TokenKind.ACCESS, claims)


def _in_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _with_formats(document: dict[str, Any]) -> dict[str, Any]:
    for name, strategy in IN_WORDS.items():
        schemathesis.openapi.format(name, strategy)
    # The hidden characters beyond U+FFFF are in no pattern of the document.
    document = json.loads(
        json.dumps(document).replace(_in_json(HIDDEN), _in_json(HIDDEN + HIDDEN_BEYOND))
    )
    for title, schema in document["components"]["schemas"].items():
        if title in {"LintRequest", "CheckTemplate"}:
            continue  # a check takes every text
        for name, field in schema["properties"].items():
            if (name in IN_WORDS and "pattern" in field) or name in _BY_NAME:
                field["format"] = name
                field.pop("pattern", None)
    return document
