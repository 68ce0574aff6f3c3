"""Permissions, their assignment to users, and the rules for access."""
