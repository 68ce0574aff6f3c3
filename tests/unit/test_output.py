"""Tables of the command line: in a pipe, on a wide and on a narrow terminal."""

from rich.cells import cell_len

from phoneprov_http.main.commands.terminal import table_lines

ROWS = [
    ["No.", "Phone", "Result"],
    ["1", "00:1B:D4:12:34:56", "deployed, restarted, confirmed: the phone registered again"],
    ["12", "電話", "failed at upload: " + "word " * 20],
]


def test_table_in_a_pipe_has_one_line_per_record() -> None:
    lines = table_lines(ROWS, None)

    assert len(lines) == 3
    assert lines[1].endswith("the phone registered again")
    assert not any(line != line.rstrip() for line in lines)


def test_table_on_a_terminal_fits_80_columns_and_loses_nothing() -> None:
    for width in (80, 40):
        lines = table_lines(ROWS, width)

        assert max(map(cell_len, lines)) <= width
        assert " ".join(" ".join(lines).split()).count("word") == 20
        assert "registered" in " ".join(lines)


def test_table_with_a_long_column_in_the_middle_fits_80_columns() -> None:
    rows = [["No.", "Profile", "Revision", "Result"], ["1", "long " * 20, "7", "deployed"]]

    lines = table_lines(rows, 80)

    assert max(map(cell_len, lines)) <= 80
    assert " ".join(lines).split()[4:] == ["1", *["long"] * 20, "7", "deployed"]


def test_table_with_wide_characters_is_aligned() -> None:
    lines = table_lines([["電話", "x"], ["ab", "y"]], None)

    assert [cell_len(line) for line in lines] == [7, 7]
