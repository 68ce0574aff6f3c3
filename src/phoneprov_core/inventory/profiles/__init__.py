"""Phone profiles and their revisions."""
