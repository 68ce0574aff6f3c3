"""Selection of the way to see that a phone restarted."""

from dataclasses import KW_ONLY, dataclass

from msgspec import structs

from phoneprov_core.deployments.observation import PhoneWatch, Watching
from phoneprov_core.kernel.errors import Conflict, PhoneprovError, Refused
from phoneprov_core.phones.model import Phone, speaks_sip


@dataclass(frozen=True)
class Watch:
    """Watches phones by the ``events`` of an exchange, or over their own ``web`` servers.

    A registration is the stronger evidence: a phone that registers has started. With an exchange,
    only a registration confirms the restart of a SIP phone: its web server, which was away and
    answers again, may have lost its network for a while. Another phone that the exchange does not
    show is watched over its web server. Each way is None where it is not configured. ``seconds`` is
    the maximum waiting time for a phone, 0 to disable watching.
    """

    events: PhoneWatch | None
    web: PhoneWatch | None
    _: KW_ONLY
    seconds: float

    async def begin(self, phone: Phone, software_type: str | None) -> Watching:
        """Start watching. ``software_type`` is the firmware family of the phone's record or else
        of the profile. Raises ``Refused``, ``TimedOut`` or ``Conflict`` with the reason if no way
        works."""
        if not self.seconds:
            raise Conflict("Phones are not watched: PHONEPROV_CONFIRM_TIMEOUT is 0.")
        phone = structs.replace(phone, software_type=software_type)
        ways = [way for way in (self.events, self.web) if way is not None]
        if self.events is not None and speaks_sip(software_type):
            ways = [self.events]
        reasons = []
        for way in ways:
            try:
                return await way.begin(phone)
            except PhoneprovError as error:
                reasons.append(error.message)
        raise Refused(" ".join(reasons) or "No way to watch phones is configured.")
