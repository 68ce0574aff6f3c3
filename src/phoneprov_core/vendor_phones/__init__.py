"""Vendor phone flags."""
