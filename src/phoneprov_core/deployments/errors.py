"""Errors of a switch."""

from collections.abc import Awaitable

from phoneprov_core.deployments.model import Deployment
from phoneprov_core.devices.errors import (
    NOT_RECORDED,
    OUTCOME_UNKNOWN,
    AddressNotAllowed,
    AddressNotConfirmed,
    NoAddress,
    RefusedMidway,
    TimedOutMidway,
)
from phoneprov_core.kernel.errors import (
    Conflict,
    Refused,
    TimedOut,
    TooManyAttempts,
    Unavailable,
)
from phoneprov_core.phones.ports import PhoneBusy
from phoneprov_core.templates.model import NoTemplateFits, TemplateFails


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
    """The service stood still in the middle of the switch for longer than its lease of the phone:
    another switch may have followed."""

    code = OUTCOME_UNKNOWN
    usual = (
        "The switch was interrupted: the service stood still for too long. Another switch of this "
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

    def __init__(self, message: str = "", closing: Awaitable[Deployment] | None = None) -> None:
        super().__init__(message)
        self.closing = closing
        """The further tries: the record once it is stored. Raises ``Unavailable``."""


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
"""What a switch raises beside ``NotFound`` and ``Unavailable``."""
