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
