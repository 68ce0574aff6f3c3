"""People who join and leave; level 0."""

from phoneprov_core.features.joining.join import JoinPeople
from phoneprov_core.features.joining.leave import LeavePeople
from phoneprov_core.features.joining.model import (
    ActRefused,
    JoinRequest,
    LeaveRequest,
    Moved,
    UndoRequest,
)
from phoneprov_core.features.joining.undo import UndoAct
from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.people.access import NeedsLogin
from phoneprov_http.envelope import Envelope, record
from phoneprov_http.routes.handlers import ApiRequest, Body, Routes, level_0


def joining_routes(join: JoinPeople, leave: LeavePeople, undo: UndoAct) -> Routes:
    """``/people``."""
    routes = Routes("Joiners and leavers", "/api/v1/people", guards=[level_0])

    @routes.post("/join", status_code=200, raises=[ActRefused, NeedsLogin])
    async def join_people(request: ApiRequest, data: Body[JoinRequest]) -> Envelope[Moved]:
        """Let people join. Creates the account, number, PIN, profile, default profile of the desk
        and directory entry of all people in one transaction; then switches the phones. The request
        has a list of people, or a table in CSV or Excel. PINs are only in this response. A person
        who has joined before does not change. With `dry_run` nothing is written."""
        return _reply("joined", await join(request.user, data))

    @routes.post("/leave", status_code=200, raises=[ActRefused])
    async def leave_people(request: ApiRequest, data: Body[LeaveRequest]) -> Envelope[Moved]:
        """Let people leave. Ends sessions, API tokens and logins at phones, frees the numbers or
        gives them to another person, hides directory entries and deactivates the accounts, for all
        people in one transaction; then the phones get their default profiles. The request has a
        list of people, or a table in CSV or Excel. With `dry_run` nothing is written."""
        return _reply("left", await leave(request.user, data))

    @routes.post("/undo", status_code=200, raises=[ActRefused, NotFound])
    async def undo_act(request: ApiRequest, data: Body[UndoRequest]) -> Envelope[Moved]:
        """Undo a join or a leave. Restores all records that were not changed since. The steps name
        the records that are not restored. With `dry_run` nothing is written."""
        return _reply("restored", await undo(request.user, data))

    return routes


def _reply(what: str, moved: Moved) -> Envelope[Moved]:
    if not moved.written:
        return record("Nothing was written", moved)
    changed = sum(any(step.outcome == "done" for step in one.steps) for one in moved.people)
    return record(f"{changed} person(s) {what}", moved)
