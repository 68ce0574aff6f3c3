"""``phoneprov doctor``: faults of FTP servers and of accounts in Asterisk's manager interface."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from phoneprov_adapters.composition.doctor import examine
from phoneprov_adapters.composition.doctor_lines import CheckResult, Verdict
from phoneprov_adapters.ftp.listings import name_of_test
from phoneprov_adapters.runtime.tasks import ordered_id
from support.ami_stub import SECRET, USER, AmiStub, event
from support.data_folder import populate
from support.ftp_servers import PASSWORD, USER as FTP_USER, PlainHandler, pyftpdlib_server

ALL = "elradfmwM"
MAY_RESTART = b"PJSIPNotify: Send NOTIFY. (Priv: system,reporting,all)\r\n"
BOOTED = event("FullyBooted", Status="Fully Booted")


async def finding(data: Path, check: str, **environment: object) -> CheckResult:
    populate(data)
    variables = {f"PHONEPROV_{name}": str(value) for name, value in environment.items()}
    variables["PHONEPROV_DATA_DIR"] = str(data)
    return {one.check: one async for one in examine(variables)}[check]


@pytest.fixture
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    """The server runs in a thread of this process."""
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.mark.parametrize(
    ("umask", "rights", "password", "state", "message"),
    [
        (0o022, ALL, PASSWORD, Verdict.OK, "A test file was uploaded and deleted."),
        (0o077, ALL, PASSWORD, Verdict.OK, "A test file was uploaded and deleted."),
        (0o077, "elradfmw", PASSWORD, Verdict.FAILED, "mode 0600: a TFTP or HTTP server"),
        (0o022, "elr", PASSWORD, Verdict.FAILED, "refused the temporary file"),
        (0o022, "elradmw", PASSWORD, Verdict.FAILED, "refused to rename the file"),
        (0o022, ALL, "wrong", Verdict.FAILED, "refused the user or the password"),
    ],
    indirect=["umask"],
    ids=["good", "chmod", "umask", "read only", "no rename", "wrong password"],
)
@pytest.mark.usefixtures("umask")
async def test_doctor_uploads_a_test_file(
    tmp_path: Path, rights: str, password: str, state: Verdict, message: str
) -> None:
    folder = tmp_path / "ftp"
    folder.mkdir()
    kept = {"SEP001122334455.cnf.xml", name_of_test(ordered_id()), "phoneprov-test-mine.xml"}
    for name in kept:
        (folder / name).write_bytes(b"a phone's")
    with pyftpdlib_server(folder, PlainHandler, perm=rights) as port:
        found = await finding(
            tmp_path / "data",
            "ftp",
            FTP_HOST="127.0.0.1",
            FTP_PORT=port,
            FTP_USER=FTP_USER,
            FTP_PASSWORD=password,
        )
        assert (found.state, message in found.message) == (state, True), found
        assert {file.name for file in folder.iterdir()} == kept


async def test_doctor_removes_test_files_that_a_killed_one_left(tmp_path: Path) -> None:
    left = name_of_test("0190a000-0000-7000-8000-000000000001")
    for name in (left, f".{left}.0190a000.tmp", f"{left}.phoneprov-0190a000.tmp"):
        (tmp_path / name).write_bytes(b"phoneprov doctor")
    with pyftpdlib_server(tmp_path, PlainHandler, perm=ALL) as port:
        login = {"FTP_USER": FTP_USER, "FTP_PASSWORD": PASSWORD}
        await finding(tmp_path / "data", "ftp", FTP_HOST="127.0.0.1", FTP_PORT=port, **login)

    assert [file.name for file in tmp_path.iterdir()] == ["data"]


@pytest.mark.parametrize(
    ("commands", "events", "state", "advice"),
    [
        (MAY_RESTART, BOOTED, Verdict.OK, None),
        (
            b"Ping: Keepalive. (Priv: <none>)\r\n",
            BOOTED,
            Verdict.FAILED,
            "write = system,reporting",
        ),
        (MAY_RESTART, b"", Verdict.FAILED, "read = system,call"),
    ],
    ids=["good", "without write", "without read"],
)
async def test_doctor_names_the_missing_right_of_the_manager_account(
    tmp_path: Path, commands: bytes, events: bytes, state: Verdict, advice: str | None
) -> None:
    async with AmiStub() as stub:
        stub.answers["ListCommands"] = lambda action_id: (
            events + b"Response: Success\r\nActionID: %b\r\n%b\r\n" % (action_id.encode(), commands)
        )
        found = await finding(
            tmp_path,
            "asterisk",
            AMI_HOST="127.0.0.1",
            AMI_PORT=stub.port,
            AMI_USER=USER,
            AMI_SECRET=SECRET,
            UPLOADER="served",
        )
    assert found.state is state, found
    assert (found.next_step is None) if advice is None else advice in (found.next_step or "")
