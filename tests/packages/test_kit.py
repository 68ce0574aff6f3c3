"""The contract kit in another project: it runs there and finds faulty adapters."""

import re
import subprocess
import sys

import pytest

from support.command_line import without_settings
from support.scale import long_only

pytestmark = long_only

SLOPPY_UPLOADER = '''
import hashlib

import pytest

from phoneprov_adapters.testing import UploaderContract, UploaderRig
from phoneprov_core.api import Refused, Uploaded


class Sloppy:
    """Overwrites the old file under any name, and quotes the messages of the system."""

    def __init__(self, folder):
        self.folder = folder

    async def upload(self, upload):
        (self.folder / upload.filename).write_bytes(upload.content)
        digest = hashlib.sha256(upload.content).hexdigest()
        return Uploaded(f"{self.folder}/{upload.filename}", len(upload.content), digest)


class TestUploader(UploaderContract):
    @pytest.fixture
    def rig(self, tmp_path):
        return UploaderRig(
            Sloppy(tmp_path),
            str(tmp_path),
            read=lambda: {path.name: path.read_bytes() for path in tmp_path.iterdir()},
            write=lambda name, content: (tmp_path / name).write_bytes(content),
            broken=Sloppy(tmp_path / "nowhere"),
        )
'''

FAULTY_UPLOADER = '''
import asyncio
import hashlib
import time

import pytest

from phoneprov_adapters.testing import UploaderContract, UploaderRig
from phoneprov_core.api import Refused, Uploaded

SECRET = "hunter2-of-the-server"


class Uploader:
    """Right but for one FAULT."""

    def __init__(self, folder):
        self.folder = folder

    async def upload(self, upload):
        final = self.folder / upload.filename
        digest = hashlib.sha256(upload.content).hexdigest()
        done = Uploaded(f"{self.folder}/{upload.filename}", len(upload.content), digest)
        if FAULT == "same_size" and final.exists():
            if final.stat().st_size == len(upload.content):
                return done
        if FAULT == "blocks":
            self.write(upload)
            return done
        if FAULT == "freezes":
            await asyncio.sleep(0)
            time.sleep(3.5 if len(upload.content) > 500_000 else 0)
            self.write(upload)
            return done
        if FAULT == "later":
            await asyncio.to_thread(lambda: (time.sleep(0.1), self.write(upload)))
            return done
        try:
            await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            if FAULT != "swallows":
                raise
        self.write(upload)
        return done

    def write(self, upload):
        try:
            temporary = self.folder / f".{upload.filename}.{upload.attempt}.tmp"
            temporary.write_bytes(upload.content)
            temporary.replace(self.folder / upload.filename)
        except OSError:
            detail = f" with {SECRET}" if FAULT == "quotes" else ""
            raise Refused(f"The folder refused the file{detail}.") from None


class TestUploader(UploaderContract):
    @pytest.fixture
    def rig(self, tmp_path):
        return UploaderRig(
            Uploader(tmp_path),
            str(tmp_path),
            read=lambda: {path.name: path.read_bytes() for path in tmp_path.iterdir()},
            write=lambda name, content: (tmp_path / name).write_bytes(content),
            broken=Uploader(tmp_path / "nowhere"),
            secrets=(SECRET,),
        )
'''

SLOPPY_DRIVER = '''
import asyncio

import pytest

from phoneprov_adapters.testing import PhoneDriverContract, PhoneDriverRig
from phoneprov_adapters.testing.phone_drivers import WORDS
from phoneprov_adapters.testing.phone_drivers import a_phone
from phoneprov_core.api import Refused


class Sloppy:
    """Retries without end, calls every address, quotes the replies."""

    def __init__(self):
        self.orders = 0
        self.refuses = False

    async def leave_services(self, phone):
        await self.restart(phone, None)

    async def restart(self, phone, software_type):
        for _ in range(2):
            self.orders += 1
            if self.refuses:
                raise Refused(f"The phone said {WORDS}.")


class TestDriver(PhoneDriverContract):
    @pytest.fixture
    def rig(self):
        driver = Sloppy()

        def refuse(refuses=True):
            driver.refuses = refuses

        return PhoneDriverRig(
            driver, a_phone(1), restarts=lambda: driver.orders, refuse=refuse,
            fall_silent=refuse, recover=lambda: refuse(False),
        )
'''


FILES = {
    "sloppy_uploader": SLOPPY_UPLOADER,
    "sloppy_driver": SLOPPY_DRIVER,
    **{
        f"uploader_that_{fault}": f"FAULT = {fault!r}\n{FAULTY_UPLOADER}"
        for fault in ("same_size", "later", "swallows", "blocks", "freezes", "quotes")
    },
}
Results = dict[str, dict[str, set[str]]]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """The names of the tests, by file and outcome."""
    folder = tmp_path_factory.mktemp("theirs")
    for name, source in FILES.items():
        (folder / f"test_{name}.py").write_text(source, encoding="utf-8")
    done = subprocess.run(
        # Without any configuration: pytest-asyncio is in strict mode.
        [
            *(sys.executable, "-m", "pytest", "-rA", "--tb=no", "-p", "no:cacheprovider"),
            ".",
        ],
        cwd=folder,
        env=without_settings(),
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    # With an error during collection, pytest runs no test at all.
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    found: Results = {name: {"PASSED": set(), "FAILED": set(), "ERROR": set()} for name in FILES}
    pattern = r"^(PASSED|FAILED|ERROR) test_(\w+)\.py::\S*?::(test_\w+)"
    for outcome, file, name in re.findall(pattern, done.stdout, re.MULTILINE):
        found[file][outcome].add(name)
    assert not any(outcomes["ERROR"] for outcomes in found.values()), done.stdout
    return found


def test_kit_uploader_without_cleanup_is_found(results: Results) -> None:
    assert results["sloppy_uploader"]["PASSED"]
    assert results["sloppy_uploader"]["FAILED"] >= {
        "test_upload_removes_leftovers_of_earlier_attempts",
        "test_name_with_a_path_is_refused",
        "test_failing_server_keeps_the_old_file_and_is_not_quoted",
    }


@pytest.mark.parametrize(
    ("fault", "test"),
    [
        ("same_size", "test_file_of_the_same_size_is_replaced"),
        ("later", "test_cancelled_upload_writes_nothing_afterwards"),
        ("swallows", "test_cancelled_upload_leaves_the_old_file_or_the_new_one"),
        ("blocks", "test_upload_does_not_block_the_event_loop"),
        ("freezes", "test_upload_does_not_block_the_event_loop"),
        ("quotes", "test_no_message_quotes_a_secret_or_the_configuration"),
    ],
)
def test_kit_faulty_uploader_is_found(results: Results, fault: str, test: str) -> None:
    assert test in results[f"uploader_that_{fault}"]["FAILED"]


def test_kit_faulty_driver_is_found(results: Results) -> None:
    assert results["sloppy_driver"]["FAILED"] >= {
        "test_restart_sends_one_order",
        "test_leave_services_does_not_restart",
        "test_concurrent_orders_are_all_executed",
        "test_refusal_of_the_phone_is_reworded",
        "test_silent_phone_times_out",
        "test_phone_without_an_address_is_a_conflict",
        "test_address_that_is_not_allowed_is_a_conflict",
    }
