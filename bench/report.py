"""The measurements as a table, a chart, and a part of a page."""

import os
import platform
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.cases import Figures
from bench.serving import FLOOR, OURS, PEER


def as_markdown(measured: Sequence[Figures]) -> str:
    """Tables of all figures."""
    return "\n".join(line for figures in measured for line in _tables(figures))


def write_page(page: Path, measured: Sequence[Figures], switches: Sequence[str]) -> None:
    """Write the tables, and the lines about switches, to the page."""
    where = f"Python {platform.python_version()}, {os.cpu_count()} processors, {platform.system()}"
    middle = f"Measured on: {where}.\n\n{as_markdown(measured)}"
    if switches:
        middle += "\n".join(["\n### Switches\n", *(f"- {line}" for line in switches), ""])
    put_between(page, "measured", middle)


def put_between(page: Path, name: str, text: str) -> None:
    """Replace the text between the two marks of that name on a page."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    head, _, rest = page.read_text().partition(begin)
    _, _, tail = rest.partition(end)
    page.write_text(f"{head}{begin}\n{text}\n{end}{tail}")


def _tables(figures: Figures) -> Iterator[str]:
    yield f"### {figures.database}\n"
    yield "| Case | Stack | Requests a second | p50, ms | p99, ms | Processor, us | Failed |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    for case, found in figures.cases.items():
        for stack, one in found.items():
            yield (
                f"| {case} | {stack} | {one.rate:,.0f} | {one.p50:.1f} | {one.p99:.1f} "
                f"| {one.cpu:,.0f} | {one.failed} |"
            )
    yield ""
    yield "| Case | to the peer | to the floor |"
    yield "|---|---:|---:|"
    for case in figures.cases:
        yield f"| {case} | {_times(figures, case, PEER)} | {_times(figures, case, FLOOR)} |"
    yield ""
    yield "| Figure | |"
    yield "|---|---:|"
    for name, value in _notes(figures):
        yield f"| {name} | {value} |"
    yield ""


def _times(figures: Figures, case: str, to: str) -> str:
    ratio = figures.ratio(case, to)
    return "-" if ratio is None else f"{ratio:.2f} x"


def _notes(figures: Figures) -> Iterator[tuple[str, str]]:
    notes = figures.notes
    yield "start to first answer", f"{notes['start'] * 1000:,.0f} ms"
    yield "idle memory", f"{notes['idle']:,.0f} MiB"
    for stack, mebibytes in figures.memory.items():
        yield f"memory under load, {stack}", f"{mebibytes:,.0f} MiB"
    if "bare hashes" in notes:
        yield "hashes a second, by the library alone", f"{notes['bare hashes']:,.1f}"
        yield "logins to bare hashes", f"{notes['logins to bare hashes']:.2f} x"
    for number, found in figures.readers.items():
        alone, beside = found.alone, found.beside
        times = f"{beside.p99:.1f} / {alone.p99:.1f} ms, {beside.p99 / alone.p99:.1f} x"
        yield f"p99 of {number} readers, beside logins / alone", times
        rates = f"{beside.rate:,.0f} / {alone.rate:,.0f} a second"
        yield f"{number} readers, beside {found.logins:.1f} logins a second / alone", rates
    for name, read in figures.workers.items():
        yield f"read: {name}", f"{read.rate:,.0f} a second, {read.cpu:,.0f} us each"
    for stack in (OURS, FLOOR) if figures.workers else ():
        one, spread, two = (
            read.rate for name, read in figures.workers.items() if name.startswith(stack)
        )
        yield f"{stack}, 2 workers on 2 processors to 1 on 1", f"{two / one:.2f} x"
        yield f"{stack}, 2 workers on 2 processors to 1 on 2", f"{two / spread:.2f} x"
    for name, rate in notes.items():
        if name.startswith("rate among "):
            yield f"read, {name}", f"{rate:,.0f} a second"


def chart(measured: Sequence[Figures], file: Path) -> None:
    """A bar chart of the rate of the service: times the peer's, and share of the floor's."""
    import matplotlib as mpl  # noqa: PLC0415 - it takes a second, and most runs draw nothing

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "the same picture for the same figures"
    from matplotlib import pyplot  # noqa: PLC0415

    cases = list(dict.fromkeys(case for figures in measured for case in figures.cases))
    drawn, (left, right) = pyplot.subplots(1, 2, figsize=(10, 3.5))
    for axes, to, title in ((left, PEER, "times the peer"), (right, FLOOR, "part of the floor")):
        wide = 0.8 / len(measured)
        for number, figures in enumerate(measured):
            ratios = [figures.ratio(case, to) or 0 for case in cases]
            places = [place + number * wide for place in range(len(cases))]
            axes.barh(places, ratios, height=wide, label=figures.database)
        axes.set_yticks([place + wide / 2 for place in range(len(cases))], cases)
        axes.invert_yaxis()
        axes.axvline(1, color="black", linewidth=0.8)
        axes.set_title(f"Requests a second, {title}")
    left.legend()
    drawn.tight_layout()
    drawn.savefig(file, metadata={"Date": None, "Creator": None})
    pyplot.close(drawn)
