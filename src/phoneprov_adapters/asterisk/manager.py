"""Actions performed through Asterisk's manager interface."""

import re

import msgspec

from phoneprov_adapters.asterisk.connection import ManagerConnection
from phoneprov_adapters.asterisk.lists import endpoint_called
from phoneprov_adapters.asterisk.session import Session
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.switching.devices.commands import CALL_ID, require_single_lines
from phoneprov_core.switching.devices.ports import ManagerAction, ManagerInterface, Proceed, always
from phoneprov_core.switching.errors import REPLY_LOST

_CALL_ID = re.compile(r"[A-Za-z0-9.@_-]{1,128}")
"""Characters that need no quoting: Asterisk splits values at commas and removes quotes."""


class Manager(ManagerInterface):
    """Performs actions over the shared connection."""

    def __init__(self, connection: ManagerConnection) -> None:
        self._connection = connection

    async def perform(
        self, action: ManagerAction, phone_ip: str | None = None, proceed: Proceed = always
    ) -> None:
        require_single_lines(action)
        is_unanswered = False

        def sent() -> None:
            nonlocal is_unanswered
            is_unanswered = True

        async def work(session: Session) -> None:
            nonlocal is_unanswered
            found = action
            if action.name == "PJSIPNotify":
                found = await _to_contact(session, action, phone_ip)
            answer = await session.ask(found.name, found.fields, before=proceed, sent=sent)
            is_unanswered = False
            if not answer.ok:
                raise Refused(_message_for(answer.message))

        try:
            # After a lost connection an action is repeated only if it was not sent.
            await self._connection.run(work, lambda: not is_unanswered)
        except (Refused, TimedOut) as error:
            if is_unanswered:
                raise type(error)(f"{_SENT} {error.message}", code=REPLY_LOST) from None
            raise


async def _to_contact(
    session: Session, action: ManagerAction, phone_ip: str | None
) -> ManagerAction:
    """The action with the Call-ID of the phone's registration: Cisco phones ignore a NOTIFY with
    another Call-ID. Asterisk notifies all contacts of an endpoint. If some contacts belong to
    another phone, the action names the endpoint of the phone's newest registration instead; this
    endpoint has the name of its AOR.

    Raises ``Refused`` if the phone has no contact (Asterisk would still answer `NOTIFY sent`), and
    if another phone would be notified, too."""
    name = dict(action.fields).get("Endpoint", "")
    endpoint = await endpoint_called(session, name)
    if endpoint is None:
        return action
    if not endpoint.contacts:
        raise Refused(_NOT_REGISTERED)
    address = phone_ip or endpoint.contacts[0].host
    own = endpoint.at(address)
    if len(own) < len(endpoint.contacts):
        if not own:
            raise Refused(_ANOTHER_PHONE)
        name = own[0].aor
        endpoint = await endpoint_called(session, name) if name else None
        own = endpoint.at(address) if endpoint else ()
        if endpoint is None or not 0 < len(own) == len(endpoint.contacts):
            raise Refused(_ANOTHER_PHONE)
    call_ids = {contact.call_id for contact in own}
    is_known = len(call_ids) == 1 and _CALL_ID.fullmatch(own[0].call_id)
    written = f"{{{own[0].call_id}}}" if is_known else CALL_ID
    fields = ((key, value.replace(CALL_ID, written)) for key, value in action.fields)
    return msgspec.structs.replace(
        action, fields=tuple((key, name if key == "Endpoint" else text) for key, text in fields)
    )


_SENT = "The command was sent, and it is not known whether the phone restarts."
_NOT_REGISTERED = "The phone is not registered with Asterisk; restart it by hand."

_ANOTHER_PHONE = (
    "The phone was not restarted: its endpoint in Asterisk has a contact at another address than "
    "the phone's. Correct phone_ip, or give the other phone an endpoint of its own; max_contacts = "
    "1 and remove_existing = yes keep old contacts away."
)

_KNOWN = (
    (
        "permission denied",
        "The manager account may not do this; give it write = system in manager.conf.",
    ),
    (
        "invalid/unknown command",
        "Asterisk does not support this action; load chan_sccp or res_pjsip_notify.",
    ),
    # chan_sccp finds a device of the realtime configuration only while it is registered.
    ("device not found", _NOT_REGISTERED),
    ("device not registered", _NOT_REGISTERED),
    (
        "unable to retrieve endpoint",
        "Asterisk has no endpoint of this name; check the phone's MAC and pjsip.conf.",
    ),
    (
        "unable to push notify task",
        "Asterisk is too busy to send the NOTIFY; try again.",
    ),
)


def _message_for(response: str) -> str:
    """The error for a response of Asterisk; its text is matched and never repeated."""
    return next(
        (message for text, message in _KNOWN if response.startswith(text)),
        "Asterisk refused the action; see its log for the reason.",
    )
