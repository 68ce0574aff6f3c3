"""Adapters that keep everything in memory: shipped fakes, held to the same contracts."""
