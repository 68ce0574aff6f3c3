"""Routes of phones, extensions and profiles."""
