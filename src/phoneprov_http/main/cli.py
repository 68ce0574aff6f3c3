"""The command line."""

import ast
import errno
import gc
import importlib
import io
import sys
from pathlib import Path
from typing import Any, NoReturn

import click

from phoneprov_adapters.composition.variables import SettingsError
from phoneprov_core.kernel.errors import PhoneprovError
from phoneprov_core.switching.errors import NOT_RECORDED, OUTCOME_UNKNOWN

HELP = """Switch the desk phones of an office to the profiles of their users.

Settings come from environment variables (PHONEPROV_..., PUBLIC_REGISTER); a secret may come
from a file that PHONEPROV_..._FILE names. First steps:

\b
  phoneprov demo                       switch a simulated phone, step by step
  phoneprov create-admin --username ada --email ada@example.com
  phoneprov serve                      serve the API on http://127.0.0.1:8000
  phoneprov history 001bd4123456       the deployments of a phone; a star marks the current one
"""


# A command is imported when it is called: to import all of them takes a second.
_COMMANDS = {
    "serve": ("serve", "serve"),
    "create-admin": ("people", "create_admin"),
    "db": ("installation", "db"),
    "keys": ("installation", "keys"),
    "settings": ("settings", "show_settings"),
    "switch": ("switching.switch", "switch"),
    "preview": ("switching.switch", "preview"),
    "history": ("switching.history", "history"),
    "rollback": ("switching.switch", "rollback"),
    "restart": ("switching.switch", "restart"),
    "batch": ("features.batches", "batch"),
    "plan": ("features.rollout", "plan"),
    "rehearse": ("features.rollout", "rehearse"),
    "rollout": ("features.rollout", "rollout"),
    "template": ("features.templates", "template"),
    "profile": ("inventory.profile", "profile"),
    "lint": ("inventory.lint", "lint"),
    "import": ("features.transfer", "import_"),
    "sync": ("features.sync", "sync"),
    "join": ("features.joining", "join"),
    "leave": ("features.joining", "leave"),
    "undo": ("features.joining", "undo"),
    "export": ("features.transfer", "export"),
    "fleet": ("features.fleet", "fleet"),
    "watch": ("features.fleet", "watch"),
    "drill": ("features.fleet", "drill"),
    "desks": ("features.desks", "desks"),
    "desk": ("features.desks", "desk"),
    "phone-urls": ("features.desks", "phone_urls"),
    "demo": ("demo.command", "demo"),
    "load": ("features.serving", "load"),
    "provision": ("features.serving", "provision"),
    "simulate-phone": ("simulate", "simulate_phone"),
    "audit": ("people", "audit"),
    "prune": ("installation", "prune"),
    "backup": ("backup", "backup"),
    "restore": ("backup", "restore"),
    "doctor": ("installation", "doctor"),
    "openapi": ("serve", "openapi"),
}


_FOLDER = Path(__file__).parent / "commands"

UNKNOWN = 4
"""Exit code of a switch after which the old file or the new one is there."""
_IN_PLACE = 3
_REFUSED = 5
"""Exit code of a sync that wrote nothing, since its input may not be complete."""
_EXITS = {OUTCOME_UNKNOWN: UNKNOWN, NOT_RECORDED: _IN_PLACE, "sync_refused": _REFUSED}


class Commands(click.Group):
    """A group whose commands end with one line on standard error instead of a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click calls it
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        module, name = _COMMANDS[cmd_name]
        # Imported modules stay in memory; without this the collector would scan them repeatedly.
        gc.disable()
        try:
            command = getattr(
                importlib.import_module(f"phoneprov_http.main.commands.{module}"), name
            )
        finally:
            gc.enable()
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands. Their summaries are read from the sources: importing all commands
        takes a second."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, _summary(*where)) for name, where in _COMMANDS.items()])

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        _escape_what_is_not_shown()
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            _misused(error)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            _misused(error)
        except SettingsError as error:
            fail(str(error), 2)
        except PhoneprovError as error:
            details = "".join(f" {p.field}: {p.message}." for p in error.problems[1:])
            fail(error.message + details, _EXITS.get(error.code, 1))
        except (OSError, RuntimeError, MemoryError) as error:
            if (refusal := refusal_of(error)) is None:
                raise
            fail(refusal, 1)


def refusal_of(error: BaseException) -> str | None:
    """What a limit of the process refuses, and where the limit is set, in a sentence; None for
    another error."""
    number = getattr(error, "errno", None)
    if isinstance(error, MemoryError) or number == errno.ENOMEM:
        what = "more memory (ulimit -v, or MemoryMax of systemd, or the limit of the container)"
    elif number in {errno.EMFILE, errno.ENFILE}:
        what = "more open files (ulimit -n, or LimitNOFILE of systemd)"
    # Python has no error of its own for a thread that cannot be started.
    elif isinstance(error, RuntimeError) and str(error) == "can't start new thread":
        what = "another thread (ulimit -u, TasksMax of systemd, or the limit of the container)"
    elif number == errno.EAGAIN:
        what = "another process (ulimit -u, TasksMax of systemd, or the limit of the container)"
    else:
        return None
    return f"The system refuses {what}."


def _escape_what_is_not_shown() -> None:
    """Standard output, like standard error, escapes letters that the locale lacks; without that, a
    name ends a command in a traceback."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _summary(module: str, function: str) -> str:
    """The first sentence of the docstring of a command."""
    source = _FOLDER.joinpath(*module.split(".")).with_suffix(".py").read_text(encoding="utf-8")
    docs = {
        node.name: ast.get_docstring(node) or ""
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef)
    }
    return docs[function].partition("\n")[0].partition(". ")[0].removesuffix(".") + "."


def _misused(error: click.UsageError) -> NoReturn:
    """One line, where click prints three."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        raise error  # no command was given: the text is the help
    path = error.ctx.command_path if error.ctx else "phoneprov"
    message = error.format_message()
    stop = "" if message.endswith((".", "?", "!")) else "."
    fail(f"{message}{stop} See '{path} --help'.", 2)


def fail(message: str, code: int) -> NoReturn:
    """One line on standard error, and an exit code."""
    click.echo(f"phoneprov: {' '.join(message.split())}", err=True)
    sys.exit(code)


@click.group(cls=Commands, help=HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="phoneprov")
def main() -> None:
    """See HELP."""
