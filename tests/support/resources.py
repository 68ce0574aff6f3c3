"""The resources whose records are created, read, changed and deleted by the same rules."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from support.accounts import FIELDS as USER_FIELDS, NEW as NEW_USER
from support.api import STRANGER, Caller, data_of, error_of

MAC = "00:1B:D4:12:34:56"
Body = dict[str, Any]
Refused = list[tuple[Any, set[str]]]
"""Bodies, and the fields that the refusal names."""


def _names(text: str) -> list[str]:
    return text.split()


class Resource(Struct, frozen=True, kw_only=True):
    """``fields`` are those of a record, in their order. ``new`` has the required ones, ``full`` all
    that a caller may write; ``given`` is what a record has without them. ``change`` is sent by an
    update, ``shown`` where a record shows something else than was sent. ``text`` is a field of at
    most 255 characters. ``accepted`` are changes that are stored as they were sent."""

    path: str
    noun: str
    fields: Sequence[str]
    full: Body
    change: Body
    refused: Refused
    accepted: Sequence[Body] = ()
    refused_in_create: Refused = []
    refused_in_update: Refused = []
    new: Body = {}
    given: Body = {}
    shown: Body = {}
    key: str = "uuid"
    text: str = "name"
    nouns: str = ""

    def __repr__(self) -> str:
        return self.path

    def path_of(self, record: Body) -> str:
        return f"{self.path}/{record[self.key]}"

    async def create(self, admin: Caller, **fields: Any) -> Body:
        made: Body = data_of(await admin.post(self.path, {**self.new, **fields}), 201)
        return made

    def numbered(self, number: int) -> Body:
        """The required fields of one of several records."""
        numbered = {name: f"{value}{number}" for name, value in self.new.items()}
        kept = {"type", "level", "password", "mac", "email"}
        numbered |= {name: self.new[name] for name in kept & self.new.keys()}
        if "email" in numbered:
            numbered["email"] = f"{number}{numbered['email']}"
        if "mac" in numbered:
            numbered["mac"] = f"{MAC[:-1]}{number}"
        return numbered


CONTACT = "name work mobile home email ringtone"
RESOURCES = [
    Resource(
        path="/vendor-services",
        noun="Service",
        fields=_names("uuid name url type created_at updated_at"),
        full={"name": "Menu", "url": "http://pbx:8080/menu.xml?a=b", "type": "IPPhone"},
        change={"name": "News"},
        refused=[
            ({"url": "ftp://pbx/menu.xml"}, {"url"}),
            ({"url": "//pbx/menu.xml"}, {"url"}),
            ({"url": "javascript:alert(1)", "name": 7}, {"url", "name"}),
            ({"url": "http://pbx/a b"}, {"url"}),
            ({"url": "http://pbx/" + "x" * 2048}, {"url"}),
            ({"url": "Dial:"}, {"url"}),
            ({"url": "Dial:10 01"}, {"url"}),
            ({"url": "file:/etc/passwd"}, {"url"}),
            ({"url": "data:text/html,x"}, {"url"}),
            ({"name": "a\u202eb"}, {"name"}),
            ({"name": "x" * 256, "type": "\x00"}, {"name", "type"}),
            ({"icon": "x"}, {"icon"}),
            ([], {"body"}),
        ],
        accepted=[
            {"url": url}
            for url in _names(
                "https://pbx http://[2001:db8::1]:8080/m HTTP://PBX/a%20b Application:Cisco/Missed"
                " Key:Services SoftKey:Exit Init:Services Dial:1001 tel:+442079460018"
                " play:Chirp1.raw RTPMRx:239.0.0.1:20000"
            )
        ],
    ),
    Resource(
        path="/vendor-kem",
        noun="KEM",
        nouns="KEM",
        text="model",
        fields=_names(
            "uuid model mac ip connected_phone software_version software_type created_at"
        ),
        full={
            "model": "CP-7916",
            "mac": "00:1B:D4:65:43:21",
            "ip": "10.20.30.41",
            "connected_phone": MAC,
            "software_version": "1.0.4",
            "software_type": "SCCP",
        },
        change={"software_version": "2", "connected_phone": "00:1B:D4:FF:FF:FF"},
        refused=[
            (
                {"mac": "1", "connected_phone": "00:1B:D4:12:34", "ip": "1"},
                {"mac", "connected_phone", "ip"},
            ),
            ({"mac": "00:00:00:00:00:00"}, {"mac"}),
            ({"connected_phone": "01:00:5E:00:00:01"}, {"connected_phone"}),
            ({"model": "79\u200b16"}, {"model"}),
            ({"ip": "10.20.30.41/24", "model": 7}, {"ip", "model"}),
            (
                {"software_type": "x" * 256, "software_version": "a\nb"},
                {"software_type", "software_version"},
            ),
            ({"phone": MAC}, {"phone"}),
            ([], {"body"}),
        ],
    ),
    Resource(
        path="/company-directory",
        noun="Company contact",
        fields=_names(f"uuid {CONTACT} department company location building is_active created_at"),
        new={"name": "Grace"},
        given={"is_active": True},
        full={
            "name": "Grace Hopper",
            "work": "+1 202 555 0143",
            "mobile": "0150 1234",
            "home": "12",
            "email": "grace@example.com",
            "ringtone": "Chirp1",
            "department": "Compilers",
            "company": "Navy",
            "location": "Arlington",
            "building": "B",
            "is_active": False,
        },
        change={"work": "77", "home": None, "email": None, "is_active": True},
        refused=[
            ({"name": None}, {"name"}),
            ({"name": " "}, {"name"}),
            ({"name": "G\u202ecarG"}, {"name"}),
            ({"department": "a\u200bb", "location": "\u2066"}, {"department", "location"}),
            ({"name": 7}, {"name"}),
            ({"name": "x" * 256}, {"name"}),
            ({"work": "x" * 256, "building": "a\nb"}, {"work", "building"}),
            ({"email": "grace"}, {"email"}),
            ({"email": "@", "mobile": 7}, {"email", "mobile"}),
            ({"nick": "x"}, {"nick"}),
            ({"is_active": "no"}, {"is_active"}),
            ({"name": "", "email": "@", "ringtone": "\x07"}, {"name", "email", "ringtone"}),
            ({"user_uuid": STRANGER}, {"user_uuid"}),
            ([], {"body"}),
        ],
    ),
    Resource(
        path="/locations",
        noun="Location",
        fields=_names("uuid name emergency_number emergency_place created_at updated_at"),
        new={"name": "Berlin"},
        full={
            "name": "Berlin/3",
            "emergency_number": "+493012345",
            "emergency_place": "Hauptstr. 1; third floor & 100 %",
        },
        change={"emergency_number": None, "name": "Berlin/3/301"},
        refused=[
            ({"name": None, "emergency_number": "493012345"}, {"name", "emergency_number"}),
            ({"name": "a//b", "emergency_number": "+12"}, {"name", "emergency_number"}),
            ({"name": "/a", "emergency_number": "+" + "1" * 21}, {"name", "emergency_number"}),
            ({"name": "a / /b", "emergency_number": "+1 23"}, {"name", "emergency_number"}),
            ({"name": "", "emergency_place": " "}, {"name", "emergency_place"}),
            ({"emergency_place": "${EXTEN}"}, {"emergency_place"}),
            ({"emergency_place": 'the "Annex"'}, {"emergency_place"}),
            ({"emergency_place": "A\\B"}, {"emergency_place"}),
            ({"emergency_place": "A\nB"}, {"emergency_place"}),
            ({"emergency_place": "x" * 256}, {"emergency_place"}),
            ({"emergency_number": "+\u0663\u0663\u0663"}, {"emergency_number"}),
            ({"parent": "Berlin"}, {"parent"}),
        ],
        accepted=[
            {"emergency_place": "M\u00fcnchen; Lager & K\u00fcche = 50 %"},
            {"emergency_place": "\u00fc" * 255},
            {"emergency_number": "+123"},
            {"name": "BERLIN"},
        ],
    ),
    Resource(
        path="/extensions",
        noun="Extension",
        fields=_names(
            "uuid type extension name password description voicemail voicemail_passcode is_active"
            " created_at created_by updated_at updated_by created_ip updated_ip"
        ),
        new={
            "type": "chan_sccp",
            "extension": "1001",
            "name": "Front desk",
            "password": "line secret",
        },
        given={
            "voicemail": False,
            "is_active": True,
            "created_ip": "127.0.0.1",
            "updated_ip": "127.0.0.1",
        },
        shown={"password": None},
        full={
            "type": "chan_sip",
            "extension": "1001",
            "name": "Front desk",
            "password": "line secret",
            "description": "By the door\n\tof the hall",
            "voicemail": True,
            "voicemail_passcode": "2468",
            "is_active": False,
        },
        change={"type": "custom", "voicemail_passcode": None, "description": None},
        # A record as read has no password; sent back, it keeps the stored one.
        refused_in_create=[({"password": None}, {"password"}), ({"password": ""}, {"password"})],
        refused=[
            ({"password": "a\x00b"}, {"password"}),
            ({"password": "a\nb"}, {"password"}),
            ({"password": "x" * 256}, {"password"}),
            ({"password": 1234}, {"password"}),
            ({"type": "chan_iax2"}, {"type"}),
            ({"type": "CHAN_SIP"}, {"type"}),
            ({"type": None, "extension": None, "name": None}, {"type", "extension", "name"}),
            ({"extension": ""}, {"extension"}),
            ({"extension": "10 01"}, {"extension"}),
            ({"extension": "-/-", "password": "\n"}, {"extension", "password"}),
            ({"extension": 1001, "name": " "}, {"extension", "name"}),
            ({"voicemail": "yes", "is_active": None}, {"voicemail", "is_active"}),
            ({"voicemail": None, "is_active": 1}, {"voicemail", "is_active"}),
            ({"voicemail_passcode": 2468}, {"voicemail_passcode"}),
            ({"voicemail_passcode": "2\x1b8"}, {"voicemail_passcode"}),
            ({"description": "x" * 2049}, {"description"}),
            ({"user_uuid": STRANGER, "secret": "x"}, {"user_uuid", "secret"}),
            ([], {"body"}),
        ],
        accepted=[
            {"type": "chan_sccp", "extension": "*1#+_.-Z"},
            {"type": "chan_sip"},
            {"type": "chan_pjsip"},
            {"type": "custom"},
        ],
    ),
    Resource(
        path="/permissions",
        noun="Permission",
        fields=_names("uuid level name description created_at"),
        new={"level": 5, "name": "desk"},
        full={"level": 2**31 - 1, "name": "Front desk", "description": "line\n\tline"},
        change={"name": "hall"},
        refused=[
            ({"level": None, "name": None}, {"level", "name"}),
            ({"level": -1, "name": ""}, {"level", "name"}),
            ({"level": 2**31}, {"level"}),
            ({"level": 10**30}, {"level"}),
            ({"level": 1.5}, {"level"}),
            ({"level": "1"}, {"level"}),
            ({"level": True}, {"level"}),
            ({"name": "x" * 256}, {"name"}),
            ({"description": "x" * 2049}, {"description"}),
            ({"description": "a\u0007"}, {"description"}),
            ({"name": None, "rank": 1}, {"name", "rank"}),
        ],
        # The level of a permission never changes.
        refused_in_update=[({"level": 6}, {"level"})],
    ),
    Resource(
        path="/phones",
        noun="Phone",
        key="mac",
        fields=_names(
            "mac brand model description name hostname location phone_ip phone_vlan"
            " software_version software_type is_active created_at updated_at"
        ),
        new={"mac": MAC},
        given={"is_active": True},
        full={
            "mac": MAC,
            "brand": "Cisco",
            "model": "CP-7945G",
            "description": "By the door\n\tof the hall",
            "name": "Front desk",
            "hostname": "SEP001BD4123456",
            "location": "Berlin",
            "phone_ip": "10.20.30.40",
            "phone_vlan": "120",
            "software_version": "SCCP45.9-4-2SR3-1S",
            "software_type": "SCCP",
            "is_active": False,
        },
        change={"name": "Hall", "brand": None},
        refused=[
            ({"phone_ip": "010.0.0.1"}, {"phone_ip"}),
            ({"phone_ip": "10.0.0.1/24"}, {"phone_ip"}),
            ({"phone_ip": "fe80::1%eth0"}, {"phone_ip"}),
            ({"name": "Hall\u200e"}, {"name"}),
            ({"location": "2nd\u2028floor"}, {"location"}),
            ({"phone_ip": 7}, {"phone_ip"}),
            ({"phone_vlan": 120}, {"phone_vlan"}),
            ({"name": "x" * 256}, {"name"}),
            ({"description": "x" * 2049}, {"description"}),
            ({"hostname": "a\u0000b"}, {"hostname"}),
            ({"location": "a\u0085b"}, {"location"}),
            ({"is_active": None}, {"is_active"}),
            ({"is_active": "yes"}, {"is_active"}),
            ({"is_vendor": True}, {"is_vendor"}),
            ({"mac": "x", "phone_ip": "x", "name": 1, "x": 1}, {"mac", "phone_ip", "name", "x"}),
        ],
    ),
    Resource(
        path="/configuration-templates",
        noun="Template",
        fields=_names(
            "uuid name description model software_type body revision created_at updated_at shared"
        ),
        new={"name": "office", "body": "<device/>"},
        given={"revision": 1, "shared": False},
        full={
            "name": "office",
            "description": "a\nb",
            "model": "7945",
            "software_type": "SCCP",
            "body": "<device>\r\n<name>{{ user.first_name }}</name></device>\r\n",
        },
        change={"name": "hall", "model": None},
        refused=[
            ({"body": "<a>\n{{ nope }}</a>"}, {"body"}),
            ({"body": "{% include 'x' %}"}, {"body"}),
            ({"body": 7, "name": ""}, {"body", "name"}),
            ({"software_type": "MPP", "model": "a\nb"}, {"software_type", "model"}),
            ({"colour": "red"}, {"colour"}),
            ({"body": None}, {"body"}),
            ({"name": "x" * 256}, {"name"}),
        ],
    ),
    Resource(
        path="/users",
        noun="User",
        text="first_name",
        fields=USER_FIELDS,
        new=NEW_USER,
        given={
            "lang": "en",
            "timezone": "UTC",
            "is_active": True,
            "created_ip": "127.0.0.1",
            "updated_ip": "127.0.0.1",
        },
        full={
            **NEW_USER,
            "phone": "+1 202 555 0143",
            "lang": "en-US",
            "location": "Arlington",
            "nationality": "American",
            "timezone": "America/New_York",
            "is_active": False,
        },
        change={"last_name": "Murray", "phone": None, "lang": "English", "is_active": True},
        refused=[
            ({"first_name": ""}, {"first_name"}),
            ({"first_name": "   "}, {"first_name"}),
            ({"last_name": "x" * 256}, {"last_name"}),
            ({"username": "a\nb"}, {"username"}),
            ({"username": "a\u0000b"}, {"username"}),
            ({"email": "grace"}, {"email"}),
            ({"email": "grace@"}, {"email"}),
            ({"email": "a b@example.com"}, {"email"}),
            ({"password": "short"}, {"password"}),
            ({"password": "password123"}, {"password"}),
            ({"password": "x" * 257}, {"password"}),
            ({"lang": "en_US"}, {"lang"}),
            ({"lang": ""}, {"lang"}),
            ({"timezone": "Mars/Olympus"}, {"timezone"}),
            ({"timezone": "utc"}, {"timezone"}),
            ({"is_active": "true"}, {"is_active"}),
            ({"is_active": 1}, {"is_active"}),
            ({"phone": 7}, {"phone"}),
            ({"location": ["x"]}, {"location"}),
            ({"role": "admin"}, {"role"}),
            ({"first_name": "Gr\u00adace", "last_name": "\u202e"}, {"first_name", "last_name"}),
            ({"location": "a\ufeffb"}, {"location"}),
            (
                {"email": "x", "lang": "?", "timezone": 1, "a": 1},
                {"email", "lang", "timezone", "a"},
            ),
        ],
    ),
]


async def check_not_found(caller: Caller, path: str) -> None:
    """Reads, changes and deletions of the record at ``path`` are 404."""
    error_of(await caller.get(path), 404, "not_found")
    error_of(await caller.put(path, {}), 404, "not_found")
    error_of(await caller.delete(path), 404, "not_found")
