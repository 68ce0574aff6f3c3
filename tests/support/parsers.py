"""Every parser of input from clients and phones, each as one function of bytes.

A parser returns whether it accepted the input, after it checked its own result. It refuses other
input with an error of phoneprov, which counts as False. Any other error is a bug.
"""

import ipaddress
import json
import re
from collections.abc import Callable
from typing import Any

from phoneprov_core.inventory.configuration.well_formed import device_xml_rule
from phoneprov_core.inventory.phones.model import CreatePhone
from phoneprov_core.inventory.profiles.model import CreateProfile
from phoneprov_core.kernel import values as addresses
from phoneprov_core.kernel.errors import PhoneprovError
from phoneprov_core.people.auth.model import Credentials
from phoneprov_core.people.users.model import CreateUser
from phoneprov_http.bodies import collected, decoded, require_json
from support.parser import Parser, text_of
from support.parsers_of_callers import AUTHORIZATION, FORWARDED, JWT
from support.records import identifier

OWN_WORDS = re.compile(r"(must|is|are|contains|declares) ")


def _rule(rule: Callable[[str], str], holds: Callable[[str, str], bool]) -> Callable[..., bool]:
    """A parser from a rule for a field and a property of its input and result."""

    def takes(content: bytes) -> bool:
        text = text_of(content)
        try:
            answer = rule(text)
        except ValueError as error:
            # A UnicodeError is a ValueError too, but not one of phoneprov.
            if type(error) is not ValueError or not OWN_WORDS.match(str(error)):
                raise
            return False
        assert holds(text, answer), (text, answer)
        return True

    return takes


_MAC = re.compile(r"[0-9A-F]{2}(:[0-9A-F]{2}){5}", re.ASCII)


def _is_mac(text: str, answer: str) -> bool:
    same = re.sub("[-:.]", "", text).upper() == answer.replace(":", "")
    return bool(_MAC.fullmatch(answer)) and same and addresses.mac(answer) == answer


def _is_ip(text: str, answer: str) -> bool:
    return str(ipaddress.ip_address(text)) == answer == addresses.ip(answer) and "%" not in answer


MAC = Parser(
    [
        *(b"00:1b:d4:12:34:56", b"00-1B-D4-12-34-56", b"001b.d412.3456", b"001BD4123456"),
        *(b"00:1b-d4:12:34:56", b"ff:ff:ff:ff:ff:ff", b"01:00:5e:00:00:01", b"0" * 12),
    ],
    [b":", b"-", b".", b"00", b"ff", b"g", "\uff11".encode(), "\u0661".encode()],
    _rule(addresses.mac, _is_mac),
)
IP = Parser(
    [
        *(b"10.0.0.1", b"255.255.255.255", b"2001:db8::1", b"::ffff:10.0.0.1", b"fe80::1%eth0"),
        *(b"010.0.0.1", b"0x7f.1", b"2130706433", b"::", b"1:2:3:4:5:6:7:8", b"10.0.0.1/8"),
    ],
    [b".", b":", b"::", b"%", b"0", b"256", b"ffff", b"/", "\u0661".encode()],
    _rule(addresses.ip, _is_ip),
)
XML = Parser(
    [
        b'<?xml version="1.0" encoding="UTF-8"?>\n<device>\n <a b="c">&lt;&#x1f4de;</a></device>',
        b"<a><![CDATA[<!DOCTYPE x>]]><!-- c --><?pi d?></a>",
        b"<!DOCTYPE a [<!ENTITY x 'y'><!ENTITY % z SYSTEM 'file:///etc/passwd'>]><a>&x;</a>",
        b"<x:a xmlns:x='urn:y' x:b=''/>",
        b"<a>" * 70 + b"</a>" * 70,
        "<ger\u00e4t n\u00e4me='\U0001f4de'>\u65e5\u672c</ger\u00e4t>".encode(),
    ],
    [
        *(b"<", b">", b"</", b"/>", b"&", b";", b"&#", b"&#x", b"<!", b"<!DOCTYPE", b"<!ENTITY"),
        *(
            b"]]>",
            b"<![CDATA[",
            b"<!--",
            b"-->",
            b"<?",
            b"?>",
            b"'",
            b'"',
            b"=",
            b"<a>",
            b"[",
            b"]",
        ),
        *(b"encoding='", b"utf-16", b"idna", b"%", b"SYSTEM", b"standalone='yes'"),
    ],
    _rule(device_xml_rule(), lambda text, answer: answer is text),
)

_COMMANDS: list[type[Any]] = [Credentials, CreateUser, CreatePhone, CreateProfile]
_TYPES = (None, "application/json", 'Application/JSON; charset="UTF-8"', "text/plain", ";charset=")
_BODIES: list[dict[str, Any]] = [
    {"username": "ada", "password": "correct horse"},
    {
        "first_name": "Ada", "last_name": "L\u00f6v", "username": "ada", "email": "ada@example.com",
        "password": "correct horse battery", "is_active": True, "lang": "de-CH",
        "timezone": "Europe/Paris",
    },
    {"mac": "001bd4123456", "model": "CP-7945G", "phone_ip": "10.0.0.5", "name": "Front desk"},
    {
        "user_uuid": identifier(1), "name": "Ada", "cnf_xml": "<device/>",
        "compatible_models": ["7945", "7965"], "software_type": "SCCP", "description": None,
    },
]  # fmt: skip


def _takes_body(content: bytes) -> bool:
    """As one of the commands, chosen by the length of the input."""
    command = _COMMANDS[len(content) % len(_COMMANDS)]
    content_type = _TYPES[len(content) // 4 % 3 if len(content) % 16 else len(content) // 16 % 5]
    try:
        require_json({} if content_type is None else {"content-type": content_type})
        body = decoded(content)
    except PhoneprovError:
        return False
    # It reads the text like another reader.
    assert json.loads(content) == body
    try:
        collected(command, body, {})
    except PhoneprovError:
        return False
    return True


BODY = Parser(
    [
        *(json.dumps(body).encode() for body in _BODIES),
        *(json.dumps(body, ensure_ascii=False, indent=1).encode() for body in _BODIES),
        *(b"null", b"[]", b'""', b"1e400", b'{"a":1,"a":2}', b'{"mac":"\\ud800"}', b"[" * 2000),
        b'{"username":{"username":[{}]},"level":-0.0,"is_active":"true"}',
    ],
    [
        *(b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\\u", b"\\ud800", b"\\u0000", b"null"),
        *(b"true", b"NaN", b"Infinity", b"-", b"1e5", b"0.1", b'{"', b'":', b"[[", b'"mac":'),
    ],
    _takes_body,
)

PARSERS = {
    "MAC": MAC,
    "IP": IP,
    "XML": XML,
    "JWT": JWT,
    "JSON body": BODY,
    "Authorization": AUTHORIZATION,
    "X-Forwarded-For": FORWARDED,
}
