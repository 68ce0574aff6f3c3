"""Commands for accounts and the audit trail."""
