"""Tokens of other services, Asterisk and the collector of metrics, which the settings contain."""

import hmac
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from typing import Protocol

from phoneprov_core.kernel.actor import Event, UseCaseTrail, anonymous
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.kernel.ports import Clock, Rate, RateStore, ReadAndWrite
from phoneprov_core.kernel.values import millis
from phoneprov_core.people.auth.model import LoginFailure, LoginJournal, ignore_failure
from phoneprov_core.people.auth.throttle import TokenLimit

ONE_A_MINUTE = Rate(1, 60 * 1000)


class ServiceTokensTransaction(Protocol):
    """Stores that the check of service tokens uses."""

    @property
    def rates(self) -> RateStore: ...
    @property
    def trail(self) -> UseCaseTrail: ...


@dataclass
class CheckServiceToken:
    """Compares the token of a service. A wrong one is a line of the log, and one a minute for each
    service is an audit entry; after 20 wrong ones from a client address in 15 minutes none of its
    tokens is compared."""

    database: ReadAndWrite[ServiceTokensTransaction]
    clock: Clock
    _: KW_ONLY
    journal: LoginJournal = ignore_failure

    def __post_init__(self) -> None:
        self._limit = TokenLimit(self.clock)

    async def __call__(self, service: str, token: str, sent: Sequence[bytes], ip: str) -> bool:
        """Whether one of the tokens that the client ``sent`` is the token of the service. None is
        no guess."""
        if not sent:
            return False
        if self._limit.is_closed(ip):
            self.journal(LoginFailure(ip, "token_locked"))
            return False
        known = token.encode()
        if any(hmac.compare_digest(one, known) for one in sent):
            return True
        self._limit.count(ip)
        self.journal(LoginFailure(ip, "wrong_token"))
        with suppress(Unavailable):
            async with self.database.write(by=anonymous(ip)) as tx:
                now = millis(self.clock())
                if not await tx.rates.add(f"service token {service}", ONE_A_MINUTE, now):
                    tx.trail.note(Event("service_token.failed", "service", service))
        return False
