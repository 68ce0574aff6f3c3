"""The audit trail: who changed what, and when."""
