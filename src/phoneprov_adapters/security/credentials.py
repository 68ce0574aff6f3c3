"""Usernames and passwords: slow hashes of passwords and PINs, argon2id (RFC 9106) in threads;
commonly used passwords; names that look the same, by skeletons (Unicode Technical Standard 39).
"""

import base64
import hmac
import itertools
import os
import re
import sys
import time
import unicodedata
from asyncio import wrap_future
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from importlib.machinery import PathFinder
from importlib.resources import files
from importlib.util import find_spec, module_from_spec
from queue import PriorityQueue
from threading import BoundedSemaphore
from typing import Any, TypeVar

import argon2
import msgspec
from argon2 import Parameters, Type
from argon2.exceptions import HashingError, InvalidHashError, VerificationError, VerifyMismatchError

from phoneprov_adapters.runtime.tasks import processors
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.people.users.model import PasswordHasher
from phoneprov_core.people.vendor_users import PinHasher

T = TypeVar("T")

# One of the sets that the OWASP Password Storage Cheat Sheet rates as equally strong. They trade
# memory for time. This one costs about 20 ms and 19 MiB; the library's default costs five times as
# much of both, so that a handful of logins would exhaust a small host.
PARAMETERS = Parameters(
    type=Type.ID,
    version=19,
    salt_len=16,
    hash_len=32,
    time_cost=2,
    memory_cost=19456,
    parallelism=1,
)

# The pattern of hashes that are verified. The numbers of digits bound the cost of a damaged hash:
# less than 1 GiB, fewer than 100 passes.
_HASH = re.compile(
    r"\$argon2id\$v=19\$m=[0-9]{1,6},t=[0-9]{1,2},p=[0-9]{1,2}"
    r"\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{16,86}",
    re.ASCII,
)

# Normalising takes quadratic time in the worst case, and blocks the interpreter.
_LONGEST_NORMALISED = 2048

_KNOWN, _OTHERS, _PINS = range(3)
"""The ranks of work: logins of known accounts and from known addresses, other logins, PINs."""


class Argon2Hasher(PasswordHasher, PinHasher):
    """argon2id on ``workers`` threads (None: one per processor), with at most ``queue`` calls
    waiting in each of its three queues: known callers, others, PINs, served in this order. It needs
    ``workers`` times the memory of one hash, 19 MiB, at most.

    A hash of a password is argon2's own text. That of a PIN, ``<key id>$argon2id$...``, is
    made of a keyed digest of the PIN (HMAC-SHA256): without the key, the few possible PINs
    cannot be tried.

    A password of more than 2048 characters is not normalised to NFC. Raises ValueError for
    parameters of another kind than argon2id, or of 1 GiB and more.
    """

    def __init__(
        self,
        keys: SecretKeys,
        workers: int | None = None,
        queue: int = 256,
        parameters: Parameters = PARAMETERS,
    ) -> None:
        self._keys = keys
        self._argon2 = argon2.PasswordHasher.from_parameters(parameters)
        self._unknown = _random_hash(parameters)
        if parameters.type is not Type.ID or not _HASH.fullmatch(self._unknown):
            raise ValueError("Passwords are hashed with argon2id, in less than 1 GiB of memory.")
        self._threads = WorkThreads(workers or processors(), queue)

    async def hash(self, password: str, *, first: bool = True) -> str:
        return await self._threads.run(
            lambda: self._hashed(_normalised(password)), _KNOWN if first else _OTHERS
        )

    async def verify(self, password: str, hash_: str | None, *, first: bool = True) -> bool:
        return await self._threads.run(
            lambda: self._matches(_normalised(password), hash_),
            _KNOWN if first else _OTHERS,
            _PATIENCE,
        )

    def is_outdated(self, hash_: str) -> bool:
        try:
            return self._argon2.check_needs_rehash(hash_)
        except InvalidHashError:
            return True

    async def hash_pin(self, pin: str) -> str:
        key = self._keys.current
        digest = _keyed(key.pins, pin)
        return f"{key.id}{await self._threads.run(lambda: self._hashed(digest), _PINS)}"

    async def verify_pin(self, pin: str, hash_: str) -> bool:
        key_id, dollar, rest = hash_.partition("$")
        key = self._keys.get(key_id)
        digest = _keyed((key or self._keys.current).pins, pin)
        pin_hash = dollar + rest if key else None
        return await self._threads.run(lambda: self._matches(digest, pin_hash), _PINS, _PATIENCE)

    def close(self) -> None:
        """Refuse new work; started and waiting work is finished."""
        self._threads.close()

    def _hashed(self, secret: bytes) -> str:
        try:
            return self._argon2.hash(secret)
        except HashingError:
            raise _out_of_memory() from None

    def _matches(self, secret: bytes, hash_: str | None) -> bool:
        if hash_ is not None and _HASH.fullmatch(hash_):
            try:
                return self._argon2.verify(hash_, secret)
            except VerifyMismatchError:
                return False
            except VerificationError:
                pass  # Refused without hashing.
        try:
            with suppress(VerifyMismatchError):
                self._argon2.verify(self._unknown, secret)
        except VerificationError:
            raise _out_of_memory() from None
        return False


def _random_hash(parameters: Parameters) -> str:
    """A hash that matches no known password, with the cost of a real one.

    Random text in the form of a hash, so that nothing has to be hashed.
    """
    salt = base64.b64encode(os.urandom(parameters.salt_len)).decode().rstrip("=")
    digest = base64.b64encode(os.urandom(parameters.hash_len)).decode().rstrip("=")
    return (
        f"$argon2id$v=19$m={parameters.memory_cost},t={parameters.time_cost}"
        f",p={parameters.parallelism}${salt}${digest}"
    )


def _normalised(password: str) -> bytes:
    if len(password) <= _LONGEST_NORMALISED:
        password = unicodedata.normalize("NFC", password)
    return password.encode("utf-8", "surrogatepass")


def _keyed(key: bytes, pin: str) -> bytes:
    return hmac.digest(key, pin.encode("utf-8", "surrogatepass"), "sha256")


def _out_of_memory() -> Unavailable:
    return Unavailable("Not enough memory to check a password; try again shortly.")


_PATIENCE = 4.0
"""Seconds after which a check that waits is refused: a guess is taken for interrupted after
``LONGEST_LOOK``."""


def _too_many() -> Unavailable:
    return Unavailable("Too many passwords are being checked; try again in a few seconds.")


class WorkThreads:
    """Runs costly functions in ``workers`` threads, the oldest of the lowest rank first. At most
    ``queue`` more of each of three ranks wait; they are dropped with their callers. Work that has
    begun occupies its thread until it ends, also when its caller is cancelled."""

    def __init__(self, workers: int, queue: int = 256) -> None:
        self._places = [BoundedSemaphore(workers + queue) for _ in range(3)]
        self._queue = PriorityQueue[tuple[int, int, Future[Any], Callable[[], Any]]]()
        self._numbers = itertools.count()
        self._executor = ThreadPoolExecutor(workers, "phoneprov-hash", _lower_priority)

    async def run(self, work: Callable[[], T], rank: int = 0, patience: float = float("inf")) -> T:
        """Raises ``Unavailable`` at once if the queue of the rank is full, when its turn comes
        after more than ``patience`` seconds, and after ``close``."""
        places, result = self._places[rank], Future[T]()
        if not places.acquire(blocking=False):
            raise _too_many()
        latest = time.monotonic() + patience

        def work_in_time() -> T:
            if time.monotonic() > latest:
                raise _too_many()
            return work()

        result.add_done_callback(lambda _: places.release())
        try:
            self._executor.submit(self._run_next)
        except RuntimeError:
            result.cancel()
            raise Unavailable("The server is stopping; try again shortly.") from None
        self._queue.put((rank, next(self._numbers), result, work_in_time))
        return await wrap_future(result)

    def _run_next(self) -> None:
        _, _, result, work = self._queue.get()  # each call has one entry
        if result.set_running_or_notify_cancel():
            try:
                result.set_result(work())
            except BaseException as error:  # noqa: BLE001 - raised to the caller
                result.set_exception(error)

    def close(self) -> None:
        """Accept no more work, and do not wait for the accepted one, which finishes."""
        self._executor.shutdown(wait=False)


def _lower_priority() -> None:
    """On Linux below the event loop, which would wait for a thread's time slice at each step."""
    with suppress(OSError):
        os.nice(10 if sys.platform == "linux" else 0)


def is_common(password: str) -> bool:
    """Whether this is, ignoring case, one of the 30,000 passwords that zxcvbn lists as the most
    frequent.

    The first call reads the list, which takes about 15 milliseconds.
    """
    return password.lower() in common_passwords()


@cache
def common_passwords() -> frozenset[str]:
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


# The data wraps characters of right-to-left scripts in this mark.
_LEFT_TO_RIGHT_MARK = "\u200e"


def looks(name: str) -> frozenset[str]:
    """The keys of a name: two names look the same if they share one.

    A skeleton maps each character to its prototype. Case is folded before it in one key and
    after it in the other: ``PaypaI`` with a capital i looks like ``paypal``, and ``ADMIN`` in
    Cyrillic letters like ``admin``.
    """
    name = unicodedata.normalize("NFKC", name)
    return frozenset({_skeleton(name.casefold()), _skeleton(_skeleton(name).casefold())})


def _skeleton(text: str) -> str:
    prototypes = confusable_characters()
    plain = unicodedata.normalize("NFD", text)
    mapped = "".join(prototypes.get(character, character) for character in plain)
    return unicodedata.normalize("NFD", mapped)


@cache
def confusable_characters() -> dict[str, str]:
    """The prototype of each confusable character; read once, and cached (1 MB).

    The package lists each pair in both directions. A character with one partner is mapped to
    it; of two that have only each other, one is the prototype of both.

    """
    data = files("confusable_homoglyphs").joinpath("confusables.json").read_bytes()
    pairs = {
        _bare(one): [_bare(partner["c"]) for partner in partners]
        for one, partners in msgspec.json.decode(data, type=dict[str, list[dict[str, str]]]).items()
    }
    prototypes = {}
    for one, partners in pairs.items():
        if len(one) == 1 and len(partners) == 1:
            (partner,) = partners
            mutual = len(partner) == 1 and pairs.get(partner) == [one]
            prototypes[one] = min(one, partner) if mutual else partner
    return prototypes


def _bare(text: str) -> str:
    return text.replace(_LEFT_TO_RIGHT_MARK, "") or text
