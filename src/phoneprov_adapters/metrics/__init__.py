"""Metrics for Prometheus. Loaded only where metrics are switched on."""
