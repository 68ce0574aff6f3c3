"""Permissions, their assignment to users, and the rules of who may do what."""
