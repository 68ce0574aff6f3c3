"""Stores of phones, extensions and profiles."""
