"""Keys for tests, and parameters that make argon2 fast."""

from argon2 import Parameters, Type

from phoneprov_adapters.security.keys import SecretKeys

OLD_KEY = "a key of the tests from the time before"
NEW_KEY = "a key of the tests as good as any other"

OLD_KEYS = SecretKeys.parse(OLD_KEY)
NEW_KEYS = SecretKeys.parse(NEW_KEY)
BOTH_KEYS = SecretKeys.parse(f"{NEW_KEY},{OLD_KEY}")


def argon2_parameters(memory_cost: int = 64, time_cost: int = 1) -> Parameters:
    """argon2id that takes less than a millisecond."""
    return Parameters(
        type=Type.ID,
        version=19,
        salt_len=16,
        hash_len=32,
        time_cost=time_cost,
        memory_cost=memory_cost,
        parallelism=1,
    )
