"""Desks: which user is logged in at which phone."""
