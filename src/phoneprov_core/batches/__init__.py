"""Switching or restarting many phones, paced, in the background."""
