"""The contract of ``ConfigUploader``, over a folder that the test can read."""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

import pytest

from phoneprov_core.kernel.errors import Conflict, Refused, TimedOut
from phoneprov_core.switching.devices.ports import REPLACED_ANOTHER, ConfigUploader, Content, Upload
from phoneprov_core.switching.errors import OUTCOME_UNKNOWN

NAME = "SEP001122334455.cnf.xml"
OLD = b"<old>" + b"o" * 20_000 + b"</old>"
PROFILE = ("<device>" + "Größe ☎ 電話\n" * 1300 + "</device>").encode()
LARGEST = bytes(range(256)) * 2000
MOST_SECONDS = 21
MOST_BLOCKED_SECONDS = 3
LATER_SECONDS = 0.4
"""Seconds in which a cancelled upload could write although it must not."""

CANARY = "canary-in-the-configuration"
IP = "127.0.0.1"
"""The address of the phone that uploads are for."""


def an_upload(
    content: bytes, *, name: str = NAME, attempt: str = "a-1", ip: str | None = IP
) -> Upload:
    """An upload for the phone at ``IP``."""
    return Upload(ip, name, content, attempt)


def _hidden(name: str) -> str:
    return f".{name}.dead-1.tmp"


@dataclass(frozen=True)
class UploaderRig:
    """An uploader, and the folder that it uploads to.

    ``read`` and ``write`` access the folder directly, also during an upload: a file that is being
    renamed may be missing. ``server`` is the prefix of places. ``broken`` is the uploader with a
    fault, such as a wrong password or an unreachable server: each of its uploads must fail.
    ``silent`` is the uploader with a server that accepts the login and never answers, with a
    deadline of at most 20 seconds, and ``lying`` with one that returns other content than it was
    sent; None if the fault is not possible, as for a folder. ``leftover`` returns the name of a
    temporary file of an earlier attempt for a file name. ``secrets`` are the passwords and tokens
    that ``uploader``, ``broken``, ``silent`` and ``lying`` know: no message may contain one.
    """

    uploader: ConfigUploader
    server: str
    read: Callable[[], dict[str, bytes]]
    write: Callable[[str, bytes], object]
    broken: ConfigUploader
    silent: ConfigUploader | None = None
    lying: ConfigUploader | None = None
    leftover: Callable[[str], str] = field(default_factory=lambda: _hidden)
    secrets: tuple[str, ...] = ()


@pytest.mark.asyncio
class UploaderContract:
    """Subclass this class as ``Test...`` with a fixture ``rig``: an ``UploaderRig`` over an empty
    folder."""

    @pytest.fixture
    def rig(self) -> UploaderRig:
        """The rig; override it."""
        raise NotImplementedError("give your subclass of UploaderContract a fixture 'rig'")

    async def test_upload_stores_the_exact_bytes_and_no_other_file(self, rig: UploaderRig) -> None:
        for content in (LARGEST, b"", b"x", PROFILE):
            uploaded = await rig.uploader.upload(an_upload(content))

            assert rig.read() == {NAME: content}
            assert uploaded.place == f"{rig.server}/{NAME}"
            assert uploaded.size == len(content)
            assert uploaded.sha256 == hashlib.sha256(content).hexdigest()

    async def test_any_plain_file_name_is_accepted(self, rig: UploaderRig) -> None:
        names = ("a", "x.y.z", "A_b-c.1.XML", "SEP" + "0" * 56 + ".xml")
        for name in names:
            await rig.uploader.upload(an_upload(PROFILE, name=name))

        assert rig.read() == dict.fromkeys(names, PROFILE)

    async def test_file_of_the_same_name_is_replaced_and_others_are_not(
        self, rig: UploaderRig
    ) -> None:
        rig.write(NAME, OLD)
        rig.write("other.xml", OLD)

        await rig.uploader.upload(an_upload(PROFILE))

        assert rig.read() == {NAME: PROFILE, "other.xml": OLD}

    async def test_file_of_the_same_size_is_replaced(self, rig: UploaderRig) -> None:
        other = PROFILE[:-1] + bytes([PROFILE[-1] ^ 1])
        rig.write(NAME, other)

        await rig.uploader.upload(an_upload(PROFILE))

        assert rig.read() == {NAME: PROFILE}

    @pytest.mark.parametrize(
        ("now", "is_another"),
        [
            (OLD, False),
            (OLD[:-1] + b"!", True),
            (OLD + LARGEST * 16, True),
            (b"", True),
            (None, True),
        ],
        ids=["same", "same size", "longer", "empty", "missing"],
    )
    async def test_file_that_another_program_changed_is_noted(
        self, rig: UploaderRig, now: bytes | None, is_another: bool
    ) -> None:
        if now is not None:
            rig.write(NAME, now)
        expected = Content(len(OLD), hashlib.sha256(OLD).hexdigest())
        upload = an_upload(PROFILE)

        uploaded = await rig.uploader.upload(
            Upload(upload.phone_ip, NAME, PROFILE, upload.attempt, expected)
        )

        assert (REPLACED_ANOTHER in uploaded.notes) is is_another
        assert rig.read() == {NAME: PROFILE}

    async def test_upload_that_may_not_proceed_leaves_the_old_file(self, rig: UploaderRig) -> None:
        lost = TimedOut("The phone was switched by another process.", code=OUTCOME_UNKNOWN)
        found: list[bytes | None] = []

        async def refuse(tx: object = None) -> None:  # noqa: ARG001
            found.append(rig.read().get(NAME))
            raise lost

        for old in (None, OLD):
            if old is not None:
                rig.write(NAME, old)
            upload = Upload(IP, NAME, PROFILE, "p-1", proceed=refuse)
            with pytest.raises(TimedOut) as caught:
                await rig.uploader.upload(upload)

            assert caught.value is lost
            assert rig.read().get(NAME) == found[-1] == old
        assert len(found) == 2

    async def test_upload_of_equal_content_succeeds(self, rig: UploaderRig) -> None:
        for attempt in ("a-1", "a-2"):
            uploaded = await rig.uploader.upload(an_upload(PROFILE, attempt=attempt))

            assert uploaded.size == len(PROFILE)
            assert rig.read() == {NAME: PROFILE}

    async def test_upload_removes_leftovers_of_earlier_attempts(self, rig: UploaderRig) -> None:
        others = {rig.leftover("other.xml"), rig.leftover(f"{NAME}.more"), f"{NAME}.tmp"}
        for name in {rig.leftover(NAME), *others}:
            rig.write(name, b"left over")

        await rig.uploader.upload(an_upload(PROFILE))

        assert set(rig.read()) == {NAME, *others}

    async def test_concurrent_uploads_of_several_files_are_independent(
        self, rig: UploaderRig
    ) -> None:
        wanted = {f"SEP{number:012d}.cnf.xml": PROFILE + bytes([number]) for number in range(8)}
        uploader = rig.uploader

        await asyncio.gather(
            *(uploader.upload(an_upload(content, name=name)) for name, content in wanted.items())
        )

        assert rig.read() == wanted

    async def test_cancelled_upload_leaves_the_old_file_or_the_new_one(
        self, rig: UploaderRig
    ) -> None:
        uploader = rig.uploader
        rig.write(NAME, OLD)
        started = perf_counter()
        await uploader.upload(an_upload(PROFILE, attempt="a-0"))
        whole = perf_counter() - started

        for part in range(12):
            rig.write(NAME, OLD)
            task = asyncio.ensure_future(uploader.upload(an_upload(PROFILE, attempt=f"c-{part}")))
            await asyncio.sleep(whole * part / 12)
            was_done = not task.cancel()
            await asyncio.wait({task}, timeout=MOST_SECONDS)

            assert task.cancelled() or was_done, "the cancellation was swallowed"
            assert rig.read()[NAME] in {OLD, PROFILE}

        await uploader.upload(an_upload(PROFILE, attempt="a-2"))

        assert rig.read()[NAME] == PROFILE

    @pytest.mark.parametrize("turns", [1, 5])
    async def test_cancelled_upload_writes_nothing_afterwards(
        self, rig: UploaderRig, turns: int
    ) -> None:
        task = asyncio.ensure_future(rig.uploader.upload(an_upload(LARGEST)))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task}, timeout=MOST_SECONDS)
        assert task.done()
        rig.write(NAME, OLD)
        await asyncio.sleep(LATER_SECONDS)

        assert rig.read()[NAME] == OLD

    async def test_cancelled_upload_to_a_silent_server_ends(self, rig: UploaderRig) -> None:
        if rig.silent is None:
            pytest.skip("the place cannot be silent")
        task = asyncio.ensure_future(rig.silent.upload(an_upload(PROFILE)))
        await asyncio.sleep(0)
        was_done = not task.cancel()
        await asyncio.wait({task}, timeout=MOST_SECONDS)

        assert task.cancelled() or was_done

    async def test_upload_does_not_block_the_event_loop(self, rig: UploaderRig) -> None:
        """Detects an uploader that never yields, and one that blocks for seconds."""
        for uploader in (rig.uploader, rig.silent):
            if uploader is None:
                continue
            task = asyncio.ensure_future(uploader.upload(an_upload(LARGEST)))
            turns, longest, last = 0, 0.0, perf_counter()
            while not task.done():
                await asyncio.sleep(0.001 if turns > 1 else 0)
                turns, now = turns + 1, perf_counter()
                longest, last = max(longest, now - last), now
            await asyncio.wait({task})
            assert task.cancelled() is False
            task.exception()

            assert turns > 1, "the upload never yielded to other tasks"
            assert longest < MOST_BLOCKED_SECONDS

    async def test_no_message_quotes_a_secret_or_the_configuration(self, rig: UploaderRig) -> None:
        for uploader in (rig.broken, rig.silent, rig.lying):
            if uploader is None:
                continue
            with pytest.raises((Refused, TimedOut)) as caught:
                await uploader.upload(an_upload(f"<device>{CANARY}</device>".encode()))

            text = f"{caught.value.message} {caught.value!r}"
            assert not [secret for secret in (CANARY, *rig.secrets) if secret in text]

    async def test_concurrent_reader_gets_a_complete_file(self, rig: UploaderRig) -> None:
        rig.write(NAME, OLD)
        task = asyncio.ensure_future(rig.uploader.upload(an_upload(LARGEST)))
        seen = set()
        while not task.done():
            seen.add(rig.read().get(NAME))
            await asyncio.sleep(0)
        await task

        # A server that does not rename onto a file has a moment without one, which a note reports.
        whole = {OLD, LARGEST} if not task.result().notes else {OLD, LARGEST, None}
        assert seen <= whole

    async def test_name_with_a_path_is_refused(self, rig: UploaderRig) -> None:
        for name in ("", "..", "../a.xml", "a/b", "a b", "a\r\nDELE b", "ä.xml"):
            for bad in (an_upload(PROFILE, name=name), an_upload(PROFILE, attempt=name)):
                with pytest.raises(Refused):
                    await rig.uploader.upload(bad)

        assert rig.read() == {}

    async def test_failing_server_keeps_the_old_file_and_is_not_quoted(
        self, rig: UploaderRig
    ) -> None:
        rig.write(NAME, OLD)

        with pytest.raises((Refused, TimedOut)) as caught:
            await rig.broken.upload(an_upload(PROFILE))

        assert caught.value.message.endswith(".")
        assert "\n" not in caught.value.message
        assert rig.read() == {NAME: OLD}

    async def test_silent_server_times_out(self, rig: UploaderRig) -> None:
        if rig.silent is None:
            pytest.skip("the place cannot be silent")
        began = perf_counter()

        with pytest.raises(TimedOut):
            await rig.silent.upload(an_upload(PROFILE))

        assert perf_counter() - began < MOST_SECONDS

    async def test_different_content_after_the_upload_is_detected(self, rig: UploaderRig) -> None:
        if rig.lying is None:
            pytest.skip("the place cannot lie")

        with pytest.raises(Refused):
            await rig.lying.upload(an_upload(PROFILE))


@pytest.mark.asyncio
class PhoneUploaderContract:
    """The rest of the contract, for an uploader that connects to the phone itself. It needs the
    fixtures ``rig`` and ``elsewhere``: an uploader that is not allowed to connect to the phone's
    address."""

    @pytest.fixture
    def elsewhere(self, rig: UploaderRig) -> ConfigUploader:
        """An uploader that may not connect to the phone; override it."""
        raise NotImplementedError("give your subclass a fixture 'elsewhere'")

    async def test_phone_without_an_address_is_a_conflict(self, rig: UploaderRig) -> None:
        with pytest.raises(Conflict) as caught:
            await rig.uploader.upload(an_upload(PROFILE, ip=None))

        assert caught.value.code == "no_address"

    async def test_address_outside_the_phone_networks_is_a_conflict(
        self, rig: UploaderRig, elsewhere: ConfigUploader
    ) -> None:
        with pytest.raises(Conflict) as caught:
            await elsewhere.upload(an_upload(PROFILE))

        assert caught.value.code == "address_not_allowed"
        assert rig.read() == {}

    async def test_ipv4_mapped_address_is_called_as_ipv4(self, rig: UploaderRig) -> None:
        uploaded = await rig.uploader.upload(an_upload(PROFILE, ip=f"::ffff:{IP}"))

        assert uploaded.place == f"{rig.server}/{NAME}"
