"""Calls to the web servers of phones."""
