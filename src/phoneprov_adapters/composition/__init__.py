"""Settings, and the composition of the adapters that they choose."""
