"""The preview of a switch shows everything and changes nothing."""

import pytest

from phoneprov_core.configuration.findings import Severity
from phoneprov_core.deployments.model import Outcome
from phoneprov_core.deployments.observation import Reach, ServerFile
from phoneprov_core.deployments.preview import Preview
from phoneprov_core.devices.errors import OUTCOME_UNKNOWN
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Conflict, Invalid, NotFound, TimedOut
from phoneprov_core.phones.model import PhonePatch
from phoneprov_core.profiles.model import (
    CreateProfile,
    PreviewRequest,
    Profile,
    ProfilePatch,
    SwitchRequest,
)
from support.office import Office
from support.switching import (
    MAC,
    NOWHERE,
    XML,
    Journal,
    deployments,
    last_deployment,
    services_user,
    switch,
)

LOGIN = "<device>\n<userPassword>{}</userPassword>\n</device>"


async def preview(office: Office, actor: Actor, profile: Profile, mac: str = MAC) -> Preview:
    return await office.preview(actor, SwitchRequest(profile_uuid=profile.uuid, mac=mac))


async def save(office: Office, actor: Actor, profile: Profile, xml: str) -> None:
    await office.profiles.update(actor, profile.uuid, ProfilePatch(cnf_xml=xml))


async def of(office: Office, actor: Actor, xml: str) -> Profile:
    new = CreateProfile(user_uuid=actor.user_uuid, name="Another", cnf_xml=xml)
    return await office.profiles.create(actor, new)


async def test_preview_names_revision_and_file(
    office: Office, ada: Actor, profile: Profile
) -> None:
    previewed = await preview(office, ada, profile)

    assert (previewed.profile, previewed.mac, previewed.revision) == ("Ada at the desk", MAC, 1)
    assert (previewed.filename, previewed.size) == ("SEP001BD4123456.cnf.xml", len(XML.encode()))
    assert (previewed.compatible, previewed.objection) == (True, None)
    assert (previewed.on_phone, previewed.changed, previewed.diff) == (None, None, None)
    assert previewed.diff_note == "No deployment to this phone is recorded."


OTHER = "<device>\n<userPassword>z</userPassword>\n<note>by hand</note>\n</device>"


async def deployed_then(office: Office, actor: Actor, profile: Profile, now: bytes | None) -> None:
    """Deploy a configuration with a secret; then another program leaves this file."""
    await save(office, actor, profile, LOGIN.format("s3cret"))
    await switch(office, actor, profile)
    is_listed = None if now is not None else False
    office.reachability.at_file = ServerFile(now, is_listed)


async def test_preview_shows_the_file_that_another_program_changed_masked(
    office: Office, ada: Actor, profile: Profile
) -> None:
    await deployed_then(office, ada, profile, OTHER.encode())

    previewed = await preview(office, ada, profile)

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
    office: Office, ada: Actor, profile: Profile, now: bytes | None, file: str, note: str | None
) -> None:
    await deployed_then(office, ada, profile, now)

    previewed = await preview(office, ada, profile)

    assert (previewed.file, previewed.file_diff) == (file, None)
    assert (note or "") in (previewed.file_note or "")
    assert (previewed.file_note is None) is (note is None)


async def test_preview_without_deployment_or_server_does_not_know_the_file(
    office: Office, ada: Actor, profile: Profile
) -> None:
    office.reachability.at_file = ServerFile(b"<a/>")
    assert (await preview(office, ada, profile)).file == "unknown"
    await deployed_then(office, ada, profile, b"<a/>")
    office.reachability.at_file = None
    previewed = await preview(office, ada, profile)
    assert (previewed.file, previewed.file_note) == ("unknown", None)


async def test_content_on_the_server_is_shown_to_who_may_see_the_deployed_one(
    office: Office, ada: Actor, bob: Actor, profile: Profile
) -> None:
    await deployed_then(office, ada, profile, OTHER.encode())

    previewed = await preview(office, bob, await of(office, bob, XML))

    assert (previewed.file, previewed.file_diff, previewed.diff) == ("changed", None, None)


async def test_changes_that_need_a_reset_are_named(
    office: Office, ada: Actor, profile: Profile
) -> None:
    await save(office, ada, profile, "<device><servicesURL>http://a</servicesURL></device>")
    assert (await preview(office, ada, profile)).needs_reset == ()
    await switch(office, ada, profile)
    await save(office, ada, profile, "<device><servicesURL>http://b</servicesURL></device>")

    assert (await preview(office, ada, profile)).needs_reset == ("servicesURL",)


async def test_preview_after_an_unknown_outcome_has_no_diff(
    office: Office, ada: Actor, profile: Profile
) -> None:
    await switch(office, ada, profile)
    office.uploader.fail_next(TimedOut("late", code=OUTCOME_UNKNOWN))
    with pytest.raises(TimedOut):
        await switch(office, ada, profile)

    previewed = await preview(office, ada, profile)

    assert previewed.on_phone is not None
    assert previewed.on_phone.outcome is Outcome.UNKNOWN
    assert (previewed.changed, previewed.diff) == (None, None)
    assert previewed.diff_note == (
        "The outcome of deployment 2 of this phone is unknown: its file is the one of that "
        "deployment or the one before."
    )


async def test_preview_changes_nothing(
    office: Office, ada: Actor, profile: Profile, journal: Journal
) -> None:
    await switch(office, ada, profile)
    steps, records = list(journal.steps), await deployments(office)

    await preview(office, ada, profile)

    assert journal.steps == steps
    assert await deployments(office) == records
    assert await services_user(office) == ada.user_uuid


async def test_preview_diff_starts_at_the_configuration_of_the_phone(
    office: Office, ada: Actor, profile: Profile
) -> None:
    await switch(office, ada, profile)
    same = await preview(office, ada, profile)
    await save(office, ada, profile, XML.replace("<p>", "<q>").replace("</p>", "</q>"))

    changed = await preview(office, ada, profile)

    assert (same.changed, same.diff, same.diff_note) == (False, "", None)
    assert same.on_phone == await last_deployment(office)
    assert changed.changed
    assert changed.diff is not None
    assert changed.diff.splitlines()[:2] == [
        "--- on the phone: Ada at the desk, revision 1",
        "+++ the profile: Ada at the desk, revision 2",
    ]
    assert "+\t<q>\u00e9</q>" in changed.diff


async def test_preview_diff_starts_at_the_deployed_revision(
    office: Office, ada: Actor, profile: Profile
) -> None:
    await switch(office, ada, profile)
    await save(office, ada, profile, "<device><a/></device>")
    await save(office, ada, profile, XML)

    previewed = await preview(office, ada, profile)

    assert (previewed.revision, previewed.changed, previewed.diff) == (3, False, "")


async def test_preview_secrets_are_masked_with_distinct_marks(
    office: Office, ada: Actor, profile: Profile
) -> None:
    await save(office, ada, profile, LOGIN.format("enchantress"))
    await switch(office, ada, profile)
    await save(office, ada, profile, LOGIN.format("of numbers"))

    previewed = await preview(office, ada, profile)

    assert previewed.diff is not None
    assert "-<userPassword>***1<" in previewed.diff
    assert "+<userPassword>***2<" in previewed.diff
    for secret in ("enchantress", "of numbers"):
        assert secret not in repr(previewed)


async def test_preview_hides_records_of_other_users(
    office: Office, root: Actor, ada: Actor, bob: Actor, profile: Profile
) -> None:
    await switch(office, ada, profile)
    of_bob = await of(office, bob, XML)

    previewed = await preview(office, bob, of_bob)

    assert (previewed.on_phone, previewed.changed, previewed.diff) == (None, None, None)
    assert previewed.diff_note == "The profile that is on the phone belongs to another user."
    assert (await preview(office, root, of_bob)).diff == ""


async def test_deleted_profile_is_named_in_the_preview(
    office: Office, ada: Actor, bob: Actor, profile: Profile
) -> None:
    of_bob = await of(office, bob, XML)
    await switch(office, ada, profile)
    await office.profiles.delete(ada, profile.uuid)

    previewed = await preview(office, ada, await of(office, ada, XML))

    assert previewed.on_phone == await last_deployment(office)
    assert (previewed.changed, previewed.diff) == (False, None)
    assert previewed.diff_note == "The profile that is on the phone was deleted."
    assert (await preview(office, bob, of_bob)).on_phone is None


async def test_preview_contains_the_obstacles_of_a_switch(
    office: Office, root: Actor, ada: Actor, profile: Profile
) -> None:
    await office.profiles.update(ada, profile.uuid, ProfilePatch(compatible_models=("8841",)))
    other_model = await preview(office, ada, profile)
    await office.phones.update(root, MAC, PhonePatch(is_active=False))
    inactive = await preview(office, ada, profile)

    assert not other_model.compatible
    assert "8841" in (other_model.objection or "")
    assert inactive.objection == "This phone is not active."


async def test_preview_checks_server_and_phone(
    office: Office, ada: Actor, profile: Profile
) -> None:
    office.reachability.at_server = Reach(False, "No answer.", 3000)
    office.reachability.at_phone = Reach(None, "Who knows.", 1)

    previewed = await preview(office, ada, profile)

    assert previewed.server == office.reachability.at_server
    assert previewed.phone == office.reachability.at_phone
    address, phone = sorted(office.reachability.asked, key=lambda one: not isinstance(one, str))
    assert address == "10.20.30.40"
    assert getattr(phone, "mac", "") == MAC


async def test_preview_has_no_open_transaction_during_checks(
    office: Office, ada: Actor, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def write(_: object) -> Reach:
        async with office.database.write() as tx:
            await tx.attempts.clear("anything")
        return Reach(True, "Written.", 0)

    monkeypatch.setattr(office.reachability, "server", write)

    assert (await preview(office, ada, profile)).server.message == "Written."


async def test_preview_findings_use_phone_and_firmware_family(
    office: Office, ada: Actor, profile: Profile
) -> None:
    await office.profiles.update(
        ada,
        profile.uuid,
        ProfilePatch(
            software_type="SCCP",
            cnf_xml="<device><deviceProtocol>SIP</deviceProtocol><n>SEP001BD4999999</n></device>",
        ),
    )

    findings = (await preview(office, ada, profile)).findings

    codes = {finding.code: finding.severity for finding in findings}
    assert codes["other_protocol"] is Severity.WARNING
    assert codes["other_phone"] is Severity.WARNING
    assert codes["missing_element"] is not None


async def test_preview_of_typed_text_compares_it_and_asks_no_device(
    office: Office, ada: Actor, profile: Profile
) -> None:
    await save(office, ada, profile, "<device>\n<a>1</a>\n</device>")
    await switch(office, ada, profile)
    office.reachability.asked.clear()

    typed = PreviewRequest(
        profile_uuid=profile.uuid, mac=MAC, cnf_xml="<device>\n<a>2</a>\n</device>"
    )
    previewed = await office.preview(ada, typed)

    assert previewed.diff is not None
    assert "-<a>1</a>\n+<a>2</a>" in previewed.diff
    assert previewed.changed
    assert (previewed.server.reachable, previewed.phone.reachable) == (None, None)
    assert office.reachability.asked == []
    assert not (await preview(office, ada, profile)).changed


async def test_preview_of_wrong_typed_text_is_refused(
    office: Office, ada: Actor, profile: Profile
) -> None:
    text = PreviewRequest(profile_uuid=profile.uuid, mac=MAC, cnf_xml="<device>")
    with pytest.raises(Invalid) as refused:
        await office.preview(ada, text)
    (problem,) = refused.value.problems
    assert problem.field == "cnf_xml"
    assert "line 1" in problem.message

    values = PreviewRequest(profile_uuid=profile.uuid, mac=MAC, values={"a": "b"})
    with pytest.raises(Conflict, match="no template"):
        await office.preview(ada, values)


async def test_preview_has_the_refusals_of_a_switch(
    office: Office, ada: Actor, bob: Actor, profile: Profile
) -> None:
    for actor, uuid, mac in (
        (bob, profile.uuid, MAC),
        (ada, NOWHERE, MAC),
        (ada, profile.uuid, "00:1B:D4:00:00:99"),
    ):
        with pytest.raises(NotFound):
            await office.preview(actor, SwitchRequest(profile_uuid=uuid, mac=mac))
    assert office.reachability.asked == []
