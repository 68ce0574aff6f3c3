"""Logging in and out, and finding out who is asking."""
