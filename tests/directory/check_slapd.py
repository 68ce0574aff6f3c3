"""People of Debian's slapd over StartTLS: ``make test-directory``."""

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from phoneprov_http.main.commands.terminal import free_port
from support.command_line import run, run_script
from support.data_folder import populate
from support.scale import note

PEOPLE = 1500
_CONFIGURATION = """\
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
TLSCertificateFile {folder}/server.pem
TLSCertificateKeyFile {folder}/server.key
security ssf=128
sizelimit {limit}
database mdb
suffix "dc=office,dc=example"
rootdn "cn=admin,dc=office,dc=example"
rootpw secret
directory {folder}/data
"""


class Slapd:
    """A slapd on loopback that refuses every connection without TLS."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        (folder / "data").mkdir(parents=True)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
             "/CN=directory", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
             folder / "server.key", "-out", folder / "server.pem"],
            check=True, capture_output=True,
        )  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None

    def fill(self, people: int) -> None:
        self._configure(500)
        root = "dn: dc=office,dc=example\nobjectClass: dcObject\nobjectClass: organization\n"
        entries = [f"{root}dc: office\no: Office\n"]
        entries += [person(number) for number in range(people)]
        (self.folder / "all.ldif").write_text("\n".join(entries))
        added = subprocess.run(
            ["/usr/sbin/slapadd", "-q", "-f", self.folder / "slapd.conf", "-l",
             self.folder / "all.ldif"],
            check=False, capture_output=True, text=True,
        )  # fmt: skip
        assert added.returncode == 0, added.stderr

    def start(self, limit: int) -> None:
        self._configure(limit)
        self._process = subprocess.Popen(
            ["/usr/sbin/slapd", "-d", "0", "-f", self.folder / "slapd.conf", "-h",
             f"ldap://127.0.0.1:{self.port}"],
        )  # fmt: skip
        for _ in range(100):
            if "result" in self.search("-s base").stdout:
                return
            time.sleep(0.1)
        raise AssertionError("slapd does not answer")

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()

    def _configure(self, limit: int) -> None:
        text = _CONFIGURATION.format(folder=self.folder, limit=limit)
        (self.folder / "slapd.conf").write_text(text)

    def command(self, more: str = "", tls: str = "-ZZ") -> str:
        return (
            f"LDAPTLS_CACERT={self.folder}/server.pem ldapsearch -x {tls} "
            f"-H ldap://127.0.0.1:{self.port} -b dc=office,dc=example -o ldif_wrap=76 {more}"
        )

    def search(self, more: str = "", tls: str = "-ZZ") -> subprocess.CompletedProcess[str]:
        return run_script(self.command(more, tls), self.folder)


def person(number: int) -> str:
    last = (
        "Müller" if number % 3 else f"Nachname mit vielen Buchstaben, der umbrochen wird, {number}"
    )
    return (
        f"dn: uid=user{number},dc=office,dc=example\nobjectClass: inetOrgPerson\n"
        f"uid: user{number}\n"
        f"cn: Person {number}\nsn: {last}\ngivenName: Jürgen\ngivenName;lang-en: George\n"
        f"mail: user{number}@office.example\ntelephoneNumber: +49 30 {number}\nl: Berlin\n"
    )


FILTER = (
    "'(&(objectClass=inetOrgPerson)(mail=*))' uid givenName sn mail telephoneNumber l entryUUID"
)


@pytest.fixture(scope="module")
def slapd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slapd]:
    assert shutil.which("ldapsearch")
    server = Slapd(tmp_path_factory.mktemp("slapd"))
    server.fill(PEOPLE)
    server.start(limit=2000)
    try:
        yield server
    finally:
        server.stop()


def test_bind_without_tls_is_refused(slapd: Slapd) -> None:
    assert "result: 13 Confidentiality required" in slapd.search(FILTER, tls="").stdout


def test_name_localhost_is_not_that_of_the_certificate(slapd: Slapd) -> None:
    text = slapd.command(FILTER).replace("127.0.0.1", "localhost")

    assert run_script(text, slapd.folder).returncode != 0


@pytest.mark.parametrize("how", ["-LLL", "-L", "", "-LLL -E pr=200/noprompt", "-E pr=200/noprompt"])
def test_1500_people_are_taken_over_and_stay(slapd: Slapd, tmp_path: Path, how: str) -> None:
    populate(tmp_path / "data")
    output = slapd.search(f"{how} {FILTER}")
    (tmp_path / "people.ldif").write_text(output.stdout)

    began = time.monotonic()
    first = run("sync", "people", str(tmp_path / "people.ldif"), "--source", "openldap",
                data=tmp_path / "data")  # fmt: skip
    took = time.monotonic() - began
    began = time.monotonic()
    again = run("sync", "people", "-", "--source", "openldap", data=tmp_path / "data",
                stdin=output.stdout)  # fmt: skip
    note(f"slapd {how}: {PEOPLE} people in {took:.1f} s, again in {time.monotonic() - began:.1f} s")

    assert output.returncode == 0
    assert (first.exit_code, first.stderr) == (0, "")
    assert first.stdout.startswith(f"Synchronised: {PEOPLE} new, 0 changed")
    assert again.stdout.startswith(f"Synchronised: 0 new, 0 changed, {PEOPLE} unchanged")


def test_renamed_person_keeps_the_account(slapd: Slapd, tmp_path: Path) -> None:
    populate(tmp_path / "data")
    options = ("sync", "people", "-", "--source", "openldap")
    run(*options, data=tmp_path / "data", stdin=slapd.search(f"-LLL {FILTER}").stdout)
    rename = (
        f"LDAPTLS_CACERT={slapd.folder}/server.pem ldapmodrdn -x -ZZ -H "
        f"ldap://127.0.0.1:{slapd.port} -D cn=admin,dc=office,dc=example -w secret -r "
        "uid=user7,dc=office,dc=example uid={0}"
    )

    renamed = run_script(rename.format("seven"), slapd.folder)
    done = run(*options, "--dry-run", data=tmp_path / "data",
               stdin=slapd.search(f"-LLL {FILTER}").stdout)  # fmt: skip
    run_script(rename.replace("uid=user7", "uid=seven").format("user7"), slapd.folder)

    assert renamed.returncode == 0
    assert "updated user7, username user7 -> seven" in done.stdout


def test_size_limit_of_the_server_writes_nothing(tmp_path: Path) -> None:
    """ldapsearch prints what it got, then ends with code 4."""
    server = Slapd(tmp_path / "slapd")
    server.fill(60)
    server.start(limit=50)
    populate(tmp_path / "data")
    try:
        silent, full = server.search(f"-LLL {FILTER}"), server.search(FILTER)
    finally:
        server.stop()

    refused = run("sync", "people", "-", "--source", "o", data=tmp_path / "data", stdin=full.stdout)

    assert (silent.returncode, silent.stdout.count("dn: ")) == (4, 50)
    assert refused.exit_code == 5
    assert "result 4" in refused.stderr
