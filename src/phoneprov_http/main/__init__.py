"""Where HTTP and the adapters meet: the ASGI entry and the command line."""
