"""Usernames: the characters of a new one, and names that look like another."""

import pytest

from phoneprov_adapters.security.credentials import looks
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Conflict, Invalid
from phoneprov_core.people.auth.accounts import Register
from phoneprov_core.people.users.model import (
    AccountPolicy,
    CreateUser,
    Registration,
    UserPatch,
    check_new_username,
)
from phoneprov_core.people.users.use_cases import Users
from support.office import PASSWORD, Office

POLICY = AccountPolicy(lambda _: False, looks=looks)


@pytest.mark.parametrize("name", ["ada", "Ada Lovelace", "a.l-b_c@d", "Zoë", "李雷", "Ольга", "a"])
def test_username_of_plain_characters_is_accepted(name: str) -> None:
    assert check_new_username(name) == name


@pytest.mark.parametrize(
    "name",
    [
        " ada",
        "ada ",
        "a  b",
        " ",
        "a\tb",
        "a\u00a0b",
        "a\u2003b",
        "a\u1680b",
        "a\u200bb",
        "a\u200db",
        "\u202eada",
        "ada\u2066",
        "a\u00adb",
        "a\ufeffb",
        "a\u3164b",
        "a\u034fb",
        "a\ufe0fb",
        "a\u2800b",
        "a\U000e0101b",
        "a\U000e0041b",
        "a\ue000b",
        "a\u0378b",
        "a\ud800b",
        "\uff41da",
        "ﬁn",
        "ada²",
        "①",
    ],
)
def test_username_with_invisible_or_compatibility_characters_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="must not"):
        check_new_username(name)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("admin", "\u0430dmin", True),
        ("admin", "\u0410DMIN", True),
        ("paypal", "PaypaI", True),
        ("paypal", "paypa1", True),
        ("modern", "rnodern", True),
        ("bob", "b0b", True),
        ("root", "\u0433\u043e\u043et", True),
        ("ada", "eda", False),
        ("ada", "ada2", False),
        ("Zoë", "Zoe", False),
        ("李雷", "李雪", False),
    ],
)
def test_username_skeletons_are_those_of_uts_39(one: str, other: str, alike: bool) -> None:
    assert bool(looks(one) & looks(other)) is alike
    assert looks(one) == looks(one)


def users_of(office: Office) -> Users:
    return Users(office.database, office.hasher, POLICY, office.clock, office.new_id)


def new(username: str, password: str = PASSWORD, email: str = "") -> CreateUser:
    return CreateUser(
        first_name="A",
        last_name="B",
        username=username,
        email=email or f"{abs(hash(username))}@example.com",
        password=password,
    )


async def test_username_confusable_with_another_is_conflict(office: Office, root: Actor) -> None:
    users = users_of(office)
    ada = await users.create(root, new("paypal"))
    bob = await users.create(root, new("bob"))

    for name in ("PaypaI", "p\u0430ypal"):
        with pytest.raises(Conflict) as conflict:
            await users.create(root, new(name))
        assert [problem.field for problem in conflict.value.problems] == ["username"]
        with pytest.raises(Conflict):
            await users.update(root, bob.uuid, UserPatch(username=name))
    await users.update(root, ada.uuid, UserPatch(username="PayPal"))
    await users.delete(root, ada.uuid)
    await users.create(root, new("PaypaI"))


async def test_username_that_exists_is_kept_and_accepted_in_updates(
    office: Office, root: Actor
) -> None:
    odd = await office.add_user("a\u200bda")
    users = users_of(office)

    kept = await users.update(root, odd.user_uuid, UserPatch(username="a\u200bda", phone="1"))

    assert (kept.username, kept.phone) == ("a\u200bda", "1")
    with pytest.raises(Invalid):
        await users.update(root, odd.user_uuid, UserPatch(username="b\u200bob"))


@pytest.mark.parametrize("name", ["a\u200bda", " ada", "\uff41da"])
async def test_username_with_a_problem_is_refused_at_registration(
    office: Office, name: str
) -> None:
    register = Register(
        office.database, office.hasher, POLICY, office.clock, office.new_id, public=True
    )
    with pytest.raises(Invalid) as error:
        await register(
            None,
            Registration(
                first_name="A",
                last_name="B",
                username=name,
                email="a@example.com",
                password=PASSWORD,
            ),
        )
    assert [problem.field for problem in error.value.problems] == ["username"]


@pytest.mark.parametrize(
    "password",
    [
        "lovelace",
        "LOVELACElovelace",
        "lovelace123",
        "phoneprov",
        "PhoneProv1",
        "123lovelacephoneprov",
        "countess",
        "countess.lovelace"[:8] + "99",
    ],
)
async def test_password_made_of_own_names_is_refused(
    office: Office, root: Actor, password: str
) -> None:
    users = users_of(office)
    with pytest.raises(Invalid) as error:
        await users.create(root, new("Lovelace", password, "countess@example.com"))
    assert [problem.field for problem in error.value.problems] == ["password"]
    assert password not in str(error.value)
    user = await users.create(root, new("Lovelace", PASSWORD, "countess@example.com"))
    with pytest.raises(Invalid):
        await users.update(root, user.uuid, UserPatch(password=password))
    with pytest.raises(Invalid):
        await users.update(root, user.uuid, UserPatch(username="other", password="other123"))
    await users.update(root, user.uuid, UserPatch(password="lovelace plus more"))


@pytest.mark.parametrize(
    "password", ["        ", "\u00a0" * 9, " \u2003" * 5, "zzzzzzzzzz", "e\u0301" * 8]
)
def test_password_blank_or_of_one_character_is_refused(password: str) -> None:
    with pytest.raises(ValueError, match="must not"):
        POLICY.rule(password)
