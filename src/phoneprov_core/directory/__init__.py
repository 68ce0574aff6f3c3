"""Whom to call: the company's directory, and each user's own."""
