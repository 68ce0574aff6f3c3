"""``phoneprov template``, ``plan`` and ``rollout``."""

import asyncio
import json
import os
import re
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from phoneprov_adapters.composition.lifecycle import open_phoneprov, opened, prepare
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_core.features.templates.model import CreateTemplate
from phoneprov_core.inventory.phones.model import CreatePhone
from phoneprov_core.inventory.profiles.model import CreateProfile
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.people.users.model import CreateUser
from phoneprov_http.main.cli import main
from phoneprov_http.main.commands.features import batches as batch_view
from support.data_folder import populate
from support.records import a_mac

BODY = "<device><name>{{ user.last_name }}</name><n>{{ values.n|default('1') }}</n></device>"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation that serves files, and restarts no phone."""
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "DATA_DIR": str(tmp_path / "data"), "UPLOADER": "served", "RESTART": "none",
        "PHONE_NETWORKS": "127.0.0.1/32", "CONFIRM_TIMEOUT": "0",
    }.items():  # fmt: skip
        monkeypatch.setenv(f"PHONEPROV_{name}", value)
    populate(tmp_path / "data")
    return tmp_path


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


def office(phones: int = 3) -> None:
    async def create() -> None:
        async with open_phoneprov(read_settings(os.environ)) as use_cases:
            actor = use_cases.system_actor()
            for number in range(1, phones + 1):
                user = await use_cases.users.create(
                    actor,
                    CreateUser(
                        username=f"ada{number}", first_name="A", last_name=f"L{number}",
                        email=f"a{number}@b.ch", password="an engine of brass",
                    ),
                )  # fmt: skip
                await use_cases.phones.create(
                    actor, CreatePhone(mac=a_mac(number), phone_ip="127.0.0.1", location="2")
                )
                await use_cases.profiles.create(
                    actor,
                    CreateProfile(user_uuid=user.uuid, name=f"P{number}", template="office"),
                )

    asyncio.run(create())


def test_template_is_added_checked_listed_updated_and_rendered(folder: Path) -> None:
    (folder / "office.xml").write_text(BODY, encoding="utf-8")
    (folder / "bad.xml").write_text("<a>\n{{ nope }}</a>", encoding="utf-8")

    assert "was added" in run("template", "add", "office.xml", "--name", "office").stdout
    run("template", "add", "office.xml", "--name", "office", "--model", "CP-7945G")
    assert "is wrong on line 2" in run(
        "template", "add", "bad.xml", "--name", "x", code=2
    ).stderr  # fmt: skip
    assert (
        "bad.xml:2:4: error: nope is not given."
        in run("template", "check", "bad.xml", code=1).stdout
    )
    run("template", "check", "office.xml")
    assert "7945" in run("template", "list").stdout
    (folder / "office.xml").write_text(BODY + "\n", encoding="utf-8")
    updated = run("template", "update", "office.xml", "office", "--model", "7945")
    assert "office (7945) has revision 2" in updated.stdout
    assert "2 variants" in run("template", "update", "office.xml", "office", code=1).stderr
    office(1)
    shown = run("template", "render", "office", "P1", a_mac(1), "--model", "7945")
    assert "<name>L1</name><n>1</n>" in shown.stdout


def test_revisions_are_listed_shown_compared_planned_and_restored(folder: Path) -> None:
    office_xml = folder / "office.xml"
    office_xml.write_text(BODY, encoding="utf-8")
    run("template", "add", "office.xml", "--name", "office")
    office()
    rows = "".join(f"{a_mac(number)},P{number}\n" for number in range(1, 4))
    (folder / "floor.csv").write_text(f"mac,profile\n{rows}", encoding="utf-8")
    run("rollout", "--items", "floor.csv")
    office_xml.write_text(BODY.replace("<n>", "<n>0"), encoding="utf-8")

    planned = run("template", "plan", "office", "office.xml").stdout

    assert "Of 3 phones: 3 would change" in planned
    assert "<n>01</n>" in planned
    assert "0 would change" in run("template", "plan", "office").stdout
    (folder / "bad.xml").write_text("<a>{{ nope }}</a>", encoding="utf-8")
    assert "FILE: " in run("template", "plan", "office", "bad.xml", code=2).stderr
    run("template", "update", "office.xml", "office")
    listed = run("template", "revisions", "office").stdout
    assert listed.count("command line") == 2
    assert run("template", "show", "office", "--revision", "1").stdout == BODY
    compared = run("template", "diff", "office").stdout
    assert "revision 1" in compared
    assert "<n>0" in compared
    assert "are equal" in run("template", "diff", "office", "--from", "2").stdout
    restored = run("template", "restore", "office", "1").stdout
    assert restored == "The template office has revision 3, the text of revision 1.\n"
    again = run("template", "restore", "office", "1").stdout
    assert "has this text already, as revision 3; nothing was saved" in again
    assert run("template", "show", "office").stdout == BODY
    assert "There is no" in run("template", "restore", "office", "9", code=1).stderr


def test_plan_and_rollout_of_a_floor(folder: Path) -> None:
    (folder / "office.xml").write_text(BODY, encoding="utf-8")
    run("template", "add", "office.xml", "--name", "office")
    office()
    # As a spreadsheet saves it.
    rows = "".join(f"{a_mac(number)};P{number};\n" for number in range(1, 4))
    text = f"sep=;\nMAC;Profile;Remark\n{rows};;\n"
    (folder / "floor.csv").write_text(text, encoding="utf-16", newline="\r\n")

    assert "3 would change" in run("plan", "--items", "floor.csv").stdout
    done = run("rollout", "--items", "floor.csv")
    assert "Of 3 phones: 3 done." in done.stdout
    assert "0 would change, 3 have" in run("plan", "--template", "office").stdout

    (folder / "office.xml").write_text(BODY.replace("<n>", "<n> "), encoding="utf-8")
    run("template", "update", "office.xml", "office")
    planned = run("plan", "--template", "office").stdout
    assert "3 would change" in planned
    assert planned.count("phone(s):") == 1
    chosen = ("--template", "office", "--first-mac", a_mac(3))
    assert f"First: {a_mac(3)} (would change)." in run("plan", *chosen).stdout
    stopped = run("rollout", *chosen, "--undo-on-stop", code=3)
    assert f"{a_mac(3)}, one of the first phones, is not confirmed" in stopped.stdout
    outside = run("rollout", "--mac", a_mac(1), "--first-mac", a_mac(2), code=2).stderr
    text = f"--first-mac names {a_mac(2)}, which is not in the batch"
    assert text in " ".join(outside.split())
    assert "(undo) is done" in stopped.stdout
    at = datetime.now(UTC) + timedelta(days=30)
    later = run("rollout", "--template", "office", "--start-at", at.isoformat(), "--json").stdout
    batch = json.loads(later)
    assert (batch["state"], batch["start_at"]) == ("planned", timestamp(at))
    run("batch", "cancel", batch["uuid"])
    run("rollout", "--resume", batch["uuid"], code=3)
    options = ("--template", "office", "--at-once", "10", "--all-phones")
    refused = run("rollout", "--resume", batch["uuid"], *options, code=2)
    assert "omit --template, --all-phones, --at-once." in " ".join(refused.stderr.split())


def test_rollout_after_ctrl_c_is_named_and_resumed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "office.xml").write_text(BODY, encoding="utf-8")
    run("template", "add", "office.xml", "--name", "office")
    office()
    how_far = batch_view._how_far

    def interrupted(_batch: Any) -> str:
        signal.raise_signal(signal.SIGINT)
        return ""

    monkeypatch.setattr(batch_view, "_how_far", interrupted)
    order = ("rollout", "--location", "2", "--profile", "P1", "--at-once", "1")

    detached = run(*order, code=130).stderr
    monkeypatch.setattr(batch_view, "_how_far", how_far)
    [uuid] = re.findall("`phoneprov rollout --resume (.*)`", detached)
    resumed = run("rollout", "--resume", uuid).stdout

    assert "the batch continues in the running service" in detached
    assert "Of 3 phones: 3 done." in resumed


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("mac\n001bd4000001\n", "the file names no profiles"),
        ("mac,profile\nx,P1\n", "line 2: x is not the MAC address of a phone."),
        ("mac,profile\n001bd4000001\n", "the file names no profiles"),
        ("mac,profile\n001bd4000001,\n001bd4000002,P1", "line 2: 00:1B:D4:00:00:01 has no"),
        ("mac,profile\n", "must name at least one phone"),
        ("", "must name at least one phone"),
        ("001bd4000001,P9\nx\n", "line 1: There is no profile and no account P9."),
    ],
)
def test_wrong_items_are_named(folder: Path, content: str, message: str) -> None:
    (folder / "office.xml").write_text(BODY, encoding="utf-8")
    run("template", "add", "office.xml", "--name", "office")
    office()
    (folder / "floor.csv").write_text(content, encoding="utf-8")

    assert message in run("plan", "--items", "floor.csv", code=2).stderr


def test_templates_are_imported_all_or_none(folder: Path) -> None:
    (folder / "a.xml").write_text(BODY, encoding="utf-8")
    (folder / "bad.xml").write_text("<a>{{ nope }}</a>", encoding="utf-8")
    table = "name,model,software_type,file\noffice,CP-7945G,sccp,a.xml\noffice,,,a.xml\n"
    (folder / "good.csv").write_text(table, encoding="utf-8")
    (folder / "bad.csv").write_text(table + "x,,,bad.xml\ny,,,none.xml\n", encoding="utf-8")

    wrong = run("import", "templates", "bad.csv", code=1)
    assert "bad.csv:4: body is wrong on line 1, column 7" in wrong.stderr
    assert "bad.csv:5: file must name the file of a template" in wrong.stderr
    assert run("template", "list", "--json").stdout.strip() == "[]"
    assert "2 new" in run("import", "templates", "good.csv").stdout
    assert "2 unchanged" in run("import", "templates", "good.csv").stdout
    (folder / "a.xml").write_text(BODY + "\n", encoding="utf-8")
    assert "2 changed" in run("import", "templates", "good.csv").stdout
    (folder / "odd.csv").write_text("name,colour\n", encoding="utf-8")
    assert "colour is not a column" in run("import", "templates", "odd.csv", code=2).stderr
    (folder / "odd.csv").write_text("name,body,colour,(note),size\n", encoding="utf-8")
    assert "colour, size are not columns" in run("import", "templates", "odd.csv", code=2).stderr


def test_learned_profiles_are_imported(folder: Path) -> None:
    (folder / "office.xml").write_text(BODY, encoding="utf-8")
    run("template", "add", "office.xml", "--name", "office")
    office(1)
    rows = "name,template,values.n,software_type\nA,office,7,SCCP\nB,office,8,\n"
    (folder / "office.csv").write_text(rows, encoding="utf-8")

    run("import", "profiles", "office.csv", "--user", "ada1")
    again = run("import", "profiles", "office.csv", "--user", "ada1").stdout
    shown = run("template", "render", "office", "B", a_mac(1)).stdout
    (folder / "bad.csv").write_text("name,template\nC,nope\n", encoding="utf-8")
    wrong = run("import", "profiles", "bad.csv", "--user", "ada1", code=1).stderr

    assert "2 unchanged" in again
    assert "<n>8</n>" in shown
    assert "There is no template nope" in wrong


HOSTILE = (
    "\ufeff<?xml version='1.0' encoding=\"UTF-8\"?>\r\n<a>\r{{ values.v|default('') }}\n\n</a>\r\n",
    '\r\n<a>"quoted", ; \t</a>\n',
    "{% set x = '=1+1' %}<a>{{ x }}</a>",
    "<a>" + "x" * 200_000 + "</a>",
    "<a>\u00e9\U0001f600'</a> ",
)


def contents() -> tuple[list[Any], list[Any]]:
    """The templates and the profiles, without what an import gives anew."""

    async def read() -> tuple[list[Any], list[Any]]:
        async with open_phoneprov(read_settings(os.environ)) as use_cases:
            actor = use_cases.system_actor()
            templates = await (await use_cases.templates.all(actor)).everything()
            profiles = await (await use_cases.profiles.all(actor)).everything()
        return (
            sorted((one.label, one.description, one.body) for one in templates),
            sorted(
                (one.name, one.description, one.compatible_models, one.software_type,
                 one.template, one.values, one.cnf_xml)
                for one in profiles
            ),
        )  # fmt: skip

    return asyncio.run(read())


def test_exported_templates_and_profiles_are_imported_byte_for_byte(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "office.xml").write_text(BODY, encoding="utf-8")
    run("template", "add", "office.xml", "--name", "office")
    office(1)

    async def fill() -> None:
        async with open_phoneprov(read_settings(os.environ)) as use_cases:
            actor = use_cases.system_actor()
            ada = (await (await use_cases.users.all(actor)).everything())[-1].uuid
            for number, text in enumerate(HOSTILE):
                new = CreateTemplate(
                    name=f"=t{number}", model="8851", description="'=1", software_type="SIP",
                    body=text,
                )  # fmt: skip
                await use_cases.templates.create(actor, new)
                text = text.partition("{%")[0] or "<a/>"  # noqa: PLW2901
                profile = CreateProfile(user_uuid=ada, name=f"+p{number}", cnf_xml=text)
                await use_cases.profiles.create(actor, profile)
            models = ("79,45", "a;b")
            values = {"v": "'=1", "w": '"\u00b5;'}
            await use_cases.profiles.create(
                actor,
                CreateProfile(
                    user_uuid=ada, name="-", description="@x", compatible_models=models,
                    software_type="SIP", template="=t0", values=values,
                ),
            )  # fmt: skip

    asyncio.run(fill())
    before = contents()
    run("export", "templates", "t.csv")
    run("export", "profiles", "p.csv")
    run("export", "users", "u.csv")
    assert {(folder / name).stat().st_mode & 0o777 for name in ("t.csv", "p.csv")} == {0o600}
    assert "6 unchanged" in run("import", "templates", "t.csv").stdout
    assert "7 unchanged" in run("import", "profiles", "p.csv").stdout

    with_passwords = (folder / "u.csv").read_text(encoding="utf-8").splitlines()
    rows = [with_passwords[0] + ',"password"']
    rows += [f'{line},"an engine of brass"' for line in with_passwords[1:]]
    (folder / "u.csv").write_text("\n".join(rows), encoding="utf-8")
    monkeypatch.setenv("PHONEPROV_DATA_DIR", str(folder / "other"))
    populate(folder / "other")
    run("import", "users", "u.csv")
    assert "6 new" in run("import", "templates", "t.csv").stdout
    assert "7 new" in run("import", "profiles", "p.csv").stdout
    assert contents() == before


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("add", "--template", "office", "--user", "ada1"), 2, "--name is required"),
        (("add", "--user", "ada1"), 2, "Give FILE, or --template"),
        (("add", "office.xml", "--template", "office", "--user", "ada1"), 2, "Give FILE, or"),
        (("add", "office.xml", "--value", "a=1", "--user", "ada1"), 2, "Give FILE, or"),
        (("add", "--template", "office", "--value", "a", "--name", "x", "--user", "ada1"), 2,
         "--value: 'a' is not KEY=TEXT."),
        (("add", "--template", "office", "--value", "1=a", "--name", "x", "--user", "ada1"), 2,
         "--value must have names"),
        (("add", "--template", "nope", "--name", "x", "--user", "ada1"), 1,
         "There is no template nope."),
        (("update", "--template", "office"), 2, "--profile is required"),
    ],
)  # fmt: skip
def test_wrong_content_of_a_profile_is_named(
    folder: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    (folder / "office.xml").write_text(BODY, encoding="utf-8")
    if code == 1 or "1=a" in arguments:
        run("template", "add", "office.xml", "--name", "office")
        office(1)

    assert message in run("profile", *arguments, code=code).stderr


def test_profile_with_a_template_is_added_and_updated(folder: Path) -> None:
    (folder / "office.xml").write_text(BODY, encoding="utf-8")
    run("template", "add", "office.xml", "--name", "office")
    office(1)

    run("profile", "add", "--template", "office", "--value", "n=a=b", "--name", "Q",
        "--user", "ada1")  # fmt: skip
    assert "<n>a=b</n>" in run("template", "render", "office", "Q", a_mac(1)).stdout
    changed = run("profile", "update", "--template", "office", "--value", "n=7", "--profile", "Q")
    assert "has revision 2" in changed.stdout
    assert "<n>7</n>" in run("template", "render", "office", "Q", a_mac(1)).stdout


def test_rollback_is_exact_after_deletion_restore_and_another_key(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "office.xml").write_text(BODY, encoding="utf-8")
    run("template", "add", "office.xml", "--name", "office")
    office(1)
    mac = a_mac(1)
    run("switch", "P1", mac, code=3)
    first = served(mac)
    (folder / "plain.xml").write_text("<plain/>", encoding="utf-8")
    run("profile", "update", "plain.xml", "--profile", "P1")
    run("switch", "P1", mac, code=3)

    async def delete_the_template() -> None:
        async with open_phoneprov(read_settings(os.environ)) as use_cases:
            actor = use_cases.system_actor()
            (template,) = await (await use_cases.templates.all(actor)).everything()
            await use_cases.templates.delete(actor, template.uuid)

    asyncio.run(delete_the_template())
    run("backup", "--with-keys", "office.backup")
    monkeypatch.setenv("PHONEPROV_DATA_DIR", str(folder / "restored"))
    run("restore", "office.backup")
    old = (folder / "restored/secret.key").read_text(encoding="ascii").strip()
    monkeypatch.setenv(
        "PHONEPROV_SECRET_KEYS", f"another key of this office in the year 2026,{old}"
    )
    run("keys", "rotate")
    monkeypatch.setenv("PHONEPROV_SECRET_KEYS", "another key of this office in the year 2026")
    assert served(mac) == b"<plain/>"

    run("rollback", mac, code=3)

    assert served(mac) == first
    assert b"<name>L1</name>" in first


def served(mac: str) -> bytes:
    """The file that the phone would fetch."""

    async def read() -> bytes:
        container = prepare(read_settings(os.environ))
        async with opened(container), container.database().read() as tx:
            file = await tx.served_files.find(f"SEP{mac.replace(':', '')}.cnf.xml")
        assert file is not None
        return file.content

    return asyncio.run(read())


def test_shared_template_is_exported_and_imported(folder: Path) -> None:
    (folder / "office.xml").write_text(BODY, encoding="utf-8")
    run("template", "add", "office.xml", "--name", "office", "--shared")
    run("template", "add", "office.xml", "--name", "secret")
    assert [one["shared"] for one in templates()] == [True, False]

    run("export", "templates", "all.csv")
    run("template", "update", "office.xml", "office", "--not-shared")
    assert [one["shared"] for one in templates()] == [False, False]
    run("template", "update", "office.xml", "secret")
    changed = run("import", "templates", "all.csv").stdout

    assert [one["shared"] for one in templates()] == [True, False]
    assert "1" in changed
    (folder / "all.csv").write_text("name,body,shared\nnew,<d/>,maybe\n", encoding="utf-8")
    refused = run("import", "templates", "all.csv", code=1)
    assert "shared" in refused.output
    (folder / "all.csv").write_text("name,body\noffice,<d/>\n", encoding="utf-8")
    run("import", "templates", "all.csv")
    assert [one["shared"] for one in templates()] == [True, False]


def templates() -> list[Any]:
    return list(json.loads(run("template", "list", "--json").stdout))
