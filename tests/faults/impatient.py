"""The command line of a service with short leases that are renewed often, and a short wait for
requests when it stops."""

import sys

from phoneprov_adapters.composition import lifecycle as wiring
from phoneprov_core.switching.deployments.records import Records
from phoneprov_http.main.cli import main
from phoneprov_http.main.server import server

LEASE_SECONDS = 2
STOP_SECONDS = 1.5
COMMAND = (sys.executable, __file__, "serve", "--migrate")

if __name__ == "__main__":
    assert Records.__init__.__kwdefaults__
    Records.__init__.__kwdefaults__["lease_seconds"] = LEASE_SECONDS
    wiring.LOOK_SECONDS = 0.2
    server.STOP_SECONDS = STOP_SECONDS
    main()
