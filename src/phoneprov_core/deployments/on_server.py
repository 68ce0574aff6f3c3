"""The file on the server, compared with the deployed one when a switch is previewed."""

from contextlib import suppress
from typing import NamedTuple

from phoneprov_core.configuration.comparison import Compare, Comparison
from phoneprov_core.deployments.model import Deployment
from phoneprov_core.deployments.observation import FileState, Reach, Reachability
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.templates.ports import Rendered, secrets_of

_CHANGED = "Another program changed the file on the server; the switch replaces it."
_MISSING = "The file is missing on the server; the switch stores it again."
_NOT_SHOWN = " Its content is not shown: it is no configuration of at most {limit} bytes in UTF-8."


class OnServer(NamedTuple):
    """Whether the login on the server succeeds, and the file there: its state, the masked
    difference, and what happens to it."""

    reach: Reach
    file: FileState = "unknown"
    diff: str | None = None
    note: str | None = None


async def on_server(
    reachability: Reachability,
    compare: Compare,
    phone_ip: str | None,
    deployed: Deployment | None,
    text: Rendered | None,
    limit: int,
) -> OnServer:
    """Compare the file on the server with the deployment in place, in one session. ``text`` is what
    was deployed, None if the caller may not see it: then the file is not shown either. ``limit`` is
    the maximum size of a configuration."""
    if deployed is None:
        return OnServer(await reachability.server(phone_ip))
    reach, found = await reachability.file(phone_ip, deployed.filename, limit + 1)
    state = "unknown" if found is None else found.compared_with(deployed.sha256)
    if state == "missing":
        return OnServer(reach, state, note=_MISSING)
    if found is None or found.content is None or state != "changed":
        return OnServer(reach, state)
    if text is None:
        return OnServer(reach, state, note=_CHANGED)
    diff = None
    if len(found.content) <= limit:
        with suppress(UnicodeDecodeError, Unavailable):
            comparison = Comparison(
                old=text.text,
                new=found.content.decode(),
                old_secrets=secrets_of(text),
                old_label=label("as deployed", deployed.profile_name, deployed.revision),
                new_label=f"on the server now: {deployed.filename}",
                is_foreign=True,
            )
            diff = (await compare(comparison)).diff
    return OnServer(reach, state, diff, _CHANGED + ("" if diff else _NOT_SHOWN.format(limit=limit)))


def label(where: str, name: str, revision: int) -> str:
    """The label of a deployed configuration in a diff."""
    return f"{where}: {' '.join(name.split())}, revision {revision}"
