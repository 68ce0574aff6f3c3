"""Secrets: keys, encrypted values, signed tokens, and slow hashes of passwords and PINs."""
