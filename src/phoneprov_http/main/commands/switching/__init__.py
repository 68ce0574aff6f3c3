"""Commands that switch phones and show deployments."""
