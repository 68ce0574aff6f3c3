"""One TFTP transfer against clients that lose, repeat and reorder packets."""

from random import Random

import pytest
from hypothesis import given, strategies as st

from phoneprov_adapters.serving.contents import MemoryFile
from phoneprov_adapters.tftp.packets import ReadRequest
from phoneprov_adapters.tftp.transfer import GIVE_UP_SECONDS, Transfer, TransferState


def ack(block: int) -> bytes:
    return b"\0\x04" + (block & 0xFFFF).to_bytes(2, "big")


def block_of(packet: bytes) -> int:
    return int.from_bytes(packet[2:4], "big")


def transfer_of(content: bytes, **options: int) -> Transfer:
    return Transfer(ReadRequest("a", **options), MemoryFile(content))  # type: ignore[arg-type]


def run(transfer: Transfer) -> bytes:
    """Receive the whole file as a client without losses."""
    received = b""
    packet = transfer.start()
    while packet is not None:
        if packet[1] == 6:
            packet = transfer.receive(ack(0))
            continue
        received += packet[4:]
        packet = transfer.receive(ack(block_of(packet)))
    return received


@given(st.binary(max_size=5000), st.sampled_from([None, 8, 512, 1024]))
def test_client_receives_the_exact_content(content: bytes, block_size: int | None) -> None:
    transfer = Transfer(ReadRequest("a", block_size), MemoryFile(content))

    assert run(transfer) == content
    assert transfer.state is TransferState.SERVED
    assert transfer.acknowledged_bytes == len(content)


def test_content_of_whole_blocks_ends_with_an_empty_block() -> None:
    transfer = transfer_of(b"x" * 1024)
    transfer.start()
    transfer.receive(ack(1))

    assert transfer.receive(ack(2)) == b"\0\x03\0\x03"
    assert transfer.receive(ack(3)) is None
    assert transfer.state is TransferState.SERVED


def test_options_are_acknowledged_with_the_values_used() -> None:
    transfer = transfer_of(b"x" * 1000, block_size=1024, timeout=2, wants_size=True)

    assert transfer.start() == b"\0\x06blksize\x001024\x00timeout\x002\x00tsize\x001000\x00"
    assert transfer.retry_seconds == 2.0


def test_block_numbers_wrap_after_65535() -> None:
    content = bytes(8 * 70_000)
    transfer = transfer_of(content, block_size=8)

    assert run(transfer) == content


def test_duplicate_acknowledgement_causes_no_packet() -> None:
    transfer = transfer_of(b"x" * 2000)
    transfer.start()
    transfer.receive(ack(1))

    assert transfer.receive(ack(1)) is None
    assert transfer.state is TransferState.RUNNING


@pytest.mark.parametrize(
    ("timeout", "waits"), [(None, [1, 2, 4, 8, 15]), (1, [1, 2, 4, 8, 15]), (5, [5, 10, 15])]
)
def test_silent_client_is_asked_again_after_doubled_times_for_30_seconds(
    timeout: int | None, waits: list[int]
) -> None:
    transfer = Transfer(ReadRequest("a", timeout=timeout), MemoryFile(b"x"))
    first = transfer.start()
    waited = [transfer.retry_seconds]
    while (packet := transfer.time_out()) is not None:
        assert packet == first
        waited.append(transfer.retry_seconds)

    assert waited == waits
    assert sum(waited) == GIVE_UP_SECONDS
    assert transfer.state is TransferState.FAILED
    assert transfer.acknowledged_bytes == 0


def test_acknowledgement_resets_the_time_before_a_packet_is_sent_again() -> None:
    transfer = transfer_of(b"x" * 2000)
    transfer.start()
    transfer.time_out()
    transfer.time_out()
    assert transfer.retry_seconds == 4

    transfer.receive(ack(1))

    assert transfer.retry_seconds == 1


def test_transfer_without_the_last_acknowledgement_fails() -> None:
    transfer = transfer_of(b"x" * 600)
    transfer.start()
    transfer.receive(ack(1))
    while transfer.time_out() is not None:
        assert transfer.state is TransferState.RUNNING

    assert (transfer.state, transfer.acknowledged_bytes) == (TransferState.FAILED, 512)


def decoded(received: bytes) -> bytes:
    """The content that a client of our kind (lines end with LF) makes of netascii."""
    return received.replace(b"\r\n", b"\n").replace(b"\r\0", b"\r")


@given(st.lists(st.sampled_from([b"\r", b"\n", b"\r\n", b"\0", b"text" * 30])))
@pytest.mark.parametrize("block_size", [8, 512])
def test_netascii_arrives_whole(block_size: int, parts: list[bytes]) -> None:
    content = b"".join(parts).replace(b"\r\0", b"\r")
    request = ReadRequest("a", block_size, wants_size=True, is_netascii=True)
    transfer = Transfer(request, MemoryFile(content))

    received = run(transfer)

    assert received.replace(b"\r\n", b"").replace(b"\r\0", b"").count(b"\n") == 0
    assert decoded(received) == content
    assert transfer.acknowledged_bytes == len(content)


def test_netascii_does_not_acknowledge_the_size() -> None:
    request = ReadRequest("a", 512, wants_size=True, is_netascii=True)

    assert Transfer(request, MemoryFile(b"a\n")).start() == b"\0\x06blksize\x00512\x00"


@pytest.mark.parametrize("packet", [b"\0\x05\0\x03full\0", b"\0\x05\0\0"])
def test_error_of_the_client_ends_the_transfer(packet: bytes) -> None:
    transfer = transfer_of(b"x" * 2000)
    transfer.start()
    transfer.receive(ack(1))

    assert transfer.receive(packet) is None
    assert transfer.state is TransferState.FAILED
    assert transfer.acknowledged_bytes == 512


@given(st.lists(st.binary(max_size=8), max_size=30))
def test_malformed_packets_of_the_client_are_ignored(garbage: list[bytes]) -> None:
    transfer = transfer_of(b"x" * 2000)
    transfer.start()
    for packet in garbage:
        if packet[:2] not in {b"\0\x04", b"\0\x05"}:
            assert transfer.receive(packet) is None

    assert transfer.state is TransferState.RUNNING


@pytest.mark.parametrize("seed", range(20))
def test_lossy_reordering_network_delivers_the_exact_content(seed: int) -> None:
    random = Random(seed)
    content = random.randbytes(40_000)
    transfer = transfer_of(content, block_size=512)
    received: dict[int, bytes] = {}
    to_client = [transfer.start()]
    to_server: list[bytes] = []
    while transfer.state is TransferState.RUNNING:
        if not to_client and not to_server:
            to_client.append(transfer.time_out())
            continue
        if to_server and (not to_client or random.random() < 0.5):
            packet = to_server.pop(random.randrange(len(to_server)))
            if random.random() > 0.05:
                to_client.append(transfer.receive(packet))
            continue
        sent = to_client.pop(random.randrange(len(to_client)))
        if sent is None or random.random() < 0.05:
            continue
        if sent[1] == 6:
            to_server.append(ack(0))
            continue
        received[block_of(sent)] = sent[4:]
        to_server += [ack(block_of(sent))] * random.choice([1, 1, 2])

    assert transfer.state is TransferState.SERVED
    assert b"".join(received[number] for number in sorted(received)) == content
