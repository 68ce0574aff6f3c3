"""Which passwords are too common."""

import subprocess
import sys

import pytest

from phoneprov_adapters.security import credentials as common
from phoneprov_adapters.security.credentials import common_passwords, is_common
from phoneprov_core.people.users.model import AccountPolicy


@pytest.mark.parametrize("password", ["password", "PassWord", "12345678", "QWERTYUIOP", "iloveyou"])
def test_common_passwords_are_found_in_any_case(password: str) -> None:
    assert is_common(password)


@pytest.mark.parametrize(
    "password", ["", "correct horse battery", "password ", " password", "12345678\0", "\ud800"]
)
def test_password_containing_a_common_one_is_accepted(password: str) -> None:
    assert not is_common(password)


def test_password_list_is_that_of_the_library_and_over_3000_long() -> None:
    from zxcvbn.frequency_lists import FREQUENCY_LISTS  # noqa: PLC0415 - it is large

    assert common_passwords() == set(FREQUENCY_LISTS["passwords"])
    assert sum(len(password) >= 8 for password in common_passwords()) > 3000


def test_common_passwords_are_refused_by_the_policy() -> None:
    policy = AccountPolicy(is_common)

    with pytest.raises(ValueError, match="most commonly used"):
        policy.rule("Football1")
    assert policy.rule("correct horse battery") == "correct horse battery"


def test_missing_list_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "find_spec", lambda _name: None)

    with pytest.raises(ImportError, match="install zxcvbn"):
        common_passwords.__wrapped__()


def test_password_list_is_read_at_first_use_without_the_estimator() -> None:
    script = (
        "import sys; from phoneprov_adapters.security import credentials as p; "
        "assert p.common_passwords.cache_info().currsize == 0; assert p.is_common('password'); "
        "sys.exit('zxcvbn' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
