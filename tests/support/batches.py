"""Batches of the contract kit."""

from phoneprov_adapters.testing.phone_records import a_batch

__all__ = ["a_batch"]
