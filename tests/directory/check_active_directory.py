"""People of a real Active Directory (Samba) in a network namespace: ``make test-directory``."""

import base64
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.command_line import run, run_script
from support.data_folder import populate
from support.scale import note

PEOPLE = 1200
_DOMAIN = "DC=office,DC=example"
_PASSWORD = "Correct-Horse-7"
_FILTER = "'(&(objectCategory=person)(objectClass=user)(mail=*))'"
_ATTRIBUTES = "objectGUID sAMAccountName givenName sn mail telephoneNumber userAccountControl"


class ActiveDirectory:
    """A domain controller of Samba, on loopback of this network namespace."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._tool("domain", "provision", "--realm=OFFICE.EXAMPLE", "--domain=OFFICE",
                   "--server-role=dc", "--dns-backend=NONE", f"--adminpass={_PASSWORD}",
                   f"--targetdir={folder}", "--host-name=dc1", "--host-ip=127.0.0.1",
                   "--use-rfc2307")  # fmt: skip
        self._config = f"--configfile={folder}/etc/smb.conf"
        self._process: subprocess.Popen[bytes] | None = None

    def _tool(self, *arguments: str) -> None:
        done = subprocess.run(
            ["samba-tool", *arguments], check=False, capture_output=True, text=True
        )
        assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]

    def tool(self, *arguments: str) -> None:
        self._tool(*arguments, f"--URL={self.folder}/private/sam.ldb", self._config)

    def start(self) -> None:
        with (self.folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                ["samba", "-F", "--no-process-group", self._config, "--option=server services=ldap"],  # noqa: E501
                stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip
        for _ in range(150):
            if self.search("-s base -b '' dnsHostName").returncode == 0:
                return
            time.sleep(0.2)
        raise AssertionError((self.folder / "log").read_text()[-2000:])

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(30)

    def fill(self, people: int) -> None:
        (self.folder / "users.ldif").write_text("\n".join(map(_user, range(people))))
        done = self._client("ldapadd", f"-f {self.folder}/users.ldif")
        assert done.returncode == 0, done.stderr[-2000:]

    def search(self, more: str, tls: str = "-ZZ") -> subprocess.CompletedProcess[str]:
        return self._client("ldapsearch", more, tls)

    def _client(self, name: str, more: str, tls: str = "-ZZ") -> subprocess.CompletedProcess[str]:
        return run_script(
            f"LDAPTLS_CACERT={self.folder}/private/tls/ca.pem {name} -x {tls} "
            f"-H ldap://dc1.office.example -D Administrator@office.example -w {_PASSWORD} {more}",
            self.folder,
        )

    def people(self, how: str = "-LLL -E pr=500/noprompt") -> subprocess.CompletedProcess[str]:
        return self.search(f"{how} -b {_DOMAIN} {_FILTER} {_ATTRIBUTES}")


def _user(number: int) -> str:
    name = base64.b64encode(f"Müller {number}".encode()).decode()
    return (
        f"dn: CN=User {number},CN=Users,{_DOMAIN}\nobjectClass: user\n"
        f"sAMAccountName: user{number}\n"
        f"givenName: Given\nsn:: {name}\nmail: user{number}@office.example\n"
        f"telephoneNumber: +49 30 {number}\nuserAccountControl: {546 if number == 3 else 544}\n"
    )


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ActiveDirectory]:
    assert os.geteuid() == 0
    folder = tmp_path_factory.mktemp("ad")
    hosts = folder / "hosts"
    hosts.write_text("127.0.0.1 localhost\n127.0.0.1 dc1.office.example dc1\n")
    # The mount is seen in this mount namespace only.
    subprocess.run(["mount", "--bind", hosts, "/etc/hosts"], check=True)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    server = ActiveDirectory(folder / "dc")
    try:
        server.start()
        server.fill(PEOPLE)
        yield server
    finally:
        server.stop()


def test_login_without_tls_is_refused(directory: ActiveDirectory) -> None:
    refused = directory.search(f"-b {_DOMAIN} -s base", tls="")

    assert refused.returncode == 8
    assert "Strong" in refused.stderr


def test_people_are_taken_over_renamed_and_deactivated(
    directory: ActiveDirectory, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    populate(data)
    command = ("sync", "people", "-", "--source", "ad")

    output = directory.people()
    began = time.monotonic()
    first = run(*command, data=data, stdin=output.stdout)
    note(f"Active Directory: {PEOPLE} people in {time.monotonic() - began:.1f} s")
    again = run(*command, data=data, stdin=directory.people("-E pr=500/noprompt").stdout)
    directory.tool("user", "rename", "user7", "--samaccountname=seven")
    directory.tool("user", "disable", "user8")
    directory.tool("user", "delete", "user9")
    changed = run(*command, "--dry-run", data=data, stdin=directory.people().stdout)

    assert output.returncode == 0
    assert "# refldap://" in output.stdout
    assert (first.exit_code, first.stderr) == (0, "")
    assert first.stdout.startswith(f"Synchronised: {PEOPLE} new, 0 changed")
    assert again.stdout.startswith(f"Synchronised: 0 new, 0 changed, {PEOPLE} unchanged")
    assert "updated user7, username user7 -> seven" in changed.stdout
    assert "updated user8, is_active True -> -" in changed.stdout
    assert "deactivated user9" in changed.stdout
