"""The stacks that the service is compared with. Both use the service's own database and tokens."""
