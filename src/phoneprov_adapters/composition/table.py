"""The table of settings: each is declared once, here.

Its error messages, ``phoneprov settings`` and the page docs/reference/settings.md are made of it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_adapters.composition import forms
from phoneprov_adapters.composition.forms import Form, Network, member, number, one_of
from phoneprov_adapters.composition.plugins import PHONE_DRIVERS, UPLOADERS
from phoneprov_adapters.ftp.client import Tls
from phoneprov_adapters.ftp.steps import TOTAL_SECONDS
from phoneprov_adapters.phone.http import Scheme
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_adapters.runtime.tasks import processors
from phoneprov_core.features.desks.model import Elsewhere
from phoneprov_core.features.identities.model import Passwords
from phoneprov_core.inventory.configuration.well_formed import LARGEST
from phoneprov_core.inventory.profiles.use_cases import MOST_PROFILES, MOST_REVISIONS
from phoneprov_core.kernel.actor import LevelRule, SharedWrite
from phoneprov_core.kernel.values import PRIVATE_RANGES
from phoneprov_core.people.directory.use_cases import MOST_CONTACTS
from phoneprov_core.people.throttle import GUESSES_PER_ADDRESS
from phoneprov_core.switching.deployments.observation import LOAD_MINUTES
from phoneprov_core.switching.deployments.order import PHONES_PER_CALLER, SWITCHES_PER_PHONE
from phoneprov_core.switching.devices.commands import RestartBy, RestartType
from phoneprov_core.switching.devices.names import DEFAULT_FILENAME_PATTERN, Binding

T = TypeVar("T")

Default = str | Callable[[Mapping[str, Any]], str]
HASH_THREADS = "PHONEPROV_HASH_THREADS"
_TLS: Mapping[str, Tls] = {"off": "off", "explicit": "explicit", "implicit": "implicit"}
_SCHEMES: Mapping[str, Scheme] = {"http": "http", "https": "https"}


class Setting(Struct, frozen=True):
    """One setting. A default may follow from the settings before it; ``unset`` is the default in
    words. ``text`` says what the setting is, in Markdown; its bounds are in ``form``."""

    name: str
    form: Form[Any]
    default: Default
    text: str
    unset: str

    @property
    def shown_default(self) -> str:
        """The default in Markdown."""
        return self.unset or (f"`{self.default}`" if self.default else "none")


def setting(form: Form[T], default: Default, text: str, *, unset: str = "", name: str = "") -> T:
    """The declaration of a field. It has the type of its value, so that mypy checks the form. Its
    variable has the field's name."""
    declaration: T = field(metadata={"setting": Setting(name, form, default, text, unset)})
    return declaration


def declared() -> Iterator[tuple[str, Setting]]:
    """The fields of the table with their settings, in order."""
    for each in fields(Table):
        found: Setting = each.metadata["setting"]
        yield each.name, replace(found, name=found.name or f"PHONEPROV_{each.name.upper()}")


@dataclass(frozen=True, kw_only=True, repr=False)
class Table:
    """The values of all settings. ``uploader`` and ``phone_driver`` are names of adapters (see
    ``phoneprov_adapters.composition.plugins``)."""

    # fmt: off
    public_register: bool = setting(forms.TRUTH, "false",
        "`true` allows registration without a login", name="PUBLIC_REGISTER")
    data_dir: Path = setting(forms.DATA_FOLDER, "./phoneprov-data",
        "the folder of the embedded database and of the secret key")
    database_url: str = setting(forms.DATABASE_URL,
        lambda so_far: f"sqlite+aiosqlite:///{so_far['data_dir'] / 'phoneprov.db'}",
        "the database", unset="SQLite in the data folder")
    secret_keys: str | None = setting(forms.SECRET, "",
        "comma-separated, at least 32 characters each; the first signs and encrypts, the others "
        "still verify and decrypt; one with the prefix `pin:` only verifies PINs",
        unset="made in the data folder")
    level_rule: LevelRule = setting(member(LevelRule), "hierarchical",
        "which levels an account holds: see [levels](../explanation/levels.md)")
    shared_write: SharedWrite = setting(member(SharedWrite), "superadmin",
        "`bearer` lets every account write phones (except their `phone_ip`), vendor flags, KEMs, "
        "services and the company directory: see [Shared writing](#shared-writing)")
    access_ttl: int = setting(number(1), "900", "lifetime of an access token in seconds")
    refresh_ttl: int = setting(number(1), "1209600",
        "seconds after which a session without a refresh ends")
    session_ttl: int = setting(number(1), "7776000", "maximum lifetime of a session in seconds")
    refresh_grace: int = setting(number(), "0",
        "seconds in which a second use of a refresh token is refused without ending the session")
    password_min: int = setting(number(8), "8", "characters of the shortest password")
    password_max: int = setting(number(64), "256", "characters of the longest password")
    hash_threads: int = setting(number(1), lambda _: str(processors()),
        "how many passwords are checked at a time, 19 MiB each; the workers of one `serve` share "
        "them, one each at least", unset="the processors that it may use")
    guesses_per_address: int = setting(number(), str(GUESSES_PER_ADDRESS),
        "failed logins from one client address (/64 for IPv6) in 15 minutes, PINs at a "
        "phone counted apart; `0` for no limit. With a proxy, set `PHONEPROV_TRUSTED_PROXIES`: "
        "otherwise all clients share the address of the proxy")
    switches_per_phone: int = setting(number(), str(SWITCHES_PER_PHONE),
        "switches of one phone in 10 minutes by callers without level 0, logins at the phone "
        "included; as many previews; `0` for no limit")
    phones_per_caller: int = setting(number(), str(PHONES_PER_CALLER),
        "different phones that a caller without level 0 switches in an hour; as many that it "
        "previews; `0` for no limit")
    most_contacts: int = setting(number(), str(MOST_CONTACTS),
        "personal contacts of a user; `0` for no limit. A user who has more keeps them")
    most_profiles: int = setting(number(), str(MOST_PROFILES),
        "profiles of a user; `0` for no limit. A user who has more keeps them")
    most_revisions: int = setting(number(), str(MOST_REVISIONS),
        "revisions of a profile; a save beyond that removes the oldest, except revisions on a "
        "phone, that a rollback can deploy, or that a running switch or batch deploys; `0` for no "
        "limit. Of a template the newest ones are kept")
    keep_deployments: int = setting(number(), "365",
        "days that deployments and batches are kept, `0` for ever; the current and the newest "
        "deployment of a phone, and deployments that a rollback needs, are always kept: see "
        "[retention](../how-to/keep-records.md)")
    keep_fetches: int = setting(number(), "30",
        "days that requests of phones for files are kept; `0` for ever")
    keep_audit: int = setting(number(), "365", "days that audit entries are kept; `0` for ever")
    keep_revisions: int = setting(number(), "365",
        "days that a revision is kept after a newer one replaced it, and longer while a deployment "
        "names it; `0` for ever")
    metrics_token: str | None = setting(forms.SERVICE_TOKEN, "",
        "`GET /metrics` answers callers that send this as a Bearer: see [how to "
        "monitor](../how-to/monitor.md)")
    metrics_port: int | None = setting(forms.PORT_OR_NONE, "",
        "a listener that serves `/metrics` alone, without a token; `provision` has it too, and "
        "needs a port of its own")
    metrics_host: str = setting(forms.HOST, "127.0.0.1",
        "the address of the listener for `/metrics`")
    cnf_xml_max: int = setting(number(1024), str(LARGEST),
        "bytes of a configuration, at most `PHONEPROV_BODY_MAX`")
    body_max: int = setting(number(1024), "1048576", "bytes of a request's body")
    keep_alive: int = setting(number(1, 3600), "5",
        "seconds until the service closes an idle connection: longer than the proxy keeps it")
    console: bool = setting(forms.SWITCH, "on",
        "`off` serves no [console](../how-to/console.md) under `/console`")
    public_url: str = setting(forms.PUBLIC_URL, "",
        "the address of the service as browsers see it, without `/console`; needed for a sign-in "
        "with a provider")
    passwords: Passwords = setting(member(Passwords), "all",
        "`unlinked`: an account that is connected with the provider has no login by password")
    oidc_issuer: str = setting(forms.WEB_ADDRESS, "",
        "the OpenID Connect provider that [signs people in](../how-to/sign-in-with-a-provider.md) "
        "to the console, as its configuration states it")
    oidc_client_id: str = setting(forms.TEXT, "",
        "the identifier of this service at the provider")
    oidc_client_secret: str | None = setting(forms.SECRET, "", "its secret, if it has one")
    oidc_ca: str = setting(forms.TEXT, "",
        "a PEM file with the certificates of the authorities", unset="the system's store")
    oidc_scopes: str = setting(forms.SCOPES, "openid profile email",
        "the scopes that are requested")
    oidc_name_claim: str = setting(forms.TEXT, "preferred_username",
        "the claim of the ID token that is the username; people must not be able to change it at "
        "the provider")
    oidc_group_claim: str = setting(forms.TEXT, "groups", "the claim that lists the groups")
    oidc_group: str = setting(forms.TEXT, "",
        "the group whose members may sign in; unset, all people of the provider", unset="all")
    oidc_create: bool = setting(forms.TRUTH, "false",
        "`true` creates an account, without a password, for a person who has none")
    oidc_label: str = setting(forms.TEXT, "Sign in with the provider", "the text of the button")
    trusted_proxies: tuple[Network, ...] = setting(forms.NETWORKS, "",
        "networks of the proxies whose `X-Forwarded-For` is trusted")

    # Where configurations go.
    uploader: str = setting(UPLOADERS.form, "ftp",
        "`served` keeps configurations in the database for [`phoneprov "
        "provision`](../how-to/without-an-ftp-server.md); or an [uploader of another "
        "package](../how-to/write-a-driver.md)")
    ftp_host: str = setting(forms.HOST, "",
        "the server of the provisioning root; unset, each phone's own `phone_ip`",
        unset="the phone itself")
    ftp_port: int = setting(forms.PORT, "21", "port of the FTP server")
    ftp_user: str = setting(forms.TEXT, "anonymous", "user of the FTP login")
    ftp_password: str | None = setting(forms.SECRET, "", "password of the FTP login")
    ftp_tls: Tls = setting(one_of(_TLS), "off", "whether and how the connection is encrypted")
    ftp_tls_ca: str = setting(forms.TEXT, "",
        "a PEM file with the certificates of the authorities", unset="the system's store")
    ftp_directory: str = setting(forms.TEXT, "",
        "the folder of the configurations on the server", unset="the login folder")
    ftp_filename: str = setting(forms.FILENAME, DEFAULT_FILENAME_PATTERN,
        "`{MAC}` in upper, `{mac}` in lower case, without separators; one of them is required")
    ftp_timeout: float = setting(forms.seconds(TOTAL_SECONDS), "5",
        "seconds for each step of an upload")

    # Serving files to phones.
    files_dir: Path | None = setting(forms.FOLDER, "",
        "a folder of other files that phones fetch (firmware, ring lists, locales); it is only "
        "read, and names that begin with a dot are refused")
    fetch_binding: Binding = setting(member(Binding), "address",
        "`address` serves a configuration to the recorded `phone_ip` of its phone only, and to no "
        "address if none is recorded; `network` to every address of `PHONEPROV_PHONE_NETWORKS`")

    # Pages for phones and logins at phones.
    phone_services: bool = setting(forms.SWITCH, "on",
        "`off` switches the pages under `/phone/` off")
    phone_url: str = setting(forms.PHONE_URL, "",
        "the base of every URL in the pages", unset="scheme and Host of the request")
    phone_binding: Binding = setting(member(Binding), "address",
        "`address` serves a phone at its recorded `phone_ip` only, `network` at every address of "
        "`PHONEPROV_PHONE_NETWORKS`. A phone without a recorded address is served in the networks, "
        "except for the personal directory")
    desk_hours: int = setting(number(), "0", "hours that a login lasts; `0` for no end")
    desk_elsewhere: Elsewhere = setting(member(Elsewhere), "move",
        "a user who logs in at a second phone is logged out at the first (`move`), is refused "
        "(`refuse`), or stays logged in at both (`allow`)")
    adopt: bool = setting(one_of({"off": False, "pin": True}), "off",
        "`pin`: a phone that is not in the inventory gets the template `bootstrap`, and asks [who "
        "it belongs to](../how-to/adopt-and-replace.md#a-new-phone-asks-who-it-belongs-to)")
    language: str = setting(forms.LANGUAGE, "en",
        "the language of the pages where the phone names none that the service has, and no user is "
        "logged in: see [languages](../how-to/languages.md)")
    locale_dir: Path | None = setting(forms.FOLDER, "",
        "a folder of [catalogs of your own](../how-to/languages.md#texts-of-your-own)")
    clear_call_history: bool = setting(forms.TRUTH, "true",
        "clear the call lists of a phone at each login and logout")

    # How phones are reached and restarted.
    phone_driver: str = setting(PHONE_DRIVERS.form, "cisco",
        "the driver of the phones; see [drivers of other packages](../how-to/write-a-driver.md)")
    phone_networks: PhoneNetworks = setting(forms.PHONE_NETWORKS, PRIVATE_RANGES,
        "the only networks in which addresses of the inventory are called; the metadata services "
        "of clouds are never called", unset="the private ranges")
    phone_scheme: Scheme = setting(one_of(_SCHEMES), "http",
        "how the phone's own web server is called")
    phone_http_port: int = setting(forms.PORT, "80", "port of the phone's own web server")
    phone_user: str = setting(forms.BASIC_USER, "", "user of the phone's web server")
    phone_password: str | None = setting(forms.SECRET, "", "password of that user")
    restart: RestartBy = setting(member(RestartBy), "auto",
        "`auto` goes through Asterisk where `PHONEPROV_AMI_HOST` is set, else over the phone's web "
        "server")
    restart_type: RestartType = setting(member(RestartType), "restart",
        "`restart`: the phone registers anew with its new configuration; `reset`: it starts like "
        "after a power cycle, which firmware, locale and service addresses need. Over the phone's "
        "web server there is one kind only")
    ami_host: str = setting(forms.HOST, "", "host of Asterisk's manager interface")
    ami_tls: bool = setting(forms.TRUTH, "false", "TLS to the manager interface")
    ami_port: int = setting(forms.PORT, lambda so_far: "5039" if so_far["ami_tls"] else "5038",
        "port of the manager interface", unset="`5038` (`5039` with TLS)")
    ami_tls_ca: str = setting(forms.TEXT, "",
        "a file with the certificates that the manager interface is verified against",
        unset="the system's store")
    ami_user: str = setting(forms.TEXT, "", "the user of the manager account")
    ami_secret: str | None = setting(forms.SECRET, "", "the secret of the manager account")
    watch_minutes: int = setting(number(0, 1440), "0",
        "how long `phoneprov serve` takes to [look at each phone](../how-to/watch-the-fleet.md)"
        " once, in minutes; `0` switches it off")
    confirm_timeout: int = setting(number(), "120",
        "seconds to wait for the phone after its restart before the deployment becomes "
        "`not_confirmed`; `0` turns the confirmation off")
    load_minutes: int = setting(number(0, 1440), str(LOAD_MINUTES),
        "minutes that a [firmware load](../how-to/change-the-load-of-a-floor.md) has to arrive, "
        "after the phone was seen to restart; then the deployment becomes `not_confirmed`, and the "
        "phone `wrong_load`. `0`: loads are not compared")

    # What Asterisk asks.
    asterisk_token: str | None = setting(forms.SERVICE_TOKEN, "",
        "`/asterisk/...` answers requests that send this as a Bearer: see [how to let the line "
        "follow the user](../how-to/lines.md); unset, these paths do not exist")
    asterisk_networks: tuple[Network, ...] = setting(forms.NETWORKS, "127.0.0.0/8,::1/128",
        "networks of the Asterisk servers that may ask; they may open any number of connections",
        unset="loopback")
    asterisk_pjsip: bool = setting(forms.SWITCH, "off",
        "`on` answers for endpoints, auths and AORs of `chan_pjsip`, too; then the token reads "
        "passwords: see [PJSIP](../how-to/lines.md#pjsip)")
    asterisk_context: str = setting(forms.CONTEXT, "default",
        "the dialplan context of calls from the lines")
    asterisk_languages: tuple[str, ...] = setting(forms.LANGUAGES, "",
        "the languages that Asterisk has sounds of, by the names of their folders, as in "
        "`en,de,fr_CA`: lines and endpoints get that of their user; unset, they get none")
    # fmt: on
