"""Settings of Asterisk's manager interface (AMI)."""

import ssl
from typing import Annotated

from phoneprov_adapters.runtime.networks import is_host
from phoneprov_core.kernel.field_types import SECRET, Redacted


class ManagerSettings(Redacted, frozen=True, kw_only=True):
    """Address and login of the manager interface; ``timeout`` bounds a whole call, in seconds.

    With ``tls`` the certificate is verified against the system's store, or only against the
    certificates in the file ``tls_ca``. Raises ValueError for an invalid value.
    """

    host: str
    port: int = 5038
    tls: bool = False
    tls_ca: str | None = None
    user: str
    secret: Annotated[str, SECRET]
    timeout: float = 5.0

    def __post_init__(self) -> None:
        if not is_host(self.host):
            raise ValueError("The manager's host is not a host name or an address.")
        if not 1 <= self.port <= 65535:
            raise ValueError("The manager's port must be from 1 to 65535.")
        if any(character in self.user + self.secret for character in "\r\n\0"):
            raise ValueError("The manager's user and secret must not contain line ends.")
        if not self.timeout > 0:
            raise ValueError("The manager's timeout must be more than 0 seconds.")


def tls_of(settings: ManagerSettings) -> ssl.SSLContext | None:
    """The TLS context, None for plain TCP. Raises ValueError if ``tls_ca`` cannot be read as
    certificates."""
    if not settings.tls:
        return None
    try:
        return ssl.create_default_context(cafile=settings.tls_ca)
    except OSError:
        raise ValueError(
            f"The file {settings.tls_ca} cannot be read or contains no certificates."
        ) from None
