"""The pages of each path under ``/phone``."""

from collections.abc import Awaitable, Callable
from urllib.parse import quote, urlencode

from msgspec import Struct

from phoneprov_core.features.desks.adoption import NewPhone
from phoneprov_core.features.desks.change import Changed, FollowUp
from phoneprov_core.features.desks.login import ProfileChoice, require_own
from phoneprov_core.features.desks.model import AtPhone
from phoneprov_core.features.desks.pages import (
    ENTRY_NAME,
    MENU_ITEMS,
    URL,
    Directory,
    Entry,
    Field,
    Input,
    Menu,
    MenuItem,
    Page,
    SoftKey,
    TextPage,
    displayable,
)
from phoneprov_core.features.desks.services import PhoneServices
from phoneprov_core.kernel.errors import PhoneprovError, Refused, TimedOut, Unavailable
from phoneprov_core.kernel.values import is_phone_url
from phoneprov_core.people.directory.use_cases import LookupPage
from phoneprov_core.switching.devices.ports import (
    OUTCOME_UNKNOWN,
    AddressNotAllowed,
    AddressNotConfirmed,
    NoAddress,
)
from phoneprov_http.phone.request import PhoneRequest

_USER_AND_PIN = (Field("User", "user", "A"), Field("PIN", "pin", "NP"))
_EXIT = SoftKey("Exit", "SoftKey:Exit", 3)
_LONGEST_QUERY = 48
"""Characters of an encoded search that leave room for the rest of a URL."""


class Reply(Struct, frozen=True):
    """A page. ``next_url`` leads to the following page of a list. A ``fleeting`` page is not
    kept in the phone's history. ``changed`` is called when the phone has its response."""

    page: Page
    next_url: str | None = None
    fleeting: bool = False
    changed: Changed | None = None


Handler = Callable[[PhoneRequest, AtPhone], Awaitable[Reply]]
"""Answers one path. Raises ``PhoneprovError``, which is shown as a text."""
NewHandler = Callable[[PhoneRequest, NewPhone], Awaitable[Reply]]
"""Answers one path of a phone that is not in the inventory. Raises like a ``Handler``."""


def failure(request: PhoneRequest, path: str, error: PhoneprovError) -> Reply:
    """What a phone shows of an error: a text that says what to do."""
    keys = [_EXIT]
    again = _AGAIN.get(path)
    if again and (error.code in _MAY_BE_REPEATED or isinstance(error, _OUTSIDE)):
        keys.insert(0, SoftKey("Again", request.url(again), 1))
    return Reply(
        TextPage("Not possible", "", _message(error), tuple(keys)), fleeting=path in CHANGING
    )


def _message(error: PhoneprovError) -> str:
    """The message for a user. Those of servers name addresses and settings: an administrator
    reads them in the history and in the log."""
    if error.code == OUTCOME_UNKNOWN:
        return "It is not known whether the phone has the new configuration. Try again."
    if isinstance(error, Refused | TimedOut):
        return (
            "The configuration could not be stored. The phone keeps the one that it has."
            " Try again, or ask an administrator."
        )
    if isinstance(error, Unavailable):
        return "The service is not available now. Try again later."
    if isinstance(error, NoAddress | AddressNotAllowed | AddressNotConfirmed):
        return "This phone cannot be configured. Ask an administrator."
    return error.message


_AGAIN = {
    "login/check": "login",
    "login/profile": "login",
    "logout/confirm": "logout",
    "pin/change": "pin",
}
_MAY_BE_REPEATED = frozenset({"wrong_pin", "invalid", "desk_changed"})
_OUTSIDE = Refused | TimedOut | Unavailable
POSTED = frozenset({"login/check", "pin/change", "adopt/check"})
"""Forms that some models send in the body of a POST. All other pages are GET."""
CHANGING = frozenset(_AGAIN) | {"adopt/check", "adopt/profile"}
"""Pages that have an effect."""

_BY_HAND = "If the phone does not restart within a minute, unplug it and plug it in again."
_LOGGED_OUT = {
    FollowUp.START: f"You are logged out. {_BY_HAND}",
    FollowUp.RESTART: "You are logged out. The phone restarts now.",
    FollowUp.CALL: "You are logged out. The phone restarts after the call.",
    FollowUp.NOTHING: "You are logged out. The phone keeps its configuration:"
    " it has no default profile that fits.",
}


_NOT_RECORDED = "Not recorded"
_LOGIN_NOT_RECORDED = (
    "Your profile is in place and the phone restarts now, but your login could not be recorded. "
    "If the phone loses your profile later, log in again."
)
_LOGOUT_NOT_RECORDED = (
    "The phone gets its default profile and restarts now, but your logout could not be recorded. "
    "If you are still logged in then, log out again."
)


class AdoptionPages:
    """The pages of a phone that belongs to no user yet."""

    def __init__(self, services: PhoneServices) -> None:
        self._services = services

    async def form(self, request: PhoneRequest, new: NewPhone) -> Reply:
        """The page that asks."""
        url = request.url("adopt/check", token=self._services.adopt.form(new))
        form = Input("New phone", "Whose phone is this?", url, _USER_AND_PIN, request.posts)
        return Reply(form, fleeting=True)

    async def check(self, request: PhoneRequest, new: NewPhone) -> Reply:
        """The answer to the form."""
        outcome = await self._services.adopt(new, request["user"], request["pin"], request["token"])
        if isinstance(outcome, ProfileChoice):
            return _choice(request, "New phone", "adopt/profile", outcome)
        return _adopted(outcome)

    async def choose(self, request: PhoneRequest, new: NewPhone) -> Reply:
        """The answer to the menu of profiles."""
        changed = await self._services.adopt.choose(new, request["profile"], request["token"])
        return _adopted(changed)


class Pages:
    """Builds pages from what the use cases return."""

    def __init__(self, services: PhoneServices) -> None:
        self._services = services
        self.handlers: dict[str, Handler] = {
            "services": self._menu,
            "login": self._login_form,
            "login/check": self._log_in,
            "login/profile": self._choose_profile,
            "logout": self._logout_form,
            "logout/confirm": self._log_out,
            "pin": self._pin_form,
            "pin/change": self._change_pin,
            "directories": self._directories,
            "directories/company": self._search_form,
            "directories/company/list": self._company,
            "directories/personal": self._personal,
        }

        adopting = AdoptionPages(services)
        self.new_handlers: dict[str, NewHandler] = {
            "services": adopting.form,
            "adopt/check": adopting.check,
            "adopt/profile": adopting.choose,
        }

    async def _menu(self, request: PhoneRequest, at: AtPhone) -> Reply:
        if at.user is None:
            items = [MenuItem("Log in", request.url("login"))]
        else:
            name = f"Log out {at.user.first_name} {at.user.last_name}"
            items = [
                MenuItem(name, request.url("logout")),
                MenuItem("Change PIN", request.url("pin")),
            ]
        items.append(MenuItem("Directories", request.url("directories")))
        for service in await self._services.menu():
            url = _with_device(service.url or "", request.device)
            if url is not None:
                items.append(MenuItem(service.name or "Service", url))
        start = _number(request["from"])
        page = items[start : start + MENU_ITEMS]
        if len(items) > start + MENU_ITEMS:
            more = request.url("services", **{"from": str(start + MENU_ITEMS - 1)})
            page[-1] = MenuItem("More", more)
        if not page:
            page = items[:1]
        return Reply(Menu("Services", "Choose a service", tuple(page)))

    async def _login_form(self, request: PhoneRequest, at: AtPhone) -> Reply:
        token = self._services.log_in.form(at)
        url = request.url("login/check", token=token)
        form = Input("Log in", "Enter user and PIN", url, _USER_AND_PIN, request.posts)
        return Reply(form, fleeting=True)

    async def _log_in(self, request: PhoneRequest, at: AtPhone) -> Reply:
        outcome = await self._services.log_in(at, request["user"], request["pin"], request["token"])
        if isinstance(outcome, ProfileChoice):
            return _choice(request, "Log in", "login/profile", outcome)
        return _logged_in(outcome)

    async def _choose_profile(self, request: PhoneRequest, at: AtPhone) -> Reply:
        changed = await self._services.log_in.choose(at, request["profile"], request["token"])
        return _logged_in(changed)

    async def _logout_form(self, request: PhoneRequest, at: AtPhone) -> Reply:
        token = self._services.log_out.form(at)
        items = (
            MenuItem("Log out", request.url("logout/confirm", token=token)),
            MenuItem("Cancel", request.url("services")),
        )
        return Reply(Menu("Log out", "Log out at this phone?", items), fleeting=True)

    async def _log_out(self, request: PhoneRequest, at: AtPhone) -> Reply:
        changed = await self._services.log_out.at_phone(at, request["token"])
        title, text = "Logged out", _LOGGED_OUT[changed.after]
        if not changed.is_recorded:
            title, text = _NOT_RECORDED, _LOGOUT_NOT_RECORDED
        return Reply(TextPage(title, "", text, (_EXIT,)), fleeting=True, changed=changed)

    async def _pin_form(self, request: PhoneRequest, at: AtPhone) -> Reply:
        token = self._services.change_pin.form(at)
        fields = (
            Field("Old PIN", "old", "NP"),
            Field("New PIN", "new", "NP"),
            Field("New PIN again", "again", "NP"),
        )
        url = request.url("pin/change", token=token)
        form = Input("Change PIN", "4 to 32 digits", url, fields, request.posts)
        return Reply(form, fleeting=True)

    async def _change_pin(self, request: PhoneRequest, at: AtPhone) -> Reply:
        await self._services.change_pin(
            at, request["old"], request["new"], request["again"], request["token"]
        )
        text = TextPage("PIN changed", "", "The new PIN is valid from now on.", (_EXIT,))
        return Reply(text, fleeting=True)

    async def _directories(self, request: PhoneRequest, at: AtPhone) -> Reply:  # noqa: ARG002
        items = (
            MenuItem("Company directory", request.url("directories/company")),
            MenuItem("Personal directory", request.url("directories/personal")),
        )
        return Reply(Menu("Directories", "Choose a directory", items))

    async def _search_form(self, request: PhoneRequest, at: AtPhone) -> Reply:  # noqa: ARG002
        fields = (Field("Name", "q", "A"), Field("Number", "n", "T"))
        url = request.url("directories/company/list")
        return Reply(Input("Company directory", "Enter a name or number", url, fields))

    async def _company(self, request: PhoneRequest, at: AtPhone) -> Reply:  # noqa: ARG002
        name = _short(request["q"])
        number = request["n"][:24]
        found = await self._services.look_up.company(name, number, request["after"])
        return _directory(
            "Company directory",
            found,
            lambda after: request.url("directories/company/list", q=name, n=number, after=after),
        )

    async def _personal(self, request: PhoneRequest, at: AtPhone) -> Reply:
        user = require_own(at)
        found = await self._services.look_up.personal(user.uuid, request["after"])
        return _directory(
            "Personal directory",
            found,
            lambda after: request.url("directories/personal", after=after),
        )


def _choice(request: PhoneRequest, title: str, path: str, choice: ProfileChoice) -> Reply:
    items = tuple(
        MenuItem(one.name, request.url(path, token=choice.token, profile=one.uuid))
        for one in choice.profiles
    )
    return Reply(Menu(title, "Choose a profile", items), fleeting=True)


def _adopted(changed: Changed) -> Reply:
    text = "This phone is yours now. It restarts with your profile."
    if changed.after is FollowUp.START:
        text = f"This phone is yours now. Your profile comes with its next start. {_BY_HAND}"
    return Reply(TextPage("New phone", "", text, (_EXIT,)), fleeting=True, changed=changed)


def _logged_in(changed: Changed) -> Reply:
    title, text = "Logged in", "Your profile is in place. The phone restarts now."
    if changed.after is FollowUp.START:
        text = f"Your profile is in place. {_BY_HAND}"
    if not changed.is_recorded:
        title, text = _NOT_RECORDED, _LOGIN_NOT_RECORDED
    return Reply(TextPage(title, "", text, (_EXIT,)), fleeting=True, changed=changed)


def _directory(title: str, found: LookupPage, url_after: Callable[[str], str]) -> Reply:
    if not found.numbers:
        return Reply(TextPage(title, "", "No number was found.", (_EXIT,)))
    next_url = url_after(found.after) if found.after else None
    keys = [SoftKey("Dial", "SoftKey:Dial", 1), SoftKey("Edit dial", "SoftKey:EditDial", 2)]
    if next_url:
        keys.append(SoftKey("Next", next_url, 3))
    keys.append(SoftKey("Exit", "SoftKey:Exit", len(keys) + 1))
    entries = tuple(Entry(_labelled(one.name, one.label), one.number) for one in found.numbers)
    return Reply(Directory(title, "Choose a number", entries, tuple(keys)), next_url)


def _labelled(name: str, label: str) -> str:
    return displayable(name, ENTRY_NAME - len(label)) + label if label else name


def _with_device(url: str, device: str) -> str | None:
    """A vendor service's address with the device name, a URI of the phone unchanged; None if a
    phone cannot take it."""
    url = quote(url, safe="%/:?&=#@!$'()*+,;~[]-._")
    if is_phone_url(url):
        return url if len(url) <= URL else None
    if "#DEVICENAME#" in url:
        full = url.replace("#DEVICENAME#", device)
    else:
        address, hash_, fragment = url.partition("#")
        separator = "&" if "?" in address else "?"
        full = f"{address}{separator}{urlencode({'device': device})}{hash_}{fragment}"
    return next((one for one in (full, url) if len(one) <= URL), None)


def _short(name: str) -> str:
    """As much of a searched name as leaves room in the URL of the next page."""
    while len(quote(name)) > _LONGEST_QUERY:
        name = name[:-1]
    return name


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else 0
