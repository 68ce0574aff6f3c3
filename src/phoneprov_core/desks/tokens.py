"""Tokens in the URLs of a phone's pages. Each is good for one change of one phone. A token names
what it is for, when it ends, and a user if a PIN was proven before. It is signed together with the
phone and its turn, and every change begins another turn."""

import re
from dataclasses import dataclass
from enum import Enum

from phoneprov_core.desk_records import DeskChanged, DeskRecord
from phoneprov_core.desks.ports import PageSigner
from phoneprov_core.kernel.system import Clock, millis

LIFETIME_SECONDS = 10 * 60

_TOKEN = re.compile(r"([a-z])([0-9]{1,12})-([0-9a-f]{32})?-([A-Za-z0-9_-]{22})", re.ASCII)


class Purpose(Enum):
    """The purpose of a token."""

    LOGIN = "l"
    PROFILE = "p"
    """A login whose PIN was right; the profile is to be chosen."""
    LOGOUT = "o"
    PIN = "c"
    ADOPT = "a"
    """A user adopts the phone."""
    ADOPT_WITH = "w"
    """An adoption whose PIN was right; the profile is to be chosen."""


@dataclass(frozen=True)
class PageTokens:
    """Issues the tokens of a phone's pages, and reads them."""

    signer: PageSigner
    clock: Clock

    def issue(
        self, purpose: Purpose, desk: DeskRecord, user_uuid: str = "", pin_hash: str = ""
    ) -> str:
        """A token for a page. One that stands for a PIN is valid while the user has this hash."""
        ends = millis(self.clock()) // 1000 + LIFETIME_SECONDS
        signature = self.signer.sign(_signed(purpose, desk, ends, user_uuid, pin_hash))
        return f"{purpose.value}{ends}-{user_uuid.replace('-', '')}-{signature}"

    def read(self, purpose: Purpose, desk: DeskRecord, token: str, pin_hash: str = "") -> str:
        """The user that the token names, empty without one. Raises ``Conflict`` (code
        ``desk_changed``) for every text that is not a current token of this phone."""
        match = _TOKEN.fullmatch(token)
        if match is None or match[1] != purpose.value:
            raise DeskChanged
        ends, user_uuid = int(match[2]), user_in(token)
        if not self.signer.is_signed(_signed(purpose, desk, ends, user_uuid, pin_hash), match[4]):
            raise DeskChanged
        if millis(self.clock()) // 1000 > ends:
            raise DeskChanged
        return user_uuid


def user_in(token: str) -> str:
    """The user that the token names, before the token is verified; empty without one."""
    match = _TOKEN.fullmatch(token)
    digits = match[3] or "" if match else ""
    parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
    return "-".join(part for part in parts if part)


def _signed(purpose: Purpose, desk: DeskRecord, ends: int, user_uuid: str, pin_hash: str) -> str:
    return f"desk {desk.mac} {desk.turn} {purpose.value} {ends} {user_uuid} {pin_hash}"
