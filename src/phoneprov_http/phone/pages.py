"""The pages of each path under ``/phone``."""

from collections.abc import Awaitable, Callable
from urllib.parse import quote, urlencode

from phoneprov_core.features.desks.adoption import NewPhone
from phoneprov_core.features.desks.change import Changed, FollowUp
from phoneprov_core.features.desks.login import ProfileChoice, require_own
from phoneprov_core.features.desks.model import AtPhone
from phoneprov_core.features.desks.pages import (
    ENTRY_NAME,
    MENU_ITEMS,
    MENU_NAME,
    URL,
    Directory,
    Entry,
    Field,
    Input,
    Menu,
    MenuItem,
    SoftKey,
    TextPage,
    displayable,
)
from phoneprov_core.features.desks.use_cases import PhoneServices
from phoneprov_core.kernel.values import is_phone_url
from phoneprov_core.people.directory.use_cases import LookupPage
from phoneprov_http.phone.language import later, local_time
from phoneprov_http.phone.request import PhoneRequest, Reply, exit_key

_LONGEST_QUERY = 48
"""Characters of an encoded search that leave room for the rest of a URL."""


Handler = Callable[[PhoneRequest, AtPhone], Awaitable[Reply]]
"""Answers one path. Raises ``PhoneprovError``, which is shown as a text."""
NewHandler = Callable[[PhoneRequest, NewPhone], Awaitable[Reply]]
"""Answers one path of a phone that is not in the inventory. Raises like a ``Handler``."""


POSTED = frozenset({"login/check", "pin/change", "adopt/check"})
"""Forms that some models send in the body of a POST. All other pages are GET."""

_LOGGED_OUT = {
    FollowUp.START: later(
        "You are logged out. If the phone does not restart within a minute, unplug it and plug it"
        " in again."
    ),
    FollowUp.RESTART: later("You are logged out. The phone restarts now."),
    FollowUp.CALL: later("You are logged out. The phone restarts after the call."),
    FollowUp.NOTHING: later(
        "You are logged out. The phone keeps its configuration: it has no default profile that"
        " fits."
    ),
}
_LABELS = {"mobile": later("(mobile)"), "home": later("(home)")}


class AdoptionPages:
    """The pages of a phone that belongs to no user yet."""

    def __init__(self, services: PhoneServices) -> None:
        self._services = services

    async def form(self, request: PhoneRequest, new: NewPhone) -> Reply:
        """The page that asks."""
        url = request.url("adopt/check", token=self._services.adopt.form(new))
        form = _user_and_pin(
            request, request.say("New phone"), request.say("Whose phone is this?"), url
        )
        return Reply(form, fleeting=True)

    async def check(self, request: PhoneRequest, new: NewPhone) -> Reply:
        """The answer to the form."""
        outcome = await self._services.adopt(new, request["user"], request["pin"], request["token"])
        if isinstance(outcome, ProfileChoice):
            return _choice(request, later("New phone"), "adopt/profile", outcome)
        return _adopted(request, outcome)

    async def choose(self, request: PhoneRequest, new: NewPhone) -> Reply:
        """The answer to the menu of profiles."""
        changed = await self._services.adopt.choose(new, request["profile"], request["token"])
        return _adopted(request, changed)


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
        say, prompt = request.say, request.say("Choose a service")
        if at.user is None:
            items = [MenuItem(say("Log in"), request.url("login"))]
        else:
            # The verb may follow the name: a long name is cut, not the verb.
            room = MENU_NAME - len(say("Log out {name}", name=""))
            name = displayable(f"{at.user.first_name} {at.user.last_name}", room)
            items = [
                MenuItem(say("Log out {name}", name=name), request.url("logout")),
                MenuItem(say("Change PIN"), request.url("pin")),
            ]
            if at.desk.until and (end := local_time(say, at.desk.until, at.user.timezone)):
                prompt = say("Logged in until {time}", time=end)
        items.append(MenuItem(say("Directories"), request.url("directories")))
        for service in await self._services.menu():
            url = _with_device(service.url or "", request.device)
            if url is not None:
                items.append(MenuItem(service.name or say("Service"), url))
        start = _number(request["from"])
        page = items[start : start + MENU_ITEMS]
        if len(items) > start + MENU_ITEMS:
            more = request.url("services", **{"from": str(start + MENU_ITEMS - 1)})
            page[-1] = MenuItem(say("More"), more)
        if not page:
            page = items[:1]
        return Reply(Menu(say("Services"), prompt, tuple(page)))

    async def _login_form(self, request: PhoneRequest, at: AtPhone) -> Reply:
        token = self._services.log_in.form(at)
        url = request.url("login/check", token=token)
        form = _user_and_pin(request, request.say("Log in"), request.say("Enter user and PIN"), url)
        return Reply(form, fleeting=True)

    async def _log_in(self, request: PhoneRequest, at: AtPhone) -> Reply:
        outcome = await self._services.log_in(at, request["user"], request["pin"], request["token"])
        if isinstance(outcome, ProfileChoice):
            return _choice(request, later("Log in"), "login/profile", outcome)
        return _logged_in(request, outcome)

    async def _choose_profile(self, request: PhoneRequest, at: AtPhone) -> Reply:
        changed = await self._services.log_in.choose(at, request["profile"], request["token"])
        return _logged_in(request, changed)

    async def _logout_form(self, request: PhoneRequest, at: AtPhone) -> Reply:
        token = self._services.log_out.form(at)
        say = request.say
        items = (
            MenuItem(say("Log out"), request.url("logout/confirm", token=token)),
            MenuItem(say("Cancel"), request.url("services")),
        )
        return Reply(Menu(say("Log out"), say("Log out at this phone?"), items), fleeting=True)

    async def _log_out(self, request: PhoneRequest, at: AtPhone) -> Reply:
        changed = await self._services.log_out.at_phone(at, request["token"])
        title, text = later("Logged out"), _LOGGED_OUT[changed.after]
        if not changed.is_recorded:
            title = later("Not recorded")
            text = later(
                "The phone gets its default profile and restarts now, but your logout could not be"
                " recorded. If you are still logged in then, log out again."
            )
        return _text(request, title, text, changed)

    async def _pin_form(self, request: PhoneRequest, at: AtPhone) -> Reply:
        token = self._services.change_pin.form(at)
        fields = (
            Field(request.say("Old PIN"), "old", "NP"),
            Field(request.say("New PIN"), "new", "NP"),
            Field(request.say("New PIN again"), "again", "NP"),
        )
        url = request.url("pin/change", token=token)
        title, prompt = request.say("Change PIN"), request.say("4 to 32 digits")
        form = Input(title, prompt, url, fields, request.posts)
        return Reply(form, fleeting=True)

    async def _change_pin(self, request: PhoneRequest, at: AtPhone) -> Reply:
        await self._services.change_pin(
            at, request["old"], request["new"], request["again"], request["token"]
        )
        return _text(request, later("PIN changed"), later("The new PIN is valid from now on."))

    async def _directories(self, request: PhoneRequest, at: AtPhone) -> Reply:  # noqa: ARG002
        say = request.say
        items = (
            MenuItem(say("Company directory"), request.url("directories/company")),
            MenuItem(say("Personal directory"), request.url("directories/personal")),
        )
        return Reply(Menu(say("Directories"), say("Choose a directory"), items))

    async def _search_form(self, request: PhoneRequest, at: AtPhone) -> Reply:  # noqa: ARG002
        say = request.say
        fields = (Field(say("Name"), "q", "A"), Field(say("Number"), "n", "T"))
        url = request.url("directories/company/list")
        return Reply(Input(say("Company directory"), say("Enter a name or number"), url, fields))

    async def _company(self, request: PhoneRequest, at: AtPhone) -> Reply:  # noqa: ARG002
        name = _short(request["q"])
        number = request["n"][:24]
        found = await self._services.look_up.company(name, number, request["after"])
        return _directory(
            request,
            request.say("Company directory"),
            found,
            lambda after: request.url("directories/company/list", q=name, n=number, after=after),
        )

    async def _personal(self, request: PhoneRequest, at: AtPhone) -> Reply:
        user = require_own(at)
        found = await self._services.look_up.personal(user.uuid, request["after"])
        return _directory(
            request,
            request.say("Personal directory"),
            found,
            lambda after: request.url("directories/personal", after=after),
        )


def _user_and_pin(request: PhoneRequest, title: str, prompt: str, url: str) -> Input:
    fields = (Field(request.say("User"), "user", "A"), Field(request.say("PIN"), "pin", "NP"))
    return Input(title, prompt, url, fields, request.posts)


def _choice(request: PhoneRequest, title: str, path: str, choice: ProfileChoice) -> Reply:
    """The menu of profiles, in the language of the user whose PIN was right."""
    request.speak_to(choice.user)
    items = tuple(
        MenuItem(one.name, request.url(path, token=choice.token, profile=one.uuid))
        for one in choice.profiles
    )
    return Reply(Menu(request.say(title), request.say("Choose a profile"), items), fleeting=True)


def _text(request: PhoneRequest, title: str, text: str, changed: Changed | None = None) -> Reply:
    """What was done, in the language of the user who did it."""
    if changed is not None and changed.user is not None:
        request.speak_to(changed.user)
    page = TextPage(request.say(title), "", request.say(text), (exit_key(request),))
    return Reply(page, fleeting=True, changed=changed)


def _adopted(request: PhoneRequest, changed: Changed) -> Reply:
    text = later("This phone is yours now. It restarts with your profile.")
    if changed.after is FollowUp.START:
        text = later(
            "This phone is yours now. Your profile comes with its next start. If the phone does not"
            " restart within a minute, unplug it and plug it in again."
        )
    return _text(request, later("New phone"), text, changed)


def _logged_in(request: PhoneRequest, changed: Changed) -> Reply:
    title = later("Logged in")
    text = later("Your profile is in place. The phone restarts now.")
    if changed.after is FollowUp.START:
        text = later(
            "Your profile is in place. If the phone does not restart within a minute, unplug it and"
            " plug it in again."
        )
    if not changed.is_recorded:
        title = later("Not recorded")
        text = later(
            "Your profile is in place and the phone restarts now, but your login could not be"
            " recorded. If the phone loses your profile later, log in again."
        )
    return _text(request, title, text, changed)


def _directory(
    request: PhoneRequest, title: str, found: LookupPage, url_after: Callable[[str], str]
) -> Reply:
    say = request.say
    if not found.numbers:
        return Reply(TextPage(title, "", say("No number was found."), (exit_key(request),)))
    next_url = url_after(found.after) if found.after else None
    keys = [
        SoftKey(say("Dial"), "SoftKey:Dial", 1),
        SoftKey(say("Edit dial"), "SoftKey:EditDial", 2),
    ]
    if next_url:
        keys.append(SoftKey(say("Next"), next_url, 3))
    keys.append(exit_key(request, len(keys) + 1))
    labels = {"": ""} | {one: f" {say(text)}" for one, text in _LABELS.items()}
    entries = tuple(
        Entry(_labelled(one.name, labels[one.label]), one.number) for one in found.numbers
    )
    return Reply(Directory(title, say("Choose a number"), entries, tuple(keys)), next_url)


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
