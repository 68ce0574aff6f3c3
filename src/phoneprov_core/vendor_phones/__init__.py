"""Which phones are the vendor's."""
