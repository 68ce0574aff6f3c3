"""Phone profiles: access, and the order of refusals."""

from collections.abc import Mapping
from typing import Any

import pytest

from phoneprov_core.inventory.profiles.model import CreateProfile
from phoneprov_core.inventory.profiles.use_cases import PIECE
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.kernel.ports import Window
from support.office import Office

XML = "<device>\r\n\t<p>\u00e9</p>\r\n</device>\n"


def new(owner: Actor, **more: Any) -> CreateProfile:
    return CreateProfile(**{"user_uuid": owner.user_uuid, "name": "Desk", "cnf_xml": XML, **more})


def sent(body: Mapping[str, object]) -> CreateProfile:
    return command_of(CreateProfile, body)


# Creating


async def test_create_for_a_deleted_account_is_refused(
    office: Office, root: Actor, ada: Actor
) -> None:
    body = {"user_uuid": ada.user_uuid, "name": "Desk", "cnf_xml": XML}
    await office.users.delete(root, ada.user_uuid)

    with pytest.raises(NotFound):
        await office.profiles.create(ada, sent(body))


# Reading


async def test_long_list_is_read_in_bounded_pieces(office: Office, ada: Actor) -> None:
    for number in range(2 * PIECE + 3):
        office.clock.advance(1)
        await office.profiles.create(ada, new(ada, name=f"p{number}"))

    listed = await office.profiles.all(ada)
    page = await office.profiles.all(ada, Window(1000))

    assert [len(piece) async for piece in listed] == [PIECE, PIECE, 3]
    assert [len(piece) async for piece in page] == [PIECE, PIECE, 3]
    assert page.total == 2 * PIECE + 3
