"""``phoneprov import`` and ``export`` as a script would use them."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from phoneprov_adapters.composition.lifecycle import migrate_embedded, prepare
from phoneprov_adapters.composition.settings import read_settings
from support.scale import note, rounds

MANY = rounds(2_000, 10_000)


@pytest.fixture(autouse=True)
def installation(tmp_path: Path) -> None:
    """An empty database in the data folder."""
    settings = read_settings({"PHONEPROV_DATA_DIR": str(tmp_path / "data")})
    prepare(settings)
    asyncio.run(migrate_embedded(settings))


def phoneprov(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PHONEPROV_")}
    return subprocess.run(
        [sys.executable, "-m", "phoneprov_http.main", *arguments],
        env={**kept, "PHONEPROV_DATA_DIR": str(folder / "data")},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_bad_rows_stop_everything_unless_told_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "phones.csv").write_text(
        "mac,name,phone_ip\n00:1b:d4:12:34:56,Desk,10.0.0.1\nnonsense,Hall,10.0.0\n"
    )
    bad = [
        "phones.csv:3: mac must be a MAC address of 12 hexadecimal digits, like 00:1B:D4:12:34:56.",
        "phones.csv:3: phone_ip must be an IPv4 or IPv6 address.",
    ]

    dry = phoneprov(tmp_path, "import", "phones", "phones.csv", "--dry-run")
    stopped = phoneprov(tmp_path, "import", "phones", "phones.csv")
    going = phoneprov(tmp_path, "import", "phones", "phones.csv", "--keep-going")

    assert [done.stderr.splitlines() for done in (dry, stopped, going)] == [bad, bad, bad]
    assert [done.returncode for done in (dry, stopped, going)] == [1, 1, 1]
    assert dry.stdout.startswith("Nothing was written. An import would find: 1 new")
    assert stopped.stdout == "Nothing was written: 1 new, 0 changed, 0 as they were, 1 bad.\n"
    assert going.stdout == "Imported: 1 new, 0 changed, 0 as they were, 1 bad.\n"


def test_ten_thousand_phones_take_seconds(tmp_path: Path) -> None:
    rows = (f"02:00:00:00:{n >> 8:02x}:{n & 255:02x},CP-7945G,Desk {n}" for n in range(MANY))
    (tmp_path / "phones.csv").write_text("mac,model,name\n" + "\n".join(rows))

    began = time.monotonic()
    done = phoneprov(tmp_path, "import", "phones", "phones.csv")
    took = time.monotonic() - began
    out = phoneprov(tmp_path, "export", "phones", "out.csv")

    note(f"{MANY} phones were imported in {took:.1f} s, the start of the command included")
    assert (done.returncode, done.stdout.split(",")[0]) == (0, f"Imported: {MANY} new")
    assert out.stdout == f"{MANY} record(s) were written to out.csv.\n"
    assert took < 60


def test_a_directory_goes_out_as_vcard_and_comes_back(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("name,work,department\nAda,+44 20,Sales\n=1+1,2,\n")

    phoneprov(tmp_path, "import", "company-directory", "a.csv")
    phoneprov(tmp_path, "export", "company-directory", "b.vcf")
    back = phoneprov(tmp_path, "import", "company-directory", "b.vcf")
    phoneprov(tmp_path, "export", "company-directory", "c.csv")

    assert "FN:Ada\r\n" in (tmp_path / "b.vcf").read_bytes().decode()
    assert back.stdout == "Imported: 0 new, 0 changed, 2 as they were, 0 bad.\n"
    assert ",'=1+1,2," in (tmp_path / "c.csv").read_text()


def test_secrets_stay_in_unless_asked_and_then_for_the_owner_alone(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "extension,type,name,password\n1001,chan_pjsip,Desk,hush;#\n1002,chan_sccp,Hall,hush\n"
    )
    phoneprov(tmp_path, "import", "extensions", "a.csv")

    for name, more in (("b.csv", ()), ("p.conf", ("--format", "pjsip"))):
        phoneprov(tmp_path, "export", "extensions", name, *more)
        open_ = tmp_path / f"with-{name}"
        phoneprov(tmp_path, "export", "extensions", open_.name, *more, "--with-secrets")

        assert "hush" not in (tmp_path / name).read_text()
        assert "hush" in open_.read_text()
        assert open_.stat().st_mode & 0o777 == 0o600
    assert "password = hush\\;#\n" in (tmp_path / "with-p.conf").read_text()
    assert "1002" not in (tmp_path / "with-p.conf").read_text()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("import", "phones", "nowhere.csv"), "nowhere.csv"),
        (("import", "sessions", "a.csv"), "company-directory"),
        (("import", "phones", "a.csv", "--user", "ada"), "personal-directory only"),
        (("export", "phones", "nowhere/a.csv"), "cannot be written"),
        (("export", "phones", "a.csv", "--format", "vcard"), "directories only"),
        (("export", "users", "a.csv", "--with-secrets"), "extensions only"),
        (("export", "phones", "a.csv", "--format", "sccp"), "extensions only"),
        (("export", "extensions", "a", "--format", "pjsip", "--context", "a b"), "context"),
    ],
)
def test_what_makes_no_sense_is_refused(
    tmp_path: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    (tmp_path / "a.csv").write_text("as it was")

    done = phoneprov(tmp_path, *arguments)

    assert done.returncode == 2
    assert complaint in done.stderr
    assert (tmp_path / "a.csv").read_text() == "as it was"
    assert [path.name for path in tmp_path.iterdir() if path.name != "data"] == ["a.csv"]
