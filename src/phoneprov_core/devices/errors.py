"""Errors of reaching a phone or the server that stores its configuration."""

from phoneprov_core.kernel.errors import Conflict, Refused, TimedOut

OUTCOME_UNKNOWN = "outcome_unknown"
"""Code of an error after which the file under the final name may be the old one or the new one."""

REPLY_LOST = "reply_lost"
"""Code of an error after which it is not known whether a phone carries out a command: the command
was sent, and its reply was lost, was late or cannot be read."""


NOT_RECORDED = "not_recorded"
"""Code of an error after which the new file is in place, and the record of it is not stored yet."""


class NoAddress(Conflict):
    """The phone has no address, and no FTP server is set."""

    code = "no_address"
    usual = "The phone has no recorded address: set its phone_ip, or PHONEPROV_FTP_HOST."


class AddressNotConfirmed(Conflict):
    """A login of the fleet would be sent to an address that level 0 has not recorded or confirmed,
    or with a mere look."""

    code = "address_not_confirmed"
    usual = (
        "Level 0 has not confirmed the phone's address: it gets no login of this installation. "
        "Confirm it (address_confirmed), or restart the phone by hand."
    )


class AddressNotAllowed(Conflict):
    """The address of the phone is outside the allowed networks."""

    code = "address_not_allowed"
    usual = "The phone's address is in none of the networks that may be called."


class RefusedMidway(Refused):
    """The connection failed after the rename was sent: the old file or the new one is there."""

    code = OUTCOME_UNKNOWN
    usual = (
        "The FTP server 10.0.0.5:21 closed the connection while renaming. It is not known whether "
        "SEP001BD4123456.cnf.xml is the new file or the old one."
    )


class TimedOutMidway(TimedOut):
    """The server was silent after the rename was sent: the old file or the new one is there."""

    code = OUTCOME_UNKNOWN
    usual = (
        "The FTP server 10.0.0.5:21 did not answer in time while renaming. It is not known "
        "whether SEP001BD4123456.cnf.xml is the new file or the old one."
    )
