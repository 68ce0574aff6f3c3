"""Errors of a switch."""

from phoneprov_core.devices.errors import (
    AddressNotAllowed,
    NoAddress,
    RefusedMidway,
    TimedOutMidway,
)
from phoneprov_core.kernel.errors import Conflict, Refused, TimedOut, TooManyAttempts
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


OF_A_SWITCH = (
    PhoneInactive,
    ProfileDoesNotFit,
    NoTemplateFits,
    TemplateFails,
    PhoneBusy,
    NoAddress,
    AddressNotAllowed,
    TooManySwitches,
    Refused,
    RefusedMidway,
    TimedOut,
    TimedOutMidway,
)
"""What a switch raises beside ``NotFound`` and ``Unavailable``."""
