"""Settings, and the adapters wired together as they say."""
