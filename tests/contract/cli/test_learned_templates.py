"""Files of an office through the shipped commands: learn, add, import, roll out, equal bytes."""

import asyncio
import json
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from contract.cli.test_template_command import folder, run
from phoneprov_adapters.composition.lifecycle import opened, prepare
from phoneprov_adapters.composition.settings import read_settings

__all__ = ["folder"]
USER = "username,first_name,last_name,email,password\nada,Ada,L,a@b.ch,an engine of brass\n"
NAMES = (
    "Ada", "S\u00e9an O'Neill", "M\u00fcller &amp; S&#246;hne", "a&#34;b&quot;", "{{ user.x }}", "",
    "{% if x %}", "a{", "=1+1", "'-2", " blank ", "+41 44 1", "\u674e", "<![CDATA[<Front> & ]]>",
    "e\u0301", "a\n  b",
)  # fmt: skip


def a_line(number: int, extension: int) -> str:
    return (
        f'\n   <line button="{number}" lineIndex="{number}"><featureID>9</featureID>'
        f"<featureLabel>{NAMES[extension % len(NAMES)]}</featureLabel>"
        f"<authPassword>p{extension}</authPassword></line>"
    )


def a_sip_phone(mac: str, number: int) -> str:
    lines = "".join(a_line(one, number * 5 + one) for one in range(1, 2 + number % 4))
    keys = "".join(
        f'\n   <line button="{key}"><speedDial>{key}0{number}</speedDial></line>'
        for key in range(7, 7 + number % 3 * 2)
    )
    modules = "".join(f'<addOnModule idx="{one}">7916</addOnModule>' for one in range(number % 3))
    vlan = "" if number % 2 else "\n  <vlan>12</vlan>"
    return (
        "<device>\n <deviceProtocol>SIP</deviceProtocol>\n <sipProfile>\n"
        f"  <phoneLabel>{NAMES[number % len(NAMES)]}</phoneLabel>\n  <sipLines>{lines}{keys}\n"
        f"  </sipLines>\n </sipProfile>\n <loadInformation>sip88xx.14-{number % 3}"
        f"</loadInformation>\n <addOnModules>{modules}</addOnModules>\n <vendorConfig>{vlan}\n"
        f"  <webAccess>0</webAccess>\n </vendorConfig>\n <id>SEP{mac} {mac.lower()}</id>\n</device>"
    )


def an_sccp_phone(mac: str, number: int) -> str:
    members = "".join(
        f'<member priority="{one}">10.0.{one}.1</member>' for one in range(number % 3)
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\r\n<Default>\r\n<!-- {number} -->\r\n'
        f"<members>{members}</members>\r\n<load a='{number}' b=\"&lt;\">SCCP45</load>\r\n"
        f"<url>http://10.0.0.1/?mac={':'.join(re.findall('..', mac))}&amp;x=1</url>\r\n</Default>"
    )


def office(folder: Path) -> dict[Path, bytes]:
    """Files of two kinds of phones, and with what people do to files."""
    odd: dict[int, Callable[[str], str]] = {
        3: lambda text: text.replace("\n", "\r\n"),
        5: lambda text: f"\ufeff{text}",
        7: lambda text: text.replace("<vendor", "<!-- it's {{ x }} & co --><vendor"),
        9: lambda text: text.replace("featureLabel></f", "featureLabel/><f"),
        11: lambda text: f"{text}  \n\n",
        13: lambda text: re.sub(r"(button=.\d+.) (lineIndex=.\d+.)>", r"\2 \1>", text),
    }
    files = {}
    for number in range(44):
        mac = f"001BD40000{number:02X}"
        text = (an_sccp_phone if number % 4 == 2 else a_sip_phone)(mac, number)
        file = folder / f"SEP{mac}.cnf.xml"
        files[file] = odd.get(number % 20, str)(text).encode()
    (folder / "other").mkdir(parents=True)
    same = folder / "other/SEP001BD4000000.cnf.xml"
    files[same] = files[folder / same.name].replace(b"<webAccess>0", b"<webAccess>1")
    for file, content in files.items():
        file.write_bytes(content)
    return files


def served(names: Iterable[str]) -> dict[str, bytes]:
    async def read() -> dict[str, bytes]:
        container = prepare(read_settings(os.environ))
        async with opened(container), container.database().read() as tx:
            found = {name: await tx.served_files.find(name) for name in names}
        return {name: file.content for name, file in found.items() if file is not None}

    return asyncio.run(read())


def test_learned_files_are_served_byte_for_byte(folder: Path) -> None:
    files = office(folder / "tftp")
    learned = run("template", "learn", *map(str, files), "--into", "learned", "--name", "office")
    assert "45 of 45 file(s) were rendered back byte for byte." in learned.stdout
    bodies = sorted((folder / "learned").glob("*.cnf.xml"))
    assert 2 <= len(bodies) <= 4
    assert {file.stat().st_mode & 0o777 for file in (folder / "learned").iterdir()} == {0o600}

    (folder / "users.csv").write_text(USER, encoding="utf-8")
    rows = "".join(f"001BD40000{number:02X},127.0.0.1\n" for number in range(44))
    (folder / "phones.csv").write_text(f"mac,phone_ip\n{rows}", encoding="utf-8")
    run("import", "users", "users.csv")
    run("import", "phones", "phones.csv")
    for body in bodies:
        name = body.name.removesuffix(".cnf.xml")
        run("template", "add", str(body), "--name", name)
        run("import", "profiles", f"learned/{name}.csv", "--user", "ada")
    items = "".join(f"{file.name[3:15]},{file.name[:15]}\n" for file in list(files)[:44])
    (folder / "items.csv").write_text(f"mac,profile\n{items}", encoding="utf-8")
    plan = json.loads(run("plan", "--items", "items.csv", "--json").stdout)
    assert (plan["changed"], plan["problems"]) == (44, [])
    run("rollout", "--items", "items.csv", "--first-minutes", "1")

    *others, same = files
    assert served(file.name for file in others) == {file.name: files[file] for file in others}
    assert "0 would change, 44 have" in run("plan", "--items", "items.csv").stdout
    run("switch", "SEP001BD4000000 (2)", "001bd4000000", code=3)
    assert served([same.name]) == {same.name: files[same]}
    # Numbered passwords are secrets as the first is.
    tables = {file.stem: file.read_text("utf-8") for file in (folder / "learned").glob("*.csv")}
    name = next(name for name, rows in tables.items() if '"SEP001BD4000001"' in rows)
    shown = run("template", "render", name, "SEP001BD4000001", "001bd4000001").stdout
    assert "<authPassword>***</authPassword>" in shown
    assert "<authPassword>p" not in shown


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not well-formed XML"),
        (b"<a><b></a>", "mismatched tag, </a> where <b> of line 1 is open (line 1, column 9)"),
        ("<?xml version='1.0' encoding='ISO-8859-1'?><a>\u00e9</a>".encode("latin-1"),
         "is not in UTF-8; convert it, and its XML declaration"),
        (b"<?xml version='1.0' encoding='ISO-8859-1'?><a/>", "encoding other than UTF-8"),
        (b"<!DOCTYPE a><a/>", "contains a document type declaration"),
        (b"<a>" + b"x" * 5_000_000 + b"</a>", "is too large for a configuration"),
        (b"<a>" + b"x" * 600_000 + b"</a>", "must be at most 524288 bytes long"),
        (b"\xff\xfe<\x00a\x00/\x00>\x00", "is not in UTF-8"),
    ],
)  # fmt: skip
def test_file_that_no_phone_could_read_is_left_out_and_named(
    folder: Path, content: bytes, message: str
) -> None:
    (folder / "SEP001BD4000001.cnf.xml").write_bytes(b"<a>1</a>")
    (folder / "bad.xml").write_bytes(content)

    done = run("template", "learn", "SEP001BD4000001.cnf.xml", "bad.xml", code=1)

    assert "Left out: bad.xml " in done.stderr
    assert message in done.stderr
    assert "1 of 2 file(s) were rendered back byte for byte." in done.stdout
    assert (folder / "learned.cnf.xml").read_bytes() == b"<a>1</a>"
