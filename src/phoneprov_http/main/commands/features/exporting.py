"""``phoneprov export``: all records of a kind as a file."""

import asyncio
import errno
import filecmp
import io
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

import click

from phoneprov_adapters.composition.doctor_lines import SNAPSHOT_STAMP
from phoneprov_adapters.files.csv import CsvWriter
from phoneprov_adapters.files.vcard import DIRECTORIES, VcardWriter, is_vcard
from phoneprov_core.features.transfer.asterisk import Section
from phoneprov_core.features.transfer.sheets import EXTENSIONS
from phoneprov_core.features.transfer.use_cases import KINDS, columns_out
from phoneprov_core.kernel.errors import Refused
from phoneprov_http.main.commands.local_access import Acting, as_operator

_CONTENTS = {"profiles", "templates"}
"""Kinds that are exported with all that they contain, secrets too."""
_OF_THE_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS}
"""What the command was asked for is right, and the help would not."""

_ASTERISK = {"sccp": "chan_sccp", "pjsip": "chan_pjsip"}


@click.command("export")
@click.argument(
    "kind", metavar="KIND", type=click.Choice([kind for kind in KINDS if kind != "pins"])
)
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path))
@click.option(
    "--format",
    "format_",
    type=click.Choice(["auto", "csv", "vcard", "sccp", "pjsip"]),
    default="auto",
    show_default=True,
    help="sccp and pjsip are configuration files of Asterisk; auto is vcard for .vcf, else csv.",
)
@click.option("--with-secrets", is_flag=True, help="Include the passwords of extensions.")
@click.option(
    "--context",
    show_default="PHONEPROV_ASTERISK_CONTEXT",
    help="Context of PJSIP endpoints.",
)
def export(kind: str, file: Path, *, format_: str, with_secrets: bool, context: str | None) -> None:
    """Export all records of a kind. A FILE of - is standard output.

    KIND is users, extensions, user-extensions, phones, desks, kems, locations,
    company-directory, personal-directory, profiles or templates. An existing file is replaced when
    the export is complete and differs; a pipe or device is written to. Passwords of users and PINs
    are never exported. Profiles and templates are exported with all their texts. Only its owner can
    read a file with secrets.

    \b
      phoneprov export phones phones.csv
      phoneprov export company-directory - --format vcard
    """
    columns = columns_out(kind, with_secrets=with_secrets)
    if with_secrets and kind != EXTENSIONS.name:
        raise click.UsageError("--with-secrets is for extensions only.")
    if format_ in _ASTERISK and kind != "extensions":
        raise click.UsageError(f"--format {format_} is for extensions only.")
    if format_ == "vcard" and kind not in DIRECTORIES:
        raise click.UsageError("--format vcard is for directories only.")
    if _is_standard_output(file):
        file = Path("-")
    by_name = format_ == "auto" and kind in DIRECTORIES and is_vcard(file)
    as_vcard = format_ == "vcard" or by_name
    left_out: list[str] = []
    try:
        with written(file, private=with_secrets or kind in _CONTENTS) as out:

            async def write(at: Acting) -> int:
                if driver := _ASTERISK.get(format_):
                    sections = at.container.transfer().asterisk(
                        at.actor,
                        driver,
                        with_secrets=with_secrets,
                        context=context or at.container.settings().asterisk_context,
                    )
                    return await _write_sections(sections, out, left_out)
                rows = at.container.transfer().out(at.actor, kind, with_secrets=with_secrets)
                writer = VcardWriter(out) if as_vcard else CsvWriter(out, columns)
                count = 0
                async for piece in rows:
                    await asyncio.to_thread(writer.write, piece)
                    count += len(piece)
                return count

            count = as_operator(write)
        if format_ == "pjsip" and with_secrets and str(file) != "-":
            as_operator(_stamped)
    except BrokenPipeError:
        raise  # the reader closed the pipe, as ``head`` does: click exits without a message
    except OSError as error:
        if error.errno in _OF_THE_DISK:
            raise Refused(f"{file} cannot be written: {error.strerror}.") from None
        raise click.UsageError(f"{file} cannot be written ({error.strerror}).") from None
    except ValueError as error:
        raise click.UsageError(f"--context: {error}.") from None
    for line in left_out:
        click.echo(f"phoneprov: {line}", err=True)
    target = "standard output" if str(file) == "-" else file
    click.echo(f"{count} record(s) were written to {target}.", err=str(file) == "-")
    if left_out:
        sys.exit(1)


async def _stamped(at: Acting) -> None:
    """Note the time of the export for ``phoneprov doctor``."""
    (at.container.settings().data_dir / SNAPSHOT_STAMP).touch()


async def _write_sections(
    sections: AsyncIterator[Section], out: TextIO, left_out: list[str]
) -> int:
    count = 0
    out.write("; Written by phoneprov; changes made here are lost with the next export.\n\n")
    async for section in sections:
        out.write(section.text)
        if section.left_out is None:
            count += 1
        else:
            left_out.append(section.left_out)
    return count


@contextmanager
def written(file: Path, *, private: bool) -> Iterator[TextIO]:
    """Standard output for ``-``; what exists at ``file`` if that is no regular file (a pipe, a
    device); else a new file that replaces ``file``, or the target of a link, when complete. All in
    UTF-8."""
    if str(file) == "-":
        # Not in the encoding of the locale: it may lack letters, and no import could read it.
        out = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="")
        try:
            yield out
        finally:
            out.detach()  # flushes, and leaves standard output open
        return
    if _is_special(file):
        with file.open("w", encoding="utf-8", newline="") as special:
            yield special
        return
    file = file.resolve()
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        if not private:
            mask = os.umask(0)
            os.umask(mask)
            Path(name).chmod(0o666 & ~mask)
        if _is_same(Path(name), file):
            Path(name).unlink()
        else:
            Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _is_same(new: Path, file: Path) -> bool:
    """Whether the file exists with the same content and mode: it keeps its time then, by which
    other programs see a change."""
    if not file.is_file() or new.stat().st_mode != file.stat().st_mode:
        return False
    return filecmp.cmp(new, file, shallow=False)


def _is_standard_output(file: Path) -> bool:
    # To open /dev/stdout again truncates the file that the output is redirected to, and the last
    # message is then written over its beginning.
    with suppress(OSError, ValueError):
        names = {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}
        return str(file) in names and sys.stdout.fileno() == 1
    return False


def _is_special(file: Path) -> bool:
    if Path(os.path.normpath(file.absolute())).parts[1:2] in {("dev",), ("proc",)}:
        return True
    return file.exists() and not file.is_file()
