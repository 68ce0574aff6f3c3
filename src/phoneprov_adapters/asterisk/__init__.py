"""Asterisk, called over its manager interface."""
