"""Seeing a phone come back behind a restart: which of the ways."""

from __future__ import annotations

from phoneprov_core.deployments.ports import PhoneWatch, Watching
from phoneprov_core.kernel.errors import PhoneprovError
from phoneprov_core.phones.model import Phone, speaks_sip


class Watch:
    """Watches a phone in the best way there is.

    ``events`` are those that an exchange sends when an SCCP phone registers: the strongest
    word there is, for whoever registers has started up. ``web`` asks the phone itself. Each
    is None where it is not set up. ``seconds`` is how long a phone is waited for, 0 for never.
    """

    def __init__(
        self, events: PhoneWatch | None, web: PhoneWatch | None, *, seconds: float
    ) -> None:
        self._events = events
        self._web = web
        self.seconds = seconds

    async def begin(self, phone: Phone, software_type: str | None) -> Watching | None:
        """Watch from now on, in the first way that works; None when there is none."""
        if not self.seconds:
            return None
        ways = (None if speaks_sip(software_type) else self._events, self._web)
        for way in ways:
            if way is None:
                continue
            try:
                return await way.begin(phone)
            except PhoneprovError:
                continue
        return None
