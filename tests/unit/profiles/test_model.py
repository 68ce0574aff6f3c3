"""Profiles as commands, and the phones that they fit."""

import pytest

from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import Invalid
from phoneprov_core.profiles.model import (
    CreateProfile,
    ProfilePatch,
    SwitchRequest,
)
from support.phone_records import a_phone, a_profile
from support.records import identifier

OWNER = identifier(1)


def objection(
    models: tuple[str, ...] = (),
    software: str | None = None,
    *,
    model: str | None,
    software_type: str | None = None,
) -> str | None:
    profile = a_profile(1, OWNER, compatible_models=models, software_type=software)
    return profile.objection_to(a_phone(1, model=model, software_type=software_type))


@pytest.mark.parametrize(
    ("models", "model"),
    [
        ((), "CP-7945G"),
        ((), None),
        (("CP-7945G",), "7945"),
        (("7945",), "Cisco CP-7945G"),
        (("7911", "cisco 7945g"), "CP-7945G"),
        # An unrecorded property of the phone is compatible.
        (("7911",), None),
        (("7911",), ""),
    ],
)
def test_matching_model_is_accepted(models: tuple[str, ...], model: str | None) -> None:
    assert objection(models, model=model) is None


@pytest.mark.parametrize(
    ("models", "model"),
    [(("7911",), "7945"), (("7945",), "7945X"), (("7911", "7912"), "CP-7945G"), (("7945",), " ")],
)
def test_mismatching_model_is_named(models: tuple[str, ...], model: str) -> None:
    problem = objection(models, model=model)

    assert problem is not None
    assert model in problem
    assert all(wanted in problem for wanted in models)


@pytest.mark.parametrize(
    ("software", "software_type"),
    [
        (None, "SIP"),
        (None, None),
        ("SCCP", "SCCP"),
        ("SCCP", "sccp"),
        ("SIPE", " sipe "),
        ("SCCP", None),
        ("SCCP", ""),
        ("SCCP", "  "),
    ],
)
def test_matching_software_is_accepted(software: str | None, software_type: str | None) -> None:
    assert objection((), software, model=None, software_type=software_type) is None


@pytest.mark.parametrize(
    ("software", "software_type"), [("SCCP", "SIP"), ("SIP", "SIPE"), ("SIPE", "enterprise")]
)
def test_mismatching_software_is_named(software: str, software_type: str) -> None:
    problem = objection((), software, model=None, software_type=software_type)

    assert problem is not None
    assert software in problem
    assert software_type in problem


@pytest.mark.parametrize("empty", ["", None])
def test_empty_software_type_means_all(empty: str | None) -> None:
    body = {"user_uuid": OWNER, "name": "x", "cnf_xml": "<a/>", "software_type": empty}

    assert command_of(CreateProfile, body).software_type is None
    assert command_of(ProfilePatch, {"software_type": empty}).software_type is None


@pytest.mark.parametrize("wrong", ["sccp", "SKINNY", 5, True, []])
def test_software_type_is_one_of_three(wrong: object) -> None:
    with pytest.raises(Invalid) as error:
        command_of(ProfilePatch, {"software_type": wrong})

    assert error.value.problems[0].message == "must be one of SCCP, SIP, SIPE or null"


def test_models_are_bounded_lines_of_text() -> None:
    def fails(models: object) -> bool:
        try:
            command_of(ProfilePatch, {"compatible_models": models})
        except Invalid as error:
            return [problem.field for problem in error.problems] == ["compatible_models"]
        return False

    assert not fails(["7945"] * 200)
    assert not fails([])
    for models in (["7945"] * 201, [""], ["a\nb"], "7945", [7945], None, {"7945": 1}):
        assert fails(models)


def test_switch_request_is_canonical_and_names_both_faults() -> None:
    request = SwitchRequest(profile_uuid=OWNER.upper(), mac="001bd4123456")

    assert (request.profile_uuid, request.mac) == (OWNER, "00:1B:D4:12:34:56")
    with pytest.raises(Invalid) as error:
        SwitchRequest(profile_uuid="x", mac="y")
    assert [problem.field for problem in error.value.problems] == ["profile_uuid", "mac"]
