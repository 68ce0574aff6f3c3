"""The command line of a service that waits long for its clients, serving and stopping, so that a
client on a slow machine still finds its connection open."""

import sys

from phoneprov_http.main.cli import main
from phoneprov_http.main.server import protocol

COMMAND = (sys.executable, __file__, "serve", "--migrate")

if __name__ != "faults.patient":  # worker processes import it as ``__mp_main__``
    protocol.SILENCE_SECONDS = 20.0
    protocol.ARRIVAL_SECONDS = 300.0

if __name__ == "__main__":
    main()
