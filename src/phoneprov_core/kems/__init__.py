"""Key expansion modules (KEMs): additional keys of a phone."""
