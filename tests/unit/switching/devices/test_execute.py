"""Commands to a phone's web server, and its replies."""

import itertools
import re
from urllib.parse import parse_qsl
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, strategies as st

from phoneprov_core.inventory.configuration.well_formed import REPLY_LIMIT
from phoneprov_core.kernel.errors import Invalid, Refused
from phoneprov_core.switching.devices.commands import execute_body, read_execute_reply

uris = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=60)


@given(uris)
@example("https://phone.example/a?b=1&c=<\"'>")
def test_command_is_sent_in_one_form_field(uri: str) -> None:
    ((field, xml),) = parse_qsl(execute_body(uri).decode("ascii"), strict_parsing=True)

    assert field == "XML"
    assert len(xml.encode()) <= 512
    root = ElementTree.fromstring(xml)  # noqa: S314 - our own text
    assert root.tag == "CiscoIPPhoneExecute"
    (item,) = root
    assert execute_body("x" * 256)
    assert (item.tag, item.attrib) == ("ExecuteItem", {"Priority": "0", "URL": uri})


@pytest.mark.parametrize(
    "uri", ["", "x" * 257, '"' * 100, "Key:Stärn", "Key: Star", "Init:\n", "\0"]
)
def test_command_over_the_phones_limits_is_refused(uri: str) -> None:
    with pytest.raises(Invalid):
        execute_body(uri)


ITEM = b'<ResponseItem Status="%s" Data="Success" URL="a"/>'
GOOD = b"<CiscoIPPhoneResponse>" + ITEM % b"0" + b"</CiscoIPPhoneResponse>"


@pytest.mark.parametrize(
    "body",
    [
        GOOD,
        b'<?xml version="1.0" encoding="iso-8859-1"?>\r\n' + GOOD,
        b'<?xml version="1.0" encoding="no-such-encoding"?>' + GOOD,
        b"\xef\xbb\xbf" + GOOD,
        b"\r\n " + GOOD + b"\r\n",
        GOOD.replace(b"Success", b"Erledigt \xfc"),
        GOOD.decode().encode("utf-16"),
        GOOD.replace(b"Success", b""),
        GOOD.replace(b"/>", b"></ResponseItem>"),
        b"<CiscoIPPhoneResponse>" + ITEM % b"0" * 3 + b"</CiscoIPPhoneResponse>",
    ],
)
def test_reply_with_success_is_accepted(body: bytes) -> None:
    read_execute_reply(200, body)


def error(number: int) -> bytes:
    return b'<CiscoIPPhoneError Number="%d">Secret</CiscoIPPhoneError>' % number


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        *((200, error(number), rf"\berror {number}\b") for number in (0, 1, 2, 3, 4, 5, 6, 7, 99)),
        *((200, error(number), "PHONEPROV_PHONE_USER") for number in (0, 4)),
        *((status, GOOD, rf"HTTP {status}.*PHONEPROV_PHONE_USER") for status in (401, 403)),
        *(
            (status, GOOD, f"HTTP {status}")
            for status in (100, 201, 204, 301, 302, 307, 404, 500, 503)
        ),
        *(
            (200, GOOD.replace(ITEM % b"0", b"".join(items)), r"\bstatus 6\b")
            for items in itertools.permutations([ITEM % b"0", ITEM % b"0", ITEM % b"6"])
        ),
    ],
)
def test_reply_with_a_failure_is_named(status: int, body: bytes, message: str) -> None:
    with pytest.raises(Refused, match=message):
        read_execute_reply(status, body)


def test_reply_known_errors_have_messages() -> None:
    messages = set()
    for number in (1, 2, 3, 4, 6, 7):
        with pytest.raises(Refused) as caught:
            read_execute_reply(200, error(number))
        messages.add(re.sub(r"\d", "N", caught.value.message))
    assert len(messages) == 6


BOMB = (
    b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    b'<CiscoIPPhoneResponse><ResponseItem Status="0" Data="&b;"/></CiscoIPPhoneResponse>'
)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"   ",
        b"OK",
        b"<html>raw-reply-text</html>",
        b"<CiscoIPPhoneResponse/>",
        b"<CiscoIPPhoneResponse><x>" + ITEM % b"0" + b"</x></CiscoIPPhoneResponse>",
        b"<CiscoIPPhoneResponse><ResponseItem/></CiscoIPPhoneResponse>",
        b"<CiscoIPPhoneResponse>" + ITEM % b"0",
        b"<CiscoIPPhoneResponse>" + ITEM % b"raw-reply-text" + b"</CiscoIPPhoneResponse>",
        b"<CiscoIPPhoneResponse>" + ITEM % b"&#1632;" + b"</CiscoIPPhoneResponse>",
        b"<other>" + ITEM % b"0" + b"</other>",
        b"<ciscoipphoneresponse>" + ITEM % b"0" + b"</ciscoipphoneresponse>",
        b"<CiscoIPPhoneError/>",
        b'<CiscoIPPhoneError Number=""/>',
        b'<CiscoIPPhoneError Number="1e3"/>',
        b'<CiscoIPPhoneError Number="%s"/>' % (b"9" * 5000),
        GOOD + GOOD,
        b"<!DOCTYPE x>" + GOOD,
        b'<!DOCTYPE x SYSTEM "file:///etc/passwd">' + GOOD,
        BOMB,
        GOOD.replace(b"Success", b"&undefined;"),
        GOOD + b" " * REPLY_LIMIT + b"<!-- -->",
        b"<a>" * 20000,
    ],
)
def test_reply_malformed_is_refused(body: bytes) -> None:
    with pytest.raises(Refused, match="cannot be parsed"):
        read_execute_reply(200, body)


@given(
    st.integers(100, 599) | st.just(200),
    st.binary(max_size=200)
    | st.text().map(str.encode)
    | st.lists(
        st.sampled_from([GOOD, BOMB, b"<CiscoIPPhoneResponse>", ITEM, b"<", b">", b"&", b"\0"])
    ).map(b"".join),
)
def test_reply_any_content_is_parsed_and_not_quoted(status: int, body: bytes) -> None:
    message = ""
    try:
        read_execute_reply(status, body)
    except Refused as refused:
        message = refused.message

    if message:
        assert len(message) < 200
        assert message.isprintable()
        assert message.endswith(".")
    else:
        assert status == 200
        assert b'Status="0"' in body


@given(st.text(st.characters(codec="ascii", categories=["L"]), min_size=12, max_size=40))
def test_reply_text_of_the_phone_is_not_quoted(words: str) -> None:
    marked = f"zq{words}zq".encode()
    for body in (
        marked,
        b"<%s/>" % marked,
        b'<CiscoIPPhoneError Number="1">%s</CiscoIPPhoneError>' % marked,
        b'<CiscoIPPhoneError Number="%s"/>' % marked,
        b'<CiscoIPPhoneResponse><ResponseItem Status="6" Data="%s"/></CiscoIPPhoneResponse>'
        % marked,
    ):
        with pytest.raises(Refused) as caught:
            read_execute_reply(200, body)
        assert marked.decode() not in str(caught.value)
