"""The preview of a switch shows everything and changes nothing."""

import pytest

from phoneprov_core.inventory.configuration.findings import Severity
from phoneprov_core.inventory.profiles.model import PreviewRequest, Profile, SwitchRequest
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Conflict, Invalid, NotFound, TimedOut
from phoneprov_core.switching.deployments.model import Outcome
from phoneprov_core.switching.deployments.observation import Reach, ServerFile
from phoneprov_core.switching.deployments.preview import Preview
from phoneprov_core.switching.errors import OUTCOME_UNKNOWN, AddressNotConfirmed
from support.switching import MAC, NOWHERE, XML, Desk

LOGIN = "<device>\n<userPassword>{}</userPassword>\n</device>"


async def preview(
    desk: Desk, actor: Actor | None = None, profile: Profile | None = None
) -> Preview:
    uuid = (profile or desk.profile).uuid
    return await desk.preview(actor or desk.ada, SwitchRequest(profile_uuid=uuid, mac=MAC))


async def test_preview_names_revision_and_file(desk: Desk) -> None:
    previewed = await preview(desk)

    assert (previewed.profile, previewed.mac, previewed.revision) == ("Ada at the desk", MAC, 1)
    assert (previewed.filename, previewed.size) == ("SEP001BD4123456.cnf.xml", len(XML.encode()))
    assert (previewed.compatible, previewed.objection) == (True, None)
    assert (previewed.on_phone, previewed.changed, previewed.diff) == (None, None, None)
    assert previewed.diff_note == "No deployment to this phone is recorded."


OTHER = "<device>\n<userPassword>z</userPassword>\n<note>by hand</note>\n</device>"


async def deployed_then(desk: Desk, now: bytes | None) -> None:
    """Deploy a configuration with a secret; then another program leaves this file."""
    await desk.save(LOGIN.format("s3cret"))
    await desk.switched()
    is_listed = None if now is not None else False
    desk.reachability.at_file = ServerFile(now, is_listed)


async def test_preview_shows_the_file_that_another_program_changed_masked(desk: Desk) -> None:
    await deployed_then(desk, OTHER.encode())

    previewed = await preview(desk)

    assert previewed.file == "changed"
    assert previewed.file_note == (
        "Another program changed the file on the server; the switch replaces it."
    )
    diff = previewed.file_diff or ""
    assert "+<note>by hand</note>" in diff
    assert "-<userPassword>***1</userPassword>" in diff
    assert "s3cret" not in diff
    assert ">z<" not in diff
    assert "on the server now: SEP001BD4123456.cnf.xml" in diff
    assert previewed.changed is False


@pytest.mark.parametrize(
    ("now", "file", "note"),
    [
        (LOGIN.format("s3cret").encode(), "as_deployed", None),
        (None, "missing", "The file is missing on the server; the switch stores it again."),
        (b"\xff\xfe<a/>", "changed", "not shown"),
        (b"<a>", "changed", "not shown"),
        (b"", "changed", "not shown"),
        (b"<!DOCTYPE a><a/>", "changed", "not shown"),
        (b"<a>" + b"x" * 600_000 + b"</a>", "changed", "at most 524288 bytes"),
    ],
)
async def test_preview_of_any_file_on_the_server_says_what_it_is(
    desk: Desk, now: bytes | None, file: str, note: str | None
) -> None:
    await deployed_then(desk, now)

    previewed = await preview(desk)

    assert (previewed.file, previewed.file_diff) == (file, None)
    assert (note or "") in (previewed.file_note or "")
    assert (previewed.file_note is None) is (note is None)


async def test_preview_without_deployment_or_server_does_not_know_the_file(desk: Desk) -> None:
    desk.reachability.at_file = ServerFile(b"<a/>")
    assert (await preview(desk)).file == "unknown"
    await deployed_then(desk, b"<a/>")
    desk.reachability.at_file = None
    previewed = await preview(desk)
    assert (previewed.file, previewed.file_note) == ("unknown", None)


async def test_content_on_the_server_is_shown_to_who_may_see_the_deployed_one(desk: Desk) -> None:
    await deployed_then(desk, OTHER.encode())

    previewed = await preview(desk, desk.bob, await desk.profile_of(desk.bob, XML))

    assert (previewed.file, previewed.file_diff, previewed.diff) == ("changed", None, None)


async def test_changes_that_need_a_reset_are_named(desk: Desk) -> None:
    await desk.save("<device><servicesURL>http://a</servicesURL></device>")
    assert (await preview(desk)).needs_reset == ()
    await desk.switched()
    await desk.save("<device><servicesURL>http://b</servicesURL></device>")

    assert (await preview(desk)).needs_reset == ("servicesURL",)


async def test_preview_after_an_unknown_outcome_has_no_diff(desk: Desk) -> None:
    await desk.switched()
    desk.uploader.fail_next(TimedOut("late", code=OUTCOME_UNKNOWN))
    with pytest.raises(TimedOut):
        await desk.switched()

    previewed = await preview(desk)

    assert previewed.on_phone is not None
    assert previewed.on_phone.outcome is Outcome.UNKNOWN
    assert (previewed.changed, previewed.diff) == (None, None)
    assert previewed.diff_note == (
        "The outcome of deployment 2 of this phone is unknown: the file is from that "
        "deployment or from the deployment before it."
    )


async def test_preview_changes_nothing(desk: Desk) -> None:
    await desk.switched()
    steps, records = list(desk.steps), await desk.records()

    await preview(desk)

    assert desk.steps == steps
    assert await desk.records() == records
    assert await desk.services_user() == desk.ada.user_uuid


async def test_preview_diff_starts_at_the_configuration_of_the_phone(desk: Desk) -> None:
    await desk.switched()
    same = await preview(desk)
    await desk.save(XML.replace("<p>", "<q>").replace("</p>", "</q>"))

    changed = await preview(desk)

    assert (same.changed, same.diff, same.diff_note) == (False, "", None)
    assert same.on_phone == await desk.last()
    assert changed.changed
    assert changed.diff is not None
    assert changed.diff.splitlines()[:2] == [
        "--- on the phone: Ada at the desk, revision 1",
        "+++ the profile: Ada at the desk, revision 2",
    ]
    assert "+\t<q>\u00e9</q>" in changed.diff


async def test_preview_diff_starts_at_the_deployed_revision(desk: Desk) -> None:
    await desk.switched()
    await desk.save("<device><a/></device>")
    await desk.save(XML)

    previewed = await preview(desk)

    assert (previewed.revision, previewed.changed, previewed.diff) == (3, False, "")


async def test_preview_secrets_are_masked_with_distinct_marks(desk: Desk) -> None:
    await desk.save(LOGIN.format("enchantress"))
    await desk.switched()
    await desk.save(LOGIN.format("of numbers"))

    previewed = await preview(desk)

    assert previewed.diff is not None
    assert "-<userPassword>***1<" in previewed.diff
    assert "+<userPassword>***2<" in previewed.diff
    for secret in ("enchantress", "of numbers"):
        assert secret not in repr(previewed)


async def test_preview_hides_records_of_other_users(desk: Desk) -> None:
    await desk.switched()
    of_bob = await desk.profile_of(desk.bob, XML)

    previewed = await preview(desk, desk.bob, of_bob)

    assert (previewed.on_phone, previewed.changed, previewed.diff) == (None, None, None)
    assert previewed.diff_note == "The profile that is on the phone belongs to another user."
    assert (await preview(desk, desk.root, of_bob)).diff == ""


async def test_deleted_profile_is_named_in_the_preview(desk: Desk) -> None:
    of_bob = await desk.profile_of(desk.bob, XML)
    await desk.switched()
    await desk.profiles.delete(desk.ada, desk.profile.uuid)

    previewed = await preview(desk, desk.ada, await desk.profile_of(desk.ada, XML))

    assert previewed.on_phone == await desk.last()
    assert (previewed.changed, previewed.diff) == (False, None)
    assert previewed.diff_note == "The profile that is on the phone was deleted."
    assert (await preview(desk, desk.bob, of_bob)).on_phone is None


async def test_preview_contains_the_obstacles_of_a_switch(desk: Desk) -> None:
    await desk.change_profile(compatible_models=("8841",))
    other_model = await preview(desk)
    await desk.change_phone(is_active=False)
    inactive = await preview(desk)

    assert not other_model.compatible
    assert "8841" in (other_model.objection or "")
    assert inactive.objection == "This phone is not active."


async def test_preview_checks_server_and_phone(desk: Desk) -> None:
    desk.reachability.at_server = Reach(False, "No answer.", 3000)
    desk.reachability.at_phone = Reach(None, "Who knows.", 1)

    previewed = await preview(desk)

    assert previewed.server == desk.reachability.at_server
    assert previewed.phone == desk.reachability.at_phone
    address, phone = sorted(desk.reachability.asked, key=lambda one: not isinstance(one, str))
    assert address == "10.20.30.40"
    assert getattr(phone, "mac", "") == MAC


async def test_preview_and_switch_of_an_unconfirmed_own_server_say_what_is_missing(
    desk: Desk,
) -> None:
    await desk.change_phone(address_confirmed=False)

    server = (await preview(desk)).server
    with pytest.raises(AddressNotConfirmed) as refused:
        await desk.switched()

    assert (server.reachable, server.message) == (None, refused.value.message)
    assert server.message == (
        "Nothing is uploaded to the phone's own FTP server until level 0 has confirmed its address "
        "(address_confirmed)."
    )
    assert not [one for one in desk.reachability.asked if isinstance(one, str | None)]


async def test_preview_has_no_open_transaction_during_checks(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def write(_: object) -> Reach:
        async with desk.database.write() as tx:
            await tx.attempts.clear("anything")
        return Reach(True, "Written.", 0)

    monkeypatch.setattr(desk.reachability, "server", write)

    assert (await preview(desk)).server.message == "Written."


async def test_preview_findings_use_phone_and_firmware_family(desk: Desk) -> None:
    await desk.change_profile(
        software_type="SCCP",
        cnf_xml="<device><deviceProtocol>SIP</deviceProtocol><n>SEP001BD4999999</n></device>",
    )

    findings = (await preview(desk)).findings

    codes = {finding.code: finding.severity for finding in findings}
    assert codes["other_protocol"] is Severity.WARNING
    assert codes["other_phone"] is Severity.WARNING
    assert codes["missing_element"] is not None


async def test_preview_of_typed_text_compares_it_and_asks_no_device(desk: Desk) -> None:
    await desk.save("<device>\n<a>1</a>\n</device>")
    await desk.switched()
    desk.reachability.asked.clear()

    typed = PreviewRequest(
        profile_uuid=desk.profile.uuid, mac=MAC, cnf_xml="<device>\n<a>2</a>\n</device>"
    )
    previewed = await desk.preview(desk.ada, typed)

    assert previewed.diff is not None
    assert "-<a>1</a>\n+<a>2</a>" in previewed.diff
    assert previewed.changed
    assert (previewed.server.reachable, previewed.phone.reachable) == (None, None)
    assert desk.reachability.asked == []
    assert not (await preview(desk)).changed


async def test_preview_of_wrong_typed_text_is_refused(desk: Desk) -> None:
    text = PreviewRequest(profile_uuid=desk.profile.uuid, mac=MAC, cnf_xml="<device>")
    with pytest.raises(Invalid) as refused:
        await desk.preview(desk.ada, text)
    (problem,) = refused.value.problems
    assert problem.field == "cnf_xml"
    assert "line 1" in problem.message

    values = PreviewRequest(profile_uuid=desk.profile.uuid, mac=MAC, values={"a": "b"})
    with pytest.raises(Conflict, match="no template"):
        await desk.preview(desk.ada, values)


async def test_preview_has_the_refusals_of_a_switch(desk: Desk) -> None:
    for actor, uuid, mac in (
        (desk.bob, desk.profile.uuid, MAC),
        (desk.ada, NOWHERE, MAC),
        (desk.ada, desk.profile.uuid, "00:1B:D4:00:00:99"),
    ):
        with pytest.raises(NotFound):
            await desk.preview(actor, SwitchRequest(profile_uuid=uuid, mac=mac))
    assert desk.reachability.asked == []
