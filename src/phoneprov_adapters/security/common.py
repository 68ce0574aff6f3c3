"""Commonly used passwords."""

from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec


def is_common(password: str) -> bool:
    """Whether this is, ignoring case, one of the 30,000 passwords that zxcvbn lists as the most
    frequent.

    The first call reads the list, which takes about 15 milliseconds; ``load`` reads it early.
    """
    return password.lower() in load()


@cache
def load() -> frozenset[str]:
    """The listed passwords, all in lower case; read once, and cached (4 MB)."""
    # Importing the package would also build the tables of its estimator, which are not needed:
    # three times the memory, twice the time.
    package = find_spec("zxcvbn")
    folders = package.submodule_search_locations if package else None
    spec = PathFinder.find_spec("zxcvbn.frequency_lists", folders)
    if spec is None or spec.loader is None:
        raise ImportError("The list of common passwords is missing; install zxcvbn.")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return frozenset(module.FREQUENCY_LISTS["passwords"])
