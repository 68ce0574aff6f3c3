"""Lines: which numbers a phone has in the exchange."""
