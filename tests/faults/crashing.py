"""Switches and saves of profiles that are killed at a given point.

As a program it reads one order per line from its standard input and forks for each, so that
everything is imported once. It prints the exit code of each.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any

import aioftp
import msgspec

from phoneprov_adapters.composition.lifecycle import prepare, running
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.ftp.client import FtpClient
from phoneprov_adapters.ftp.session import FtpSession
from phoneprov_adapters.phone.http import PhoneWeb
from phoneprov_adapters.phone.watch import WebWatch
from phoneprov_adapters.sql.stores.features.desks import SqlDesks
from phoneprov_adapters.sql.stores.inventory.profiles import SqlProfiles, SqlRevisions
from phoneprov_adapters.sql.stores.switching import SqlDeployments, SqlLeases
from phoneprov_core.inventory.profiles.model import ProfilePatch, SwitchRequest
from phoneprov_core.inventory.profiles.use_cases import Profiles
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.switching.deployments.confirm import Confirm
from phoneprov_core.switching.deployments.records import Records
from phoneprov_core.switching.devices.ports import KeyPress, Proceed, always
from phoneprov_core.switching.errors import LeaseLost

STOPPED = -19
LOST = 7
"""Exit code of a switch that lost its lease."""
LEASE_SECONDS = 2


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """A point of a run: before or after the ``nth`` call of a method.

    At this point the phone's file, or the profile, is the ``new`` one or not. The record of the
    switch, as the next start finds it, has ``outcome``, None if there is none yet; and names the
    place of the file if it ``knows`` it, None where either is allowed.
    """

    owner: type[Any]
    method: str
    after: bool = False
    nth: int = 1
    argument: str = ""
    new: bool = False
    outcome: str | None = "interrupted"
    knows: bool | None = False


POINTS = {
    "before the lease is taken": Point(owner=SqlLeases, method="take", outcome=None),
    "after the lease is taken": Point(owner=SqlLeases, method="take", after=True, outcome=None),
    "after the record is added": Point(
        owner=SqlDeployments, method="add", after=True, outcome=None
    ),
    "before the FTP connection": Point(owner=FtpClient, method="connect"),
    "after the FTP login": Point(owner=FtpClient, method="login", after=True),
    "during the upload": Point(
        owner=aioftp.client.DataConnectionThrottleStreamIO, method="write", after=True
    ),
    "after the upload": Point(owner=FtpSession, method="store", after=True),
    "after the upload is verified": Point(owner=FtpSession, method="verify", after=True),
    "before the rename": Point(owner=FtpClient, method="command", argument="RNTO"),
    "after the rename": Point(owner=FtpSession, method="rename", after=True, new=True),
    "after the new file is verified": Point(
        owner=FtpSession, method="verify", after=True, nth=2, new=True
    ),
    "after leftovers are removed": Point(owner=FtpSession, method="names", after=True, new=True),
    "after the FTP logout": Point(owner=FtpSession, method="quit", after=True, new=True),
    "before the place is stored": Point(owner=SqlDeployments, method="put", new=True),
    "after the place is stored": Point(owner=SqlDeployments, method="put", after=True, new=True),
    "after the desk is stored": Point(owner=SqlDesks, method="put", nth=2, after=True, new=True),
    # The watch of the phone starts meanwhile.
    "after the watch begins": Point(
        owner=WebWatch, method="begin", after=True, new=True, knows=None
    ),
    "before the services are closed": Point(owner=PhoneWeb, method="execute", new=True, knows=True),
    "after the services are closed": Point(
        owner=PhoneWeb, method="execute", after=True, new=True, knows=True
    ),
    "before the restart": Point(owner=PhoneWeb, method="execute", nth=2, new=True, knows=True),
    "before the restart is recorded": Point(
        owner=SqlDeployments, method="put", nth=2, new=True, knows=True
    ),
    "after the restart is recorded": Point(
        owner=SqlDeployments, method="put", nth=2, after=True, new=True, knows=True
    ),
    "after the restart": Point(
        owner=PhoneWeb, method="execute", after=True, nth=2, new=True, knows=True
    ),
    "before the outcome is stored": Point(
        owner=SqlDeployments, method="put", nth=3, new=True, knows=True
    ),
    "after the outcome is stored": Point(
        owner=SqlDeployments, method="put", after=True, nth=3, new=True, knows=True
    ),
    "after the lease is released": Point(
        owner=SqlLeases, method="release", after=True, new=True, knows=True
    ),
    "before the confirmation": Point(
        owner=Confirm, method="_confirm", new=True, outcome="deployed", knows=True
    ),
    "before the confirmation is stored": Point(
        owner=SqlDeployments, method="put", nth=4, new=True, outcome="deployed", knows=True
    ),
}
"""The points of a switch, in their order."""

SAVES = {
    "before the profile is stored": Point(owner=SqlProfiles, method="put"),
    "after the profile is stored": Point(owner=SqlProfiles, method="put", after=True),
    "before the revision is stored": Point(owner=SqlRevisions, method="add"),
    "after the revision is stored": Point(owner=SqlRevisions, method="add", after=True),
    "after the save": Point(owner=Profiles, method="update", after=True, new=True),
}
"""The points of a save of a profile's configuration."""


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """A switch of ``mac`` to kill; with ``cnf_xml`` a save. ``point`` is empty for one that is not
    killed. One that ``stops`` there has a short lease, and continues at the next line."""

    point: str = ""
    environment: dict[str, str]
    user_uuid: str
    profile_uuid: str
    mac: str = ""
    cnf_xml: str | None = None
    stops: bool = False

    @property
    def place(self) -> Point | None:
        """The point of the kill."""
        return (POINTS | SAVES)[self.point] if self.point else None


def remove_pauses() -> None:
    """Remove the pauses between the keys of a phone."""
    execute = PhoneWeb.execute

    async def execute_without_pauses(
        self: PhoneWeb,
        phone_ip: str,
        commands: Sequence[KeyPress],
        mac: str | None = None,
        proceed: Proceed = always,
    ) -> None:
        without_pauses = [msgspec.structs.replace(command, pause=0.0) for command in commands]
        await execute(self, phone_ip, without_pauses, mac, proceed)

    PhoneWeb.execute = execute_without_pauses  # type: ignore[method-assign]


def arm(point: Point, end: signal.Signals = signal.SIGKILL) -> None:
    """Let this process be killed, or stopped, at this point."""
    original: Callable[..., Any] = getattr(point.owner, point.method)
    calls = 0

    async def replacement(*args: Any, **options: Any) -> Any:
        nonlocal calls
        counts = any(str(one).startswith(point.argument) for one in args)
        calls += counts
        is_it = counts and calls == point.nth
        if is_it and not point.after:
            os.kill(os.getpid(), end)
        result = await original(*args, **options)
        if is_it and point.after:
            os.kill(os.getpid(), end)
        return result

    if isinstance(point.owner.__dict__.get(point.method), classmethod):
        setattr(point.owner, point.method, staticmethod(replacement))
    else:
        setattr(point.owner, point.method, replacement)


async def run_order(order: Order) -> None:
    """Run the order in a new service."""
    container = prepare(read_settings(order.environment))
    actor = Actor(order.user_uuid, 0)
    async with running(container):
        use_cases = container.use_cases()
        if order.cnf_xml is not None:
            patch = ProfilePatch(cnf_xml=order.cnf_xml)
            await use_cases.profiles.update(actor, order.profile_uuid, patch)
            return
        request = SwitchRequest(profile_uuid=order.profile_uuid, mac=order.mac)
        try:
            await use_cases.switch_profile(actor, request)
        except LeaseLost:
            os._exit(LOST)
        if order.point and not order.stops:  # The remaining points come later.
            await asyncio.sleep(30)


def main() -> None:
    """Execute one order a line; print the exit code of its process."""
    remove_pauses()
    for line in sys.stdin:
        order = msgspec.json.decode(line, type=Order)
        child = os.fork()
        if not child:
            if order.place:
                arm(order.place, signal.SIGSTOP if order.stops else signal.SIGKILL)
            if order.stops:
                assert Records.__init__.__kwdefaults__
                Records.__init__.__kwdefaults__["lease_seconds"] = LEASE_SECONDS
            asyncio.run(run_order(order))
            os._exit(0)
        _, status = os.waitpid(child, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            print(json.dumps(STOPPED), flush=True)  # noqa: T201
            sys.stdin.readline()
            os.kill(child, signal.SIGCONT)
            _, status = os.waitpid(child, 0)
        print(json.dumps(os.waitstatus_to_exitcode(status)), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
