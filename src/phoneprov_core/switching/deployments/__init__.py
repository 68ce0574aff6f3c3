"""Deployments: the record of configurations put onto phones."""
