"""Asterisk, spoken to through its manager interface."""
