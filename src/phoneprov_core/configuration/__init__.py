"""The text of a device configuration: what it hides, how two differ, what is wrong with it."""
