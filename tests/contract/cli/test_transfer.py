"""``phoneprov import`` and ``export`` for scripts."""

import os
import pty
import subprocess
import time
from pathlib import Path

import pytest
from click.testing import Result

from support.command_line import PROGRAM, run, spawn, without_settings
from support.data_folder import populate
from support.excel import excel
from support.scale import note, rounds

MANY = rounds(2_000, 10_000)


@pytest.fixture(autouse=True)
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty database in the data folder, and the current folder."""
    populate(tmp_path / "data")
    monkeypatch.chdir(tmp_path)


def phoneprov(*arguments: str, stdin: str = "") -> Result:
    return run(*arguments, data=Path("data"), stdin=stdin)


def test_bad_rows_stop_the_import_without_skip_option(tmp_path: Path) -> None:
    (tmp_path / "phones.csv").write_text(
        "mac,name,phone_ip\n00:1b:d4:12:34:56,Desk,10.0.0.1\nnonsense,Hall,10.0.0\n"
    )
    bad = [
        "phones.csv:3: mac must have 12 hexadecimal digits, like 00:1B:D4:12:34:56.",
        "phones.csv:3: phone_ip must be an IPv4 or IPv6 address.",
    ]

    dry = phoneprov("import", "phones", "phones.csv", "--dry-run")
    stopped = phoneprov("import", "phones", "phones.csv")
    going = phoneprov("import", "phones", "phones.csv", "--keep-going")

    assert [done.stderr.splitlines() for done in (dry, stopped, going)] == [bad, bad, bad]
    assert [done.exit_code for done in (dry, stopped, going)] == [1, 1, 1]
    assert dry.stdout.startswith("Dry run, nothing was written: 1 new")
    assert stopped.stdout == "Nothing was written: 1 new, 0 changed, 0 unchanged, 1 wrong.\n"
    assert going.stdout == "Imported: 1 new, 0 changed, 0 unchanged, 1 wrong.\n"


def test_import_ten_thousand_phones_completes(tmp_path: Path) -> None:
    rows = (f"02:00:00:00:{n >> 8:02x}:{n & 255:02x},CP-7945G,Desk {n}" for n in range(MANY))
    (tmp_path / "phones.csv").write_text("mac,model,name\n" + "\n".join(rows))

    began = time.monotonic()
    done = spawn("import", "phones", "phones.csv", data=tmp_path / "data")
    took = time.monotonic() - began
    out = phoneprov("export", "phones", "out.csv")

    note(f"{MANY} phones were imported in {took:.1f} s, the start of the command included")
    assert (done.returncode, done.stdout.split(",")[0]) == (0, f"Imported: {MANY} new")
    assert out.stdout == f"{MANY} record(s) were written to out.csv.\n"
    assert took < 60


def test_vcard_export_of_directory_can_be_imported_again(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("name,work,department\nAda,+44 20,Sales\n=1+1,2,\n")

    phoneprov("import", "company-directory", "a.csv")
    phoneprov("export", "company-directory", "b.vcf")
    back = phoneprov("import", "company-directory", "b.vcf")
    phoneprov("export", "company-directory", "c.csv")

    assert "FN:Ada\r\n" in (tmp_path / "b.vcf").read_bytes().decode()
    assert back.stdout == "Imported: 0 new, 0 changed, 2 unchanged, 0 wrong.\n"
    assert '"\'=1+1","2"' in (tmp_path / "c.csv").read_text()


def test_secrets_are_exported_on_request_with_mode_0600(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "extension,type,name,password\n1001,chan_pjsip,Desk,hush;#\n1002,chan_sccp,Hall,hush\n"
    )
    phoneprov("import", "extensions", "a.csv")

    for name, more in (("b.csv", ()), ("p.conf", ("--format", "pjsip"))):
        phoneprov("export", "extensions", name, *more)
        open_ = tmp_path / f"with-{name}"
        phoneprov("export", "extensions", open_.name, *more, "--with-secrets")

        assert "hush" not in (tmp_path / name).read_text()
        assert "hush" in open_.read_text()
        assert open_.stat().st_mode & 0o777 == 0o600
    assert "password = hush\\;#\n" in (tmp_path / "with-p.conf").read_text()
    assert "1002" not in (tmp_path / "with-p.conf").read_text()


def test_export_that_changes_nothing_keeps_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("extension,type,name,password\n1001,chan_pjsip,Desk,hush\n")
    phoneprov("import", "extensions", "a.csv")
    export = ("export", "extensions", "p.conf", "--format", "pjsip", "--with-secrets")
    phoneprov(*export)
    file = tmp_path / "p.conf"
    before = file.stat()
    phoneprov(*export)
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    file.chmod(0o644)
    phoneprov(*export)
    assert file.stat().st_mode & 0o777 == 0o600
    (tmp_path / "a.csv").write_text("extension,name\n1001,Hall\n")
    phoneprov("import", "extensions", "a.csv")
    phoneprov(*export)
    assert "Hall" in file.read_text()


def test_export_without_what_asterisk_cannot_have_is_written_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "extension,type,name,password\n1001,chan_pjsip,Desk,hush\nglobal,chan_pjsip,Hall,hush\n"
    )
    phoneprov("import", "extensions", "a.csv")
    made = phoneprov("export", "extensions", "p.conf", "--format", "pjsip", "--with-secrets")
    assert made.exit_code == 3
    assert "The extension global was omitted" in made.stderr
    assert made.stdout == "1 record(s) were written to p.conf.\n"
    assert "[1001]" in (tmp_path / "p.conf").read_text()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("import", "phones", "nowhere.csv"), "nowhere.csv"),
        (("import", "sessions", "a.csv"), "company-directory"),
        (("import", "phones", "a.csv", "--user", "ada"), "personal-directory and profiles only"),
        (("export", "phones", "nowhere/a.csv"), "cannot be written"),
        (("export", "phones", "a.csv", "--format", "vcard"), "directories only"),
        (("export", "users", "a.csv", "--with-secrets"), "extensions only"),
        (("export", "phones", "a.csv", "--format", "sccp"), "extensions only"),
        (("export", "extensions", "a", "--format", "pjsip", "--context", "a b"), "context"),
    ],
)
def test_transfer_contradictory_options_are_refused(
    tmp_path: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    (tmp_path / "a.csv").write_text("as it was")

    done = phoneprov(*arguments)

    assert done.exit_code == 2
    assert complaint in done.stderr
    assert (tmp_path / "a.csv").read_text() == "as it was"
    assert [path.name for path in tmp_path.iterdir() if path.name != "data"] == ["a.csv"]


def test_export_to_a_symbolic_link_writes_its_target(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("real.csv")

    done = phoneprov("export", "phones", "link.csv")

    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text().startswith('"mac",')


def test_export_ends_without_a_message_when_its_reader_has_ended(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)

    done = spawn("export", "phones", "-", data=tmp_path / "data", stdout=writing)
    os.close(writing)

    assert (done.returncode, done.stderr) == (1, "")


def test_export_writes_to_a_pipe_and_to_standard_output(tmp_path: Path) -> None:
    data = tmp_path / "data"
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cat", "pipe"], cwd=tmp_path, stdout=subprocess.PIPE) as reader:
        piped = run("export", "phones", str(tmp_path / "pipe"), data=data)
        assert reader.stdout is not None
        content = reader.stdout.read().decode()
    printed = spawn("export", "phones", "-", data=data)
    with (tmp_path / "redirected").open("w") as file:
        spawn("export", "phones", "/dev/stdout", data=data, stdout=file)

    assert (tmp_path / "pipe").is_fifo()
    assert piped.exit_code == 0, piped.stderr
    assert content.startswith('"mac",')
    assert printed.stdout.startswith('"mac",')
    assert printed.stderr == "0 record(s) were written to standard output.\n"
    assert (tmp_path / "redirected").read_text() == printed.stdout


@pytest.mark.parametrize(
    ("rows", "wrong"),
    [
        (['001bd4000001,7945,"Hall', "001bd4000002,7945,Annex"], [2]),
        (['001bd4000001,7945,"Hall', '001bd4000002,7945,19" rack', "001bd4000003,,ok"], [2, 3]),
    ],
)
def test_import_quotation_mark_that_swallows_rows_writes_nothing(
    tmp_path: Path, rows: list[str], wrong: list[int]
) -> None:
    (tmp_path / "p.csv").write_text("\n".join(["mac,model,description", *rows, ""]))

    done = phoneprov("import", "phones", "p.csv")

    assert done.exit_code == 1
    assert done.stdout.startswith("Nothing was written")
    lines = [line.split(":")[:2] for line in done.stderr.splitlines()]
    assert lines == [["p.csv", str(line)] for line in wrong]
    assert "quotation mark" in done.stderr


def in_a_process(*arguments: str, stdout: int, **environment: str) -> bytes:
    """What a command writes with an encoding of its own."""
    done = subprocess.run(
        [*PROGRAM, *arguments],
        env=without_settings(PHONEPROV_DATA_DIR="data", **environment),
        stdout=stdout,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout or b""


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_output_of_commands_does_not_depend_on_the_locale(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "u.csv").write_text(
        "username,first_name,last_name,email\nlos,\u0141ukasz,\u041b,l@example.com\n", "utf-8"
    )
    phoneprov("import", "users", "u.csv")
    locale = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", "LC_ALL": "C"}

    def output(*arguments: str) -> bytes:
        return in_a_process(*arguments, stdout=subprocess.PIPE, **locale)

    exported = output("export", "users", "-")
    (tmp_path / "back.csv").write_bytes(exported)
    back = phoneprov("import", "users", "back.csv")

    assert "\u0141ukasz" in exported.decode()
    assert back.stdout == "Imported: 0 new, 0 changed, 1 unchanged, 0 wrong.\n"
    assert "\u0141ukasz" in output("audit", "--json").decode()
    if encoding == "latin-1":
        assert b"\\u0141ukasz" in output("audit")


def test_export_to_a_terminal_is_utf_8(tmp_path: Path) -> None:
    (tmp_path / "u.csv").write_text("name\n\u0141ukasz\n", "utf-8")
    phoneprov("import", "company-directory", "u.csv")
    ours, theirs = pty.openpty()

    in_a_process("export", "company-directory", "-", stdout=theirs, PYTHONIOENCODING="latin-1")
    os.close(theirs)
    shown = os.read(ours, 65536).decode()
    os.close(ours)

    assert "\u0141ukasz" in shown


def test_import_of_pins_and_links_and_export_of_links(tmp_path: Path) -> None:
    files = {
        "users": "username,first_name,last_name,email\nada,A,L,a@example.com\n",
        "pins": "username\tpin_code\nada\t4711\n",
        "extensions": "extension,type,name,password\n1001,custom,Hall,pw\n",
        "user-extensions": "username;extension\nada;1001\n",
    }
    for kind, text in files.items():
        (tmp_path / f"{kind}.csv").write_text(text)
        done = phoneprov("import", kind, f"{kind}.csv")
        assert done.stdout == "Imported: 1 new, 0 changed, 0 unchanged, 0 wrong.\n", done.stderr

    out = phoneprov("export", "user-extensions", "links.csv")
    assert out.stdout == "1 record(s) were written to links.csv.\n"
    assert (tmp_path / "links.csv").read_bytes() == (b'"username","extension"\r\n"ada","1001"\r\n')
    assert (
        "4711" not in phoneprov("import", "pins", "-", stdin="username,pin_code\nx,4711\n").stderr
    )
    assert phoneprov("export", "pins", "p.csv").exit_code == 2


def test_import_of_cards_names_each_number_that_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "c.vcf").write_text(
        "BEGIN:VCARD\nVERSION:4.0\nFN:Ada\nTEL;TYPE=work;PREF=2:+4930111\n"
        "TEL;TYPE=work;PREF=1:+4930222\nTEL;TYPE=fax:+4930333\nEND:VCARD\n"
    )

    done = phoneprov("import", "company-directory", "c.vcf")

    assert (done.exit_code, done.stdout[:15]) == (0, "Imported: 1 new")
    assert done.stderr.splitlines() == [
        "c.vcf:1: work +4930111 was left out: a contact has one of each kind.",
        "c.vcf:1: The number +4930333 was left out: its type is fax.",
    ]


def test_import_reads_standard_input(tmp_path: Path) -> None:
    done = phoneprov("import", "phones", "-", stdin="mac\n001bd4123456\nxx\n")

    assert done.stderr.startswith("stdin:3: mac must have")
    assert "1 new" in done.stdout


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"001bd4123456\n\xff\xfe\x00", "is not a text file"),
        (b"J\xfcrg\n", "is not a text file"),
        (b"\x7fELF\0\0", "is a binary file"),
        ("001bd4123456\nnonsense\n".encode("utf-16"), "line 2 is not the MAC of a phone"),
    ],
    ids=["UTF-16 in the middle", "Latin-1", "ELF", "UTF-16 with a wrong line"],
)
def test_batch_macs_file_without_text_is_refused_in_one_line(
    tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "macs").write_bytes(content)

    done = phoneprov("batch", "start", "restart", "--macs-from", "macs")

    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.startswith("phoneprov: --macs-from: macs")
    assert len(done.stderr.splitlines()) == 1


def test_excel_file_is_imported_by_its_name_and_from_standard_input(tmp_path: Path) -> None:
    rows = [["mac", "name"], ["001bd4123456", "0301"], [], ["nonsense", "Hall"]]
    file = tmp_path / "phones.xlsx"
    file.write_bytes(excel(rows, lambda book: book.create_sheet("Old")))

    done = phoneprov("import", "phones", "phones.xlsx", "--keep-going")

    unread, wrong = done.stderr.splitlines()
    assert unread == "Only the first sheet of phones.xlsx was read; not read: Old."
    assert wrong.startswith("phones.xlsx:4: mac must have 12")
    file.write_bytes(excel(rows[:2]))
    with file.open("rb") as content:
        again = subprocess.run(
            [*PROGRAM, "import", "phones", "-"],
            stdin=content, capture_output=True, text=True, check=False,
            env=without_settings(PHONEPROV_DATA_DIR=str(tmp_path / "data")),
        )  # fmt: skip
    assert again.stdout == "Imported: 0 new, 0 changed, 1 unchanged, 0 wrong.\n", again.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("import", "phones"), ("import", "templates"), ("import", "profiles"), ("join",),
        ("leave",), ("sync", "people", "--source", "hr"), ("plan", "--items"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_file_with_the_name_of_excel_is_refused_with_its_name(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "some.xlsx").write_bytes(b"PK\x03\x04 no workbook")

    done = phoneprov(*command, "some.xlsx")

    name = "--items:" if "--items" in command else "some.xlsx"
    assert f"{name} cannot be read as an Excel file" in done.stderr
    assert done.exit_code == 2


def test_templates_and_items_are_read_from_excel_files(tmp_path: Path) -> None:
    body = "<device><a>{{ values.a }}</a></device>"
    (tmp_path / "t.xlsx").write_bytes(excel([["name", "body"], ["office", body]]))
    (tmp_path / "items.xlsx").write_bytes(excel([["mac", "profile"], ["nonsense", "x"]]))

    assert phoneprov("import", "templates", "t.xlsx").stdout.startswith("Imported: 1 new")
    assert (
        "line 2: nonsense is not the MAC address"
        in phoneprov("plan", "--items", "items.xlsx").stderr
    )


def test_people_of_an_excel_file_join_and_leave(tmp_path: Path) -> None:
    heading = ["first_name", "last_name", "username", "email", "number"]
    ada = ["Ada", "Lovelace", "ada", "ada@example.com", 301]
    (tmp_path / "people.xlsx").write_bytes(excel([heading, ada]))
    (tmp_path / "leavers.xlsx").write_bytes(excel([["username"], ["ada"]]))

    joined = phoneprov("join", "people.xlsx")
    left = phoneprov("leave", "leavers.xlsx")

    assert "ada, number 301" in joined.stdout, joined.output
    assert "Written." in left.stdout, left.output
