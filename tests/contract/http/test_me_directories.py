"""Section 4.2 of the interface: the directories as the caller's own phone shows them."""

import pytest

from support.api import Caller, data_of, error_of

PERSONAL, COMPANY = "/me/vendor-services/personal", "/me/vendor-services/company"


async def test_me_personal_directory_contains_own_contacts(ada: Caller, bob: Caller) -> None:
    mine = [
        data_of(await ada.post(f"/personal-directory/{ada.uuid}", {"name": f"Grace {n}"}), 201)
        for n in range(2)
    ]
    mine.sort(key=lambda one: (one["created_at"], one["uuid"]))

    everything, page = await ada.get(PERSONAL), await ada.get(PERSONAL, limit=1)

    assert data_of(everything, 200, "2 personal contact(s) found") == mine
    assert everything.json()["metadata"] == {}
    assert data_of(page, 200, "1 personal contact(s) found") == mine[:1]
    assert page.json()["metadata"] == {"total": 2, "limit": 1, "offset": 0}
    assert data_of(await bob.get(PERSONAL), 200, "0 personal contact(s) found") == []


async def test_me_company_directory_contains_every_contact(admin: Caller, ada: Caller) -> None:
    shared = [
        data_of(await admin.post("/company-directory", {"name": f"Grace {n}"}), 201)
        for n in range(2)
    ]
    shared.sort(key=lambda one: (one["created_at"], one["uuid"]))

    everything, page = await ada.get(COMPANY), await ada.get(COMPANY, offset=1)

    assert data_of(everything, 200, "2 company contact(s) found") == shared
    assert everything.json()["metadata"] == {}
    assert data_of(page, 200, "1 company contact(s) found") == shared[1:]
    assert page.json()["metadata"] == {"total": 2, "limit": 1000, "offset": 1}


@pytest.mark.parametrize("path", [PERSONAL, COMPANY])
async def test_me_directories_page_out_of_bounds_is_refused(ada: Caller, path: str) -> None:
    assert set(error_of(await ada.get(path, limit=1001, offset=-1), 422)) == {"limit", "offset"}
