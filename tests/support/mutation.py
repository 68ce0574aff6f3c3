"""Inputs that are nearly valid, which get furthest into a parser."""

import random
from collections.abc import Sequence

from hypothesis import strategies as st

LARGEST = 4096
"""Maximum bytes of an input; other tests cover the cost of large ones."""

_ANYWHERE = (
    b"\0", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xe2\x80\xae", b"\xd9\xa1", b"\xcc\x88",
    b"\xf0\x9f\x93\x9e", b"\n", b"\r\n", b"\t", b" ", b"%", b"-1", b"9" * 30, b"1e999", b"A" * 300,
)  # fmt: skip


class Mutations:
    """Changes members of ``corpus`` at random; ``words`` are tokens of the parser."""

    def __init__(
        self, corpus: Sequence[bytes], words: Sequence[bytes], random_choices: random.Random
    ) -> None:
        self._corpus = corpus
        self._words = (*words, *_ANYWHERE)
        self._chances = random_choices

    def one(self) -> bytes:
        """The next input; some are unchanged members of the corpus."""
        random_choices = self._chances
        content = bytearray(random_choices.choice(self._corpus))
        for _ in range(random_choices.choice((0, 1, 1, 1, 2, 2, 3, 8))):
            self._change(content)
        return bytes(content[:LARGEST])

    def _change(self, content: bytearray) -> None:
        random_choices = self._chances
        at = random_choices.randint(0, len(content))
        upto = min(len(content), at + random_choices.choice((1, 1, 2, 4, 16)))
        match random_choices.randrange(7):
            case 0 if content:
                content[at % len(content)] ^= 1 << random_choices.randrange(8)
            case 1 if content:
                content[at % len(content)] = random_choices.randrange(256)
            case 2:
                content[at:at] = random_choices.choice(self._words)
            case 3:
                content[at:upto] = random_choices.choice(self._words)
            case 4:
                del content[at:upto]
            case 5:
                content[at:at] = content[at:upto] * random_choices.choice((1, 2, 40))
            case _:
                other = random_choices.choice(self._corpus)
                content[at:] = other[random_choices.randint(0, len(other)) :]


def composed(corpus: Sequence[bytes], words: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """Inputs of tokens of a parser and random text."""
    piece = (
        st.sampled_from((*words, *corpus))
        | st.binary(max_size=8)
        | st.text(max_size=4).map(lambda text: text.encode("utf-8", "surrogatepass"))
    )
    return st.lists(piece, max_size=8).map(b"".join)
