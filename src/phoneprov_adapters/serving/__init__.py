"""Files that phones fetch from this service, over HTTP and TFTP."""
