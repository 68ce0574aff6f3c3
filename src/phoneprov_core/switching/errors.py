"""The errors of uploads, of commands to phones and of deployments, and their codes."""

from collections.abc import Awaitable
from typing import Any

from phoneprov_core.inventory.phones.use_cases import PhoneBusy
from phoneprov_core.kernel.errors import Conflict, Refused, TimedOut, TooManyAttempts, Unavailable

OUTCOME_UNKNOWN = "outcome_unknown"
"""Code of an error after which the file under the final name may be the old one or the new one."""

REPLY_LOST = "reply_lost"
"""Code of an error after which it is not known whether a phone carries out a command: the command
was sent, and its reply was lost, was late or cannot be read."""

NOT_RECORDED = "not_recorded"
"""Code of an error after which the new file is in place, but its record is not stored yet."""


class NoAddress(Conflict):
    """The phone has no address, and no FTP server is set."""

    code = "no_address"
    usual = "The phone has no recorded address: set its phone_ip, or PHONEPROV_FTP_HOST."


SWITCHED_OFF = "The phone was not restarted: restarts are switched off."
"""The result of a restart with ``PHONEPROV_RESTART=none``."""


class NoRestart(Conflict):
    """Phones are not restarted: restarts are switched off, or the way to request them is not set
    up."""

    code = "no_restart"
    usual = SWITCHED_OFF


class AddressNotConfirmed(Conflict):
    """A login shared by all phones would be sent to an address that level 0 has not recorded or
    confirmed, or would be sent by a request that only reads."""

    code = "address_not_confirmed"
    usual = (
        "Level 0 has not confirmed the phone's address: it gets no login of this installation. "
        "Confirm it (address_confirmed), or restart the phone by hand."
    )


NO_UPLOAD = (
    "Nothing is uploaded to the phone's own FTP server until level 0 has confirmed its address "
    "(address_confirmed)."
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


class PhoneInactive(Conflict):
    """The phone is not active."""

    code = "phone_inactive"
    usual = "This phone is not active."


class ProfileDoesNotFit(Conflict):
    """The profile is for other models or another firmware."""

    code = "profile_does_not_fit"
    usual = "The profile does not fit this phone: it is for SIP phones, not for SCCP."


class ProfileNotAllowed(Conflict):
    """Level 0 did not make the profile, and the template is not shared or the phone was adopted
    with a PIN."""

    code = "profile_not_allowed"
    usual = (
        "The template office is not shared, and level 0 did not make this profile. Ask an "
        "administrator to save it."
    )


class NoTemplateFits(Conflict):
    """No variant of the template is for this phone."""

    code = "no_template_fits"
    usual = "The template office has no variant for this phone (7945, SCCP)."


class TemplateFails(Conflict):
    """The template cannot be rendered for this phone and user."""

    line, column = 1, 1
    """The position in the template, as far as it is known."""
    code = "template_fails"
    usual = (
        "The template office (7945), revision 3, fails on line 12, column 5: "
        "values.vlan is not given."
    )


class RightsChanged(Conflict):
    """An earlier configuration has a number that its user no longer has, or its user is no longer
    active."""

    code = "rights_changed"
    usual = (
        "This configuration was made with the number 1001, which its user no longer has, or has "
        "with another password. With force, level 0 deploys it all the same."
    )


class TooManySwitches(TooManyAttempts):
    """The phone was switched, or the caller switched phones, too often."""

    code = "too_many_switches"
    usual = "This phone was switched too often; try again in 120 seconds."


class LeaseLost(TimedOut):
    """The service was paused during the switch for longer than its lease of the phone:
    another switch may have followed."""

    code = OUTCOME_UNKNOWN
    usual = (
        "The switch was interrupted: the service was paused for too long. Another switch of this "
        "phone may have followed, and it is not known which configuration the phone has."
    )


class NotRecorded(Unavailable):
    """The configuration is in place, and the record of it is not stored yet: the database is
    unavailable. The service tries to store it again."""

    code = NOT_RECORDED
    usual = (
        "The configuration is in place, and the phone accepted the restart. The record of this "
        "could not be stored, because the database is not available."
    )

    def __init__(self, message: str = "", closing: Awaitable[Any] | None = None) -> None:
        super().__init__(message)
        self.closing = closing
        """The further attempts to store the record; awaiting them returns the stored record. Raises
        ``Unavailable``."""


class PhoneInCall(Conflict):
    """The phone is in a call, which a restart would end."""

    code = "phone_in_call"
    usual = "The phone is in a call, which a restart would end; try again when it is over."


class RestartUnknown(TimedOut):
    """The restart was sent, and it is not known whether the phone carries it out."""

    code = REPLY_LOST
    usual = "The phone did not confirm the command; it may still carry it out."


OF_A_RESTART = (
    PhoneInactive,
    PhoneInCall,
    PhoneBusy,
    NoRestart,
    NoAddress,
    AddressNotConfirmed,
    AddressNotAllowed,
    TooManySwitches,
    Refused,
    TimedOut,
    RestartUnknown,
    LeaseLost,
)
"""Errors of a restart without a switch, besides ``NotFound``, ``Forbidden`` and ``Unavailable``."""

OF_A_SWITCH = (
    PhoneInactive,
    ProfileDoesNotFit,
    ProfileNotAllowed,
    NoTemplateFits,
    TemplateFails,
    PhoneBusy,
    NoAddress,
    AddressNotConfirmed,
    AddressNotAllowed,
    TooManySwitches,
    Refused,
    RefusedMidway,
    TimedOut,
    TimedOutMidway,
    LeaseLost,
    NotRecorded,
)
"""Errors of a switch, besides ``NotFound`` and ``Unavailable``."""
