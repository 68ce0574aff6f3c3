"""Switching or restarting many phones at a limited rate, in the background."""
