"""The checks of the console need playwright, which make test-console installs."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("playwright") else ["console", "day"]
