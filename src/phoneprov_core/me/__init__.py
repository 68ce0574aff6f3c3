"""The caller's own account and the phones that they can use."""
