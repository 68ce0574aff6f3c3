"""Adapters in memory: shipped fakes that satisfy the same contracts."""
