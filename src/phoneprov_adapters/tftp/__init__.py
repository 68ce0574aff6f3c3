"""A read-only TFTP server: packets, transfers, sockets."""
