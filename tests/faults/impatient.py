"""The command line of a service with short leases that are renewed often, and a short wait for
requests when it stops."""

import sys

from phoneprov_adapters.composition import batches, lifecycle as wiring
from phoneprov_core.features.batches import work
from phoneprov_core.features.batches.run import RunBatches
from phoneprov_core.switching.deployments import confirm
from phoneprov_core.switching.deployments.records import Records
from phoneprov_http.main.cli import main
from phoneprov_http.main.server import server

LEASE_SECONDS = 2
STOP_SECONDS = 1.5
COMMAND = (sys.executable, __file__, "serve", "--migrate")

if __name__ == "__main__":
    assert Records.__init__.__kwdefaults__
    Records.__init__.__kwdefaults__["lease_seconds"] = LEASE_SECONDS
    assert RunBatches.__init__.__kwdefaults__
    RunBatches.__init__.__kwdefaults__["hold_seconds"] = LEASE_SECONDS
    vars(work)["LEASE_SECONDS"] = LEASE_SECONDS
    vars(confirm)["GRACE_SECONDS"] = 1
    wiring.LOOK_SECONDS = batches.LOOK_SECONDS = 0.2
    server.STOP_SECONDS = STOP_SECONDS
    main()
