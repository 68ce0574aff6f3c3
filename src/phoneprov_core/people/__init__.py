"""Accounts, rights, sessions, PINs, directories and the audit trail."""
