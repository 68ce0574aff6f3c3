"""One configuration onto one phone: devices and deployments."""
