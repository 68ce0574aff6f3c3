"""The text of a device configuration: masking of secrets, comparison, linting."""
