"""Whether a phone is in a call, if known."""

import pytest

from phoneprov_core.inventory.phones.model import CreatePhone, Phone
from phoneprov_core.kernel.commands import record_of
from phoneprov_core.kernel.errors import PhoneprovError, Refused, TimedOut
from phoneprov_core.switching.devices.ports import is_in_call

PHONE = record_of(Phone, CreatePhone(mac="001bd4123456"), created_at="", updated_at="")


class Exchange:
    def __init__(self, answer: bool | PhoneprovError) -> None:
        self.answer = answer

    async def in_call(self, phone: Phone) -> bool:
        assert phone is PHONE
        if isinstance(self.answer, PhoneprovError):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("calls", "known"),
    [
        (Exchange(True), True),
        (Exchange(False), False),
        (Exchange(Refused("no")), False),
        (Exchange(TimedOut("late")), False),
        (None, False),
    ],
)
async def test_phone_is_in_a_call_only_if_that_is_known(
    calls: Exchange | None, known: bool
) -> None:
    assert await is_in_call(calls, PHONE) is known
