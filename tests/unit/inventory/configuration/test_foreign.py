"""A comparison with a text that another program wrote."""

from hypothesis import given, strategies as st

from phoneprov_core.inventory.configuration.comparison import (
    Compared,
    Comparison,
    compare,
    repeated,
)

OLD = "<device><a>sesame</a></device>"
SECRET = ((11, 17),)


def diff_of(new: str) -> Compared:
    return compare(Comparison(old=OLD, new=new, old_secrets=SECRET, is_foreign=True))


def test_secret_of_the_deployed_text_is_one_wherever_it_is() -> None:
    diff = diff_of("<device>\n<b>x sesame y</b>\n<!-- sesame -->\n</device>").diff or ""

    assert "sesame" not in diff
    assert "+<b>x ***1 y</b>" in diff
    assert "-<device><a>***1</a></device>" in diff


def test_text_with_a_fault_has_no_diff() -> None:
    assert diff_of("<a>sesame") == Compared(None, (), ())


@given(
    st.text("ab\u00e9", max_size=12), st.integers(0, 12), st.integers(0, 12), st.text("ab\u00e9")
)
def test_no_secret_is_left_where_its_repetitions_are_cut_out(
    old: str, start: int, end: int, new: str
) -> None:
    places = ((len(old[:start].encode()), len(old[:end].encode())),)
    secret = old[start:end].encode()

    content = new.encode()
    rest, done = [], 0
    for begin, stop in repeated(old, places, new):
        assert content[begin:stop] == secret
        rest.append(content[done:begin])
        done = stop
    rest.append(content[done:])
    assert not secret or all(secret not in piece for piece in rest)
