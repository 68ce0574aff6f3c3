"""Stores, one module per feature."""
