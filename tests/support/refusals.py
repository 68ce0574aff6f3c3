"""The message of a refused value."""

from collections.abc import Callable


def refused(rule: Callable[[str], str], text: str) -> str | None:
    """The message of the ValueError that a rule raises for a text, or None."""
    try:
        rule(text)
    except ValueError as error:
        return str(error)
    return None
