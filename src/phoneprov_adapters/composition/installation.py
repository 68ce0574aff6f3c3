"""What an installation consists of: its data folder, its database and its keys."""

from phoneprov_adapters.composition.container import Container
from phoneprov_adapters.composition.settings import Settings, SettingsError
from phoneprov_adapters.security.keys import key_file
from phoneprov_adapters.sql.engines.address import embedded_file
from phoneprov_adapters.sql.maintenance.key_rotation import MissingKeys


def make_folder(settings: Settings) -> None:
    """Create the data folder. Raises ``SettingsError``."""
    try:
        settings.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise SettingsError(
            f"PHONEPROV_DATA_DIR: the folder cannot be created ({error.strerror})."
        ) from None


def require_database(settings: Settings) -> None:
    """Check that the file of the embedded database exists, if the settings name one.

    For commands that must not create an installation in a wrong folder. Raises ``SettingsError``
    with the absolute path.
    """
    file = embedded_file(settings.database_url)
    if file is not None and not file.exists():
        raise _no_installation(f"There is no database at {file.absolute()}")


def require_installation(settings: Settings) -> None:
    """Like ``require_database``; with a shared database and without ``PHONEPROV_SECRET_KEYS`` the
    data folder, which contains the key, must exist. Raises ``SettingsError``."""
    require_database(settings)
    if settings.secret_keys is None and not settings.data_dir.exists():
        raise _no_installation(
            "PHONEPROV_SECRET_KEYS is not set, and there is no folder "
            f"{settings.data_dir.absolute()}"
        )


def _no_installation(missing: str) -> SettingsError:
    return SettingsError(
        f"{missing}. Run the command in the folder of the installation, or set "
        "PHONEPROV_DATA_DIR. phoneprov create-admin or phoneprov serve creates a new installation."
    )


async def require_keys(container: Container) -> None:
    """Check, while the database is open, that every key that its secrets need is configured.

    Raises ``SettingsError`` with the remedy. A key file that was just created in place of a lost
    one is removed again.
    """
    try:
        await container.rotation().require_all()
    except MissingKeys as missing:
        raise SettingsError(_remedy(container, missing.key_ids)) from None


def _remedy(container: Container, missing: tuple[str, ...]) -> str:
    settings, made = container.settings(), container.keys().made
    file = key_file(settings.data_dir)
    which = f"the key{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
    if made is not None:
        made.unlink(missing_ok=True)
        return (
            f"The key file {file} does not exist, and the database holds secrets that need {which}:"
            " put the file back, or name its keys in PHONEPROV_SECRET_KEYS."
        )
    where = "PHONEPROV_SECRET_KEYS" if settings.secret_keys is not None else f"The key file {file}"
    if pins_only := {key.id for key in container.keys().pins_only}.intersection(missing):
        return (
            f"{where} marks the key {', '.join(sorted(pins_only))} with pin:, but secrets in the"
            " database are encrypted with it: remove pin: and run phoneprov keys rotate."
        )
    unused = " (the key file in the data folder is not read when it is set)"
    return (
        f"{where} lacks {which}, which secrets in the database need"
        f"{unused if settings.secret_keys is not None and file.exists() else ''}:"
        " add what is missing after the others, separated by a comma, and run"
        " phoneprov keys rotate."
    )
