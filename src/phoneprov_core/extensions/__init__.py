"""Telephone extensions."""
