"""Whether an earlier text may come back to a phone: its user is active and still has its lines."""

from phoneprov_core.configuration.elements import Element, walk
from phoneprov_core.deployments.errors import RightsChanged
from phoneprov_core.deployments.order import Order
from phoneprov_core.deployments.ports import DeploymentsTransaction
from phoneprov_core.extensions import CHAN_PJSIP, CHAN_SIP
from phoneprov_core.templates.language import MOST_ELEMENTS
from phoneprov_core.templates.ports import UsedLine
from phoneprov_core.templates.recipes import lines_of


async def require_rights(tx: DeploymentsTransaction, order: Order) -> None:
    """Raises ``RightsChanged`` if the owner of the profile is not active, or does not have a line
    that the text was rendered with. A text that was typed names a line that is taken away if it
    has the number and the password of an extension that is in use."""
    owner = order.profile.user_uuid
    user = await tx.users.find(owner)
    if user is None or not user.is_active:
        name = user.username if user else order.profile.name
        raise RightsChanged(f"The user of this configuration, {name}, is not active.")
    rendered = order.source.rendered if order.source else None
    wanted = rendered.lines if rendered else await _lines_in(tx, order.cnf_xml)
    if not wanted:
        return
    held = {line.extension: line.password for line in await lines_of(tx, owner)}
    lost = dict.fromkeys(
        line.number
        for line in wanted
        if line.number not in held or line.password not in {None, held[line.number]}
    )
    if lost:
        some = "the number" if len(lost) == 1 else "the numbers"
        raise RightsChanged(
            f"This configuration was made with {some} {', '.join(lost)}, which its user no longer "
            "has, or has with another password."
        )


async def _lines_in(tx: DeploymentsTransaction, cnf_xml: str) -> tuple[UsedLine, ...]:
    """The lines of a typed text that would register: number and password of an extension."""
    typed: list[dict[str, str]] = []

    def on_end(element: Element) -> None:
        above = element.parent
        if element.name == "line":
            typed.append(fields.pop(id(element), {}))
        elif above is not None and above.name == "line":
            fields.setdefault(id(above), {})[element.name] = element.text.strip()

    fields: dict[int, dict[str, str]] = {}
    walk(cnf_xml.encode(), on_end)
    found = []
    for line in typed[:MOST_ELEMENTS]:
        number = line.get("authName") or line.get("name") or ""
        password = line.get("authPassword") or ""
        for kind in (CHAN_PJSIP, CHAN_SIP) if number and password else ():
            uuid = await tx.lines.uuid_of(number, kind)
            extension = await tx.extensions.find(uuid) if uuid else None
            if extension is not None and extension.password == password:
                found.append(UsedLine(number, password))
    return tuple(found)
