"""Records that belong to phones, of the contract kit."""

from phoneprov_adapters.testing.phone_records import a_flag, a_kem

__all__ = ["a_flag", "a_kem"]
