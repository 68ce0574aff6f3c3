"""The lines of Asterisk's manager protocol: written, and read with bounds.

A message is lines of ``Name: value`` that end in CR LF, and an empty line after them. An
answer repeats the ActionID of its action; events come in between, whenever they like.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

BANNER = "Asterisk Call Manager"
MESSAGE_LIMIT = 64 * 1024
"""More bytes than this in one line or one message are nonsense."""


class Broken(Exception):
    """The other side broke off, or does not speak the manager protocol."""


def written(name: str, action_id: str, fields: Iterable[tuple[str, str]]) -> bytes:
    """One action. Names and values must hold no line ends."""
    lines = (("Action", name), ("ActionID", action_id), *fields)
    return "".join(f"{key}: {value}\r\n" for key, value in lines).encode() + b"\r\n"


async def read_banner(reader: asyncio.StreamReader) -> None:
    """Reads the line a manager greets with; raises ``Broken`` when it is another."""
    if not (await _read_line(reader)).startswith(BANNER):
        raise Broken


async def read_answer(reader: asyncio.StreamReader, action_id: str) -> dict[str, str]:
    """The answer to one action: its fields, names in lower case, the first of each name.

    Events and answers to other actions are passed over. Raises ``Broken``.
    """
    while True:
        message = await read_message(reader)
        if "response" in message and message.get("actionid") == action_id:
            return message


async def read_message(reader: asyncio.StreamReader) -> dict[str, str]:
    """The next message, whatever it is: its fields, names in lower case, the first of each
    name. Raises ``Broken``."""
    message: dict[str, str] = {}
    size = 0
    while line := await _read_line(reader):
        size += len(line)
        if size > MESSAGE_LIMIT:
            raise Broken
        name, colon, value = line.partition(":")
        if colon:
            message.setdefault(name.strip().lower(), value.strip())
    return message


async def _read_line(reader: asyncio.StreamReader) -> str:
    try:
        line = await reader.readuntil(b"\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        raise Broken from None
    return line.decode("utf-8", "replace").rstrip("\r\n")
