"""The stacks that the service is compared with. Both read the service's own database and tokens."""
