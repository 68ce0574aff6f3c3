"""``phoneprov demo``: the service, a simulated phone, and each step of a switch."""
