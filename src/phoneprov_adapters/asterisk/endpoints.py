"""PJSIP endpoints: their addresses of record (AORs) and contacts.

``PJSIPShowEndpoint`` (``write = system``) lists an endpoint in the events ``EndpointDetail``,
whose field ``Aors`` names its AORs, and one ``ContactStatusDetail`` for each contact, with the
fields ``URI`` and ``CallID``, the Call-ID of the registration. ``EndpointDetailComplete`` ends it.
"""

from msgspec import Struct

from phoneprov_adapters.asterisk.session import Session

_ENDPOINT, _CONTACT = "EndpointDetail", "ContactStatusDetail"


class Contact(Struct, frozen=True):
    """One registration of an endpoint."""

    uri: str
    call_id: str


class Endpoint(Struct, frozen=True):
    """An endpoint as Asterisk shows it."""

    aors: frozenset[str] = frozenset()
    contacts: tuple[Contact, ...] = ()


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
            Contact(entry.get("uri", ""), entry.get("callid", ""))
            for entry in answer.entries
            if entry["event"] == _CONTACT
        ),
    )
