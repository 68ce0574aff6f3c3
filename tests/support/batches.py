"""Batches of the contract kit."""

from __future__ import annotations

from phoneprov_adapters.testing.phone_records import a_batch

__all__ = ["a_batch"]
