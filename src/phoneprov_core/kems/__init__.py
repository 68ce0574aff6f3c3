"""Key expansion modules (KEMs): rows of further keys beside a phone."""
