"""The PIN by which a user logs in on a phone."""
