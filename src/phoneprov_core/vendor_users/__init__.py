"""PINs with which users log in on phones."""
