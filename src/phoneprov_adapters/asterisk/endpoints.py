"""PJSIP endpoints: their addresses of record (AORs) and contacts.

``PJSIPShowEndpoint`` (``write = system``) lists an endpoint in the events ``EndpointDetail``,
whose field ``Aors`` names its AORs, and one ``ContactStatusDetail`` for each contact, with the
fields ``AOR``, ``URI``, ``ViaAddress`` (the address that the phone states for itself), ``CallID``,
the Call-ID of the registration, and ``RegExpire``, its end in seconds since 1970.
``EndpointDetailComplete`` ends it.
"""

import re

from msgspec import Struct

from phoneprov_adapters.asterisk.session import Session
from phoneprov_core.kernel.addresses import same_address

_ENDPOINT, _CONTACT = "EndpointDetail", "ContactStatusDetail"
_HOST = re.compile(r"(?:sips?:)?(?:[^@]*@)?(?:\[([^\]]*)\]|([^:;?>]*))")


class Contact(Struct, frozen=True):
    """One registration of an endpoint."""

    uri: str
    call_id: str
    via: str = ""
    aor: str = ""
    expires: int = 0

    def is_at(self, address: str) -> bool:
        """Whether this address registered. With NAT the URI may have the address of the router, and
        only ``via`` has the address of the phone."""
        return any(same_address(host, address) for host in (self.host, host_of(self.via)))

    @property
    def host(self) -> str:
        """The host of the URI, to which Asterisk sends."""
        return host_of(self.uri)


class Endpoint(Struct, frozen=True):
    """An endpoint as Asterisk shows it."""

    aors: frozenset[str] = frozenset()
    contacts: tuple[Contact, ...] = ()

    def at(self, address: str) -> tuple[Contact, ...]:
        """The contacts of the phone at this address; the contact that expires last is first."""
        own = [one for one in self.contacts if one.is_at(address)]
        return tuple(sorted(own, key=lambda one: one.expires, reverse=True))


async def endpoint_called(session: Session, name: str) -> Endpoint | None:
    """The endpoint; None if Asterisk does not show it: it does not exist, or the account may
    not see it. Raises ``Broken``."""
    answer = await session.ask(
        "PJSIPShowEndpoint",
        (("Endpoint", name),),
        complete="EndpointDetailComplete",
        wanted=frozenset({_ENDPOINT, _CONTACT}),
    )
    if not answer.ok:
        return None
    aors = ",".join(entry.get("aors", "") for entry in answer.entries)
    return Endpoint(
        frozenset(aor.strip() for aor in aors.split(",") if aor.strip()),
        tuple(
            Contact(
                uri=entry.get("uri", ""),
                call_id=entry.get("callid", ""),
                via=entry.get("viaaddress", ""),
                aor=entry.get("aor", ""),
                expires=_number(entry.get("regexpire", "")),
            )
            for entry in answer.entries
            if entry["event"] == _CONTACT
        ),
    )


def _number(text: str) -> int:
    return int(text) if re.fullmatch("[0-9]{1,18}", text) else 0


def host_of(text: str) -> str:
    """The host of a SIP URI, or of an address with a port; empty if it has none."""
    found = _HOST.match(text)
    return (found[1] or found[2] or "") if found else ""
