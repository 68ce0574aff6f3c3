"""What the document says in words: of the whole, of its parts, of what can go wrong."""

from __future__ import annotations

from typing import NamedTuple

ABOUT = """\
phoneprov keeps what an office's telephony consists of: accounts and permission levels,
extensions, an inventory of desk phones, directories, PINs. And it does the job all of it
exists for: putting a person's phone profile onto any desk phone.

**Replies.** Every reply is one JSON object. A success has `success: true`, a `message` for
people, `data` (null where there is nothing to tell) and `metadata`; the replies about phone
profiles have no `metadata`. A failure has `success: false`, a `message`, `data: null` and
`error`: a stable `code` for programs, `details` that name every field to blame, and the
`request_id` that finds the request in the log. It stands in the header `X-Request-Id` too; a
client may send that header to choose it (up to 64 letters, digits, dots, dashes, underscores).

**Who asks.** `POST /api/v1/auth/login` answers an access token and a refresh token. Send the
access token as `Authorization: Bearer <token>`. A refresh token is exchanged once. A missing
token is told before anything else, then what the caller may not do, then what does not exist,
then what is wrong with the input: 401, 403, 404, 422.

**Writing.** Unknown fields are refused. A PUT changes the fields that are sent: an absent field
stays, null clears one that may be null. What was read may be sent back as it is; read-only
fields in it are ignored, identifiers must agree with what is addressed.

**Lists** are answered whole, oldest first. `limit` and `offset` ask for a page, and then
`metadata` tells `total`, `limit` and `offset`.

**Values.** Times are UTC with milliseconds. MACs are taken with `:`, `-`, dots or no separators
and answered as `00:1B:D4:12:34:56`. Text is kept in Unicode form NFC and has no control
characters.

**Beside what is listed.** A path that does not exist is 404 (`not_found`), a method that a path
does not take 405 (`method_not_allowed`) with the header `Allow`, a fault of the service itself
500 (`internal_error`); all of them are failures as described above.
"""

TAGS = {
    "Auth": "Logging in, registering, refreshing, logging out",
    "Me": "What the caller may read of themselves",
    "Users": "Accounts; level 0",
    "Extensions": "Telephone extensions; level 0",
    "Permissions": "Permissions and their assignment to users; level 0",
    "User extensions": "Who has which extension; level 0",
    "Phones": "The inventory. Every account reads it, level 0 writes it",
    "Phone profiles": (
        "Configurations, each kept by its owner or level 0, and the switch that puts one onto "
        "a phone"
    ),
    "Deployments": (
        "What was put onto which phone, by whom, and how it went: for level 0 all of it, for "
        "others what they asked for, and what brought a profile of theirs"
    ),
    "Batches": (
        "Many phones switched or restarted at a pace, in the background, under one record; level 0"
    ),
    "Company directory": "Contacts of the company. Every account reads them, level 0 writes them",
    "Vendor KEM": "Key expansion modules. Every account reads them, level 0 writes them",
    "Vendor services": "Service definitions. Every account reads them, level 0 writes them",
    "Personal directory": "Contacts of single users, each kept by their owner or level 0",
    "Vendor phones": "Vendor flags of phones. Every account reads them, level 0 writes them",
    "Vendor users": "PINs for vendor phones, each kept by its user or level 0",
    "Health": "Whether the service lives, for machines",
}

STATUSES = {
    400: "The request cannot be understood.",
    401: "Nobody we know is asking.",
    403: "The caller may not do this.",
    404: "There is no such record, or none that the caller may see.",
    409: "The stored state stands against it.",
    413: "The body is larger than is taken (1 MiB, unless the deployment sets another bound).",
    415: "The body is of another type than `application/json`.",
    422: "The input breaks a rule; `details` names every field to blame.",
    429: "Too many failed logins or switches; `Retry-After` says when to try again.",
    502: "The server of the phone's configuration refused; nothing was restarted.",
    503: "A part of the service, the database above all, is away; nothing was changed.",
    504: "The server of the phone's configuration did not answer in time; nothing was restarted.",
}


class Code(NamedTuple):
    """One code: what it means, a message that comes with it, and what its details may say."""

    words: str
    message: str
    details: tuple[tuple[str, str], ...] = ()


CODES = {
    "malformed": Code("the body is not JSON in UTF-8.", "The body is not UTF-8."),
    "unauthenticated": Code(
        "there is no token, or none that counts.", "A bearer token is needed; log in first."
    ),
    "wrong_credentials": Code(
        "no such account, another password, or an account that is not active.",
        "The username or the password is wrong.",
    ),
    "forbidden": Code("the caller may not do this.", "This needs permission level 0."),
    "not_found": Code("there is no such record.", "There is no such phone."),
    "too_large": Code("the body is too large.", "The body is larger than 1048576 bytes."),
    "unsupported_media_type": Code(
        "the body is of another type.", "The body must be of the type application/json."
    ),
    "invalid": Code(
        "a field breaks a rule.",
        "The field mac is required (and 1 more).",
        (
            ("mac", "is required"),
            ("phone_ip", "must be an IPv4 or IPv6 address"),
        ),
    ),
    "too_many_attempts": Code(
        "the login of the account or of the client address is closed for a while.",
        "Too many failed logins; try again in 30 seconds.",
    ),
    "locked": Code(
        "the account is locked after 100 failed logins in a row.",
        "This login is locked after too many failures; log in from an address you used lately,"
        " or ask an administrator for a new password.",
    ),
    "too_many_switches": Code(
        "the phone, or too many phones, were switched lately.",
        "This phone was switched too often; try again in 120 seconds.",
    ),
    "refused": Code(
        "it cannot be reached, refused, or does not hold what was sent.",
        "Logging in to the FTP server failed: it refused the user or the password.",
    ),
    "unavailable": Code("try again later.", "The database is not open."),
    "disk_full": Code(
        "the database has no room left.",
        "The database has no room left; nothing was changed.",
    ),
    "wrong_key": Code(
        "the key that a stored secret needs is not set.",
        "A stored secret cannot be decrypted: the key it was encrypted with is missing from "
        "PHONEPROV_SECRET_KEYS, or the stored value was altered.",
    ),
    "outcome_unknown": Code(
        "the connection failed after the rename was sent: the old file or the new one is there.",
        "The FTP server 10.0.0.5:21 did not answer in time while renaming. It is not known "
        "whether SEP001BD4123456.cnf.xml is the new file or the old one.",
    ),
    "timed_out": Code(
        "it took too long.", "Connecting to the FTP server took longer than 5 seconds."
    ),
    "already_exists": Code(
        "a value that must be unique is in use; `details` names its field.",
        "This mac is already in use.",
        (("mac", "is already in use"),),
    ),
    "in_use": Code("another record needs it.", "This permission is in use and cannot be deleted."),
    "last_superadmin": Code(
        "nobody would hold level 0 any more.",
        "This is the last active account that holds level 0; give level 0 to another first.",
    ),
    "too_many_profiles": Code(
        "the user has the maximum number of profiles.",
        "This user has 100 profiles, the maximum; delete one first.",
    ),
    "phone_inactive": Code("the phone is not active.", "This phone is not active."),
    "profile_does_not_fit": Code(
        "the profile is for other models or another firmware.",
        "The profile does not fit this phone: it is for SIP phones, not for SCCP.",
    ),
    "phone_busy": Code(
        "another switch of the phone is under way.",
        "Another switch of this phone is under way; try again when it is done.",
    ),
    "no_phones": Code(
        "no active phone agrees with the filters.", "No active phone agrees with the filters."
    ),
    "no_address": Code(
        "the phone's address is not recorded, and no server is set up instead.",
        "The phone has no IP address in the inventory, so there is nowhere to upload to.",
    ),
    "address_not_allowed": Code(
        "the phone's address is outside the networks that may be called.",
        "The phone's address is in none of the networks that may be called.",
    ),
}
