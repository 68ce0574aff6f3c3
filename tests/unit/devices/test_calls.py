"""Whether a phone is in a call, if known."""

import pytest

from phoneprov_core.devices.ports import is_in_call
from phoneprov_core.kernel.commands import record_of
from phoneprov_core.kernel.errors import PhoneprovError, Refused, TimedOut
from phoneprov_core.phones.model import CreatePhone, Phone

PHONE = record_of(Phone, CreatePhone(mac="001bd4123456"), created_at="", updated_at="")


class Exchange:
    def __init__(self, answer: bool | PhoneprovError) -> None:
        self.answer = answer

    async def in_call(self, phone: Phone) -> bool:
        assert phone is PHONE
        if isinstance(self.answer, PhoneprovError):
            raise self.answer
        return self.answer


@pytest.mark.parametrize("answer", [True, False])
async def test_is_in_call_known_state_is_returned(answer: bool) -> None:
    assert await is_in_call(Exchange(answer), PHONE) is answer


@pytest.mark.parametrize("error", [Refused("no"), TimedOut("late")])
async def test_is_in_call_unknown_state_counts_as_idle(error: PhoneprovError) -> None:
    assert not await is_in_call(Exchange(error), PHONE)


async def test_is_in_call_without_exchange_counts_as_idle() -> None:
    assert not await is_in_call(None, PHONE)
