"""``phoneprov watch``, whose times are shorter: ``watching.py TIMES watch --minutes 2``."""

import sys

from phoneprov_core.features.fleet import files, watch
from phoneprov_http.main.cli import main

if __name__ == "__main__":
    times = float(sys.argv.pop(1))
    names = ("RENEW_MS", "LEAST_MS", "LONGEST_MS", "LEASE_SECONDS", "_LEAST_PAUSE")
    for module, name in (*((watch, name) for name in names), (files, "_LEAST_SECONDS")):
        was = getattr(module, name)
        setattr(module, name, type(was)(was / times))
    run = watch.WatchFleet.run
    watch.WatchFleet.run = lambda self, minutes: run(self, minutes / times)  # type: ignore[arg-type, method-assign]
    main()
