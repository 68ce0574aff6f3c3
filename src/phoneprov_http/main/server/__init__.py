"""The server: protocol, workers, logs."""
