"""Stores of accounts, sessions, directories and the audit trail."""
