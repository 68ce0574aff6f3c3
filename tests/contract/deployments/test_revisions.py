"""Revisions of a profile, their differences, and lint."""

from typing import Any

from support.api import Caller, error_of
from support.deploying import NEWER, Workplace, bare_data_of
from support.switch_rig import XML


async def test_update_with_changed_configuration_creates_a_revision(desk: Workplace) -> None:
    await desk.ada.put(f"/phone-profiles/{desk.profile}", {"name": "Another name"})
    await desk.save(XML)
    await desk.save(NEWER)
    path = f"/phone-profiles/{desk.profile}/revisions"

    revisions = bare_data_of(await desk.ada.get(path), 200, "2 revision(s) found")

    assert [row["number"] for row in revisions] == [1, 2]
    assert [row["size"] for row in revisions] == [len(XML.encode()), len(NEWER.encode())]
    assert {row["created_by"] for row in revisions} == {desk.ada.uuid}
    assert bare_data_of(await desk.ada.get(path, limit=1, offset=1)) == revisions[1:]
    error_of(await desk.bob.get(path), 404)


async def lint(caller: Caller, **body: Any) -> Any:
    return await caller.post("/phone-profiles/lint", body)


async def test_lint_returns_findings_with_positions(desk: Workplace) -> None:
    found = bare_data_of(await lint(desk.bob, cnf_xml="<device>\n<name>x</device>"))["findings"]

    assert [(one["severity"], one["line"], one["code"]) for one in found] == [
        ("error", 2, "not_well_formed")
    ]
    assert bare_data_of(await lint(desk.bob, cnf_xml=NEWER, software_type="SIP"))["findings"]
    assert list(error_of(await lint(desk.bob, cnf_xml=NEWER, software_type="X"), 422)) == [
        "software_type"
    ]


async def test_revision_diff_is_masked_and_visible_to_its_owner(desk: Workplace) -> None:
    for secret in ("enchantress", "of numbers"):
        await desk.save(f"<device><sshPassword>{secret}</sshPassword></device>")
    path = f"/phone-profiles/{desk.profile}/revisions/diff"

    newest = await desk.ada.get(path)

    found = bare_data_of(newest, 200, "Revisions compared")
    assert (found["from"], found["to"]) == (2, 3)
    assert "***1" in found["diff"]
    assert "***2" in found["diff"]
    assert "enchantress" not in newest.text
    assert bare_data_of(await desk.admin.get(path, **{"from": 3, "to": 3}))["diff"] == ""
    backwards = bare_data_of(await desk.ada.get(path, **{"from": 3, "to": 1}))
    assert (backwards["from"], backwards["to"]) == (3, 1)
    error_of(await desk.bob.get(path), 404)
    error_of(await desk.ada.get(path, **{"from": 1, "to": 4}), 404)
    assert list(error_of(await desk.ada.get(path, **{"from": 0}), 422)) == ["from"]
