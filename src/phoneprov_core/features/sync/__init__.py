"""People from a directory: accounts that follow the entries of LDAP, AD or a table."""
