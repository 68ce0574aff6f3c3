"""Clock, identifiers, tasks, log lines and address rules that several adapters share."""
