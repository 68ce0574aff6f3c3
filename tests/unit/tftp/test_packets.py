"""TFTP packets of clients, well formed and not."""

import pytest
from hypothesis import example, given, strategies as st

from phoneprov_adapters.tftp import packets
from phoneprov_adapters.tftp.packets import BadPacket, ErrorCode, ReadRequest, parse_request


def request(*texts: str, opcode: int = 1) -> bytes:
    return bytes([0, opcode]) + b"".join(text.encode("latin-1") + b"\0" for text in texts)


def test_request_without_options_is_parsed() -> None:
    assert parse_request(request("SEP001BD4123456.cnf.xml", "OCTET")) == ReadRequest(
        "SEP001BD4123456.cnf.xml"
    )


def test_request_with_options_in_any_case_is_parsed() -> None:
    packet = request("a", "octet", "BlkSize", "1024", "tsize", "0", "TIMEOUT", "3")

    assert parse_request(packet) == ReadRequest("a", 1024, 3, wants_size=True)


def test_large_block_is_reduced_to_one_ethernet_frame() -> None:
    assert parse_request(request("a", "octet", "blksize", "65464")).block_size == packets.MAX_BLOCK


@pytest.mark.parametrize("value", ["7", "65465", "-1", "1e3", "", "999999999", "0x10"])
def test_block_size_outside_the_rfc_is_ignored(value: str) -> None:
    packet = request("a", "octet", "blksize", value)

    assert parse_request(packet).block_size is None


@pytest.mark.parametrize(
    ("packet", "code"),
    [
        (b"", ErrorCode.ILLEGAL_OPERATION),
        (b"\0", ErrorCode.ILLEGAL_OPERATION),
        (request("a", "octet", opcode=2), ErrorCode.ACCESS_VIOLATION),
        (request("a", "octet", opcode=9), ErrorCode.ILLEGAL_OPERATION),
        (request("a", "octet")[:-1], ErrorCode.ILLEGAL_OPERATION),
        (request("a"), ErrorCode.ILLEGAL_OPERATION),
        (request("", "octet"), ErrorCode.ILLEGAL_OPERATION),
        (request("a" * 256, "octet"), ErrorCode.ILLEGAL_OPERATION),
        (request("a" * 600, "octet"), ErrorCode.ILLEGAL_OPERATION),
        (request("a\r\nb", "octet"), ErrorCode.ILLEGAL_OPERATION),
        (request("a", "mail"), ErrorCode.UNDEFINED),
        (request("a", "octet", "blksize", "\xb2"), ErrorCode.ILLEGAL_OPERATION),
    ],
)
def test_malformed_request_is_refused(packet: bytes, code: ErrorCode) -> None:
    with pytest.raises(BadPacket) as raised:
        parse_request(packet)

    assert raised.value.code is code


@given(st.binary(max_size=600))
@example(b"\0\x01" + b"\0" * 510)
def test_any_packet_is_parsed_or_refused(packet: bytes) -> None:
    try:
        parsed = parse_request(packet)
    except BadPacket:
        return
    assert parsed.name.isascii()
    assert parsed.name.isprintable()


@given(st.integers(0, 1 << 40), st.binary(max_size=100))
def test_data_block_number_wraps_at_two_bytes(block: int, content: bytes) -> None:
    packet = packets.data(block, content)

    assert packet == b"\0\x03" + (block % 65536).to_bytes(2, "big") + content


def test_error_message_holds_no_nul_byte() -> None:
    assert packets.error(ErrorCode.NOT_FOUND, "a\0é") == b"\0\x05\0\x01a??\0"
