"""Services that phones of the vendor offer in their menu."""
