"""Migrations, one revision per file, for both databases."""
