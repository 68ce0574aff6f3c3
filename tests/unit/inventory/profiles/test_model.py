"""Profiles as commands, and the phones that they fit."""

from typing import Any

import pytest

from phoneprov_core.inventory.phones.model import misfit
from phoneprov_core.inventory.profiles.model import CreateProfile, ProfilePatch, SwitchRequest
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import Invalid
from support.phone_records import a_phone, a_profile
from support.records import identifier

OWNER = identifier(1)


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
def test_matching_model_and_software_are_accepted(
    models: tuple[str, ...], model: str | None, software: str | None, software_type: str | None
) -> None:
    profile = a_profile(1, OWNER, compatible_models=models, software_type=software)
    phone = a_phone(1, model=model, software_type=software_type)
    assert misfit(phone, profile.compatible_models, profile.software_type) is None


@pytest.mark.parametrize(
    ("wanted", "recorded"),
    [
        *(({"compatible_models": models}, {"model": model}) for models, model in (
            (("7911",), "7945"), (("7945",), "7945X"), (("7911", "7912"), "CP-7945G"),
            (("7945",), " "),
        )),
        *(({"software_type": one}, {"software_type": other}) for one, other in (
            ("SCCP", "SIP"), ("SIP", "SIPE"), ("SIPE", "enterprise"),
        )),
    ],
)  # fmt: skip
def test_mismatching_model_or_software_is_named(
    wanted: dict[str, Any], recorded: dict[str, Any]
) -> None:
    phone = a_phone(1, **({"model": None} | recorded))
    profile = a_profile(1, OWNER, **({"compatible_models": ()} | wanted))
    problem = misfit(phone, profile.compatible_models, profile.software_type)

    assert problem is not None
    (expected,), (found,) = wanted.values(), recorded.values()
    assert found in problem
    for one in expected if isinstance(expected, tuple) else (expected,):
        assert one in problem


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
