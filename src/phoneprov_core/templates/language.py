"""The language of templates: the names that are given, the filters, and the bounds. The adapter
that renders checks a template against this page, and the reference lists it."""

from collections.abc import Mapping

Fields = Mapping[str, str]
"""Names of fields, each with what it holds."""

OBJECTS: Mapping[str, Fields] = {
    "phone": {
        "mac": "MAC address with `:`, `00:1B:D4:12:34:56`",
        "hex": "MAC address as 12 upper-case hexadecimal digits, as in the name of the device",
        "name": "name of the phone",
        "model": "model as recorded, `CP-7945G`",
        "location": "location",
        "ip": "address of the phone",
        "vlan": "VLAN",
        "software_type": "firmware family; that of the profile if the phone has none",
    },
    "user": {
        "username": "username of the owner of the profile",
        "first_name": "first name",
        "last_name": "last name",
        "email": "e-mail address",
        "lang": "language tag",
        "timezone": "IANA time zone",
    },
    "urls": {
        "authentication": "address that phones ask whether a command is authorised",
        "services": "address of the menu of services",
        "directory": "address of the directories",
    },
}
"""Objects. A field that is not recorded is an empty text."""

LISTS: Mapping[str, Fields] = {
    "lines": {
        "number": "extension number",
        "name": "name of the extension",
        "password": "password of the extension; a secret",
        "voicemail": "`true` if the extension has voicemail",
        "type": "`chan_sccp`, `chan_sip`, `chan_pjsip` or `custom`",
    },
    "modules": {"model": "model of the expansion module", "ip": "address of the module"},
    "services": {
        "name": "name of the service",
        "url": "address of the service",
        "type": "kind of the service",
    },
}
"""Lists that `for` runs over: the active extensions of the user, oldest link first; the expansion
modules of the phone; the services of the menu. Both of these are oldest first."""

VALUES = "values"
"""The object of the texts of the profile; its fields have names of the author's choice."""

LOOP: Fields = {
    "index": "number of the element, from 1",
    "index0": "number of the element, from 0",
    "first": "`true` for the first element",
    "last": "`true` for the last element",
    "length": "number of elements",
}
"""The fields of `loop`, inside a `for`."""

FILTERS: Fields = {
    "default": "`default(text)`: the text, if the name is not given or empty",
    "upper": "in upper case",
    "lower": "in lower case",
    "replace": "`replace(old, new)`: each `old` replaced by `new`",
    "truncate": "`truncate(length, killwords=False, end='...')`: cut to about this length",
    "int": "`int(default=0)`: the whole number that a text is, else the default",
    "join": "`join(between='', attribute)`: the fields of a list in one text",
    "length": "number of characters, or of elements",
    "first": "first element of a list",
    "last": "last element of a list",
}

DEEPEST_LOOP = 2
"""Maximum depth of `for` in `for`."""
MOST_NODES = 20_000
"""Maximum number of elements of the syntax tree."""
DEEPEST_NODE = 50
"""Maximum depth of the syntax tree."""
LONGEST_TEXT = 16_384
"""Maximum number of characters of a text that a template makes."""
MOST_WORK = 1_000_000
"""Maximum cost of a rendering: each pass of a loop costs the elements in its body, each text that
is made its characters."""
MOST_ELEMENTS = 1000
"""Maximum number of elements of a given list."""
