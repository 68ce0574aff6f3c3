"""A simulated phone: receives files over FTP and commands over HTTP, and reports them."""
