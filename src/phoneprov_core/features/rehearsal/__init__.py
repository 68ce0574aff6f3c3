"""Rehearsing a batch on a twin of the records: what would happen, and how that is known."""
