"""The ASGI entry: ``phoneprov_http.main.server.asgi:make_app`` is a factory for any server."""

import gc
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from litestar import Litestar
from litestar.types import ASGIApp

from phoneprov_adapters.composition.container import Container
from phoneprov_adapters.composition.lifecycle import prepare, readiness, running
from phoneprov_adapters.composition.settings import Settings, check_names, read_settings
from phoneprov_adapters.composition.variables import SettingsError
from phoneprov_http.app import HttpSettings, create_app
from phoneprov_http.main.server.logs import set_up_logs
from phoneprov_http.main.server.metrics import with_metrics
from phoneprov_http.phone.language import BrokenCatalog, Languages


def make_app() -> ASGIApp:
    """The application with the settings of the environment."""
    set_up_logs()
    settings = read_settings(os.environ)
    check_names(settings)
    return app_over(prepare(settings))


def app_over(container: Container) -> ASGIApp:
    """The application over a container; the database is open while the server runs."""

    @asynccontextmanager
    async def lifespan(_: Litestar) -> AsyncIterator[None]:
        async with running(container, may_be_offline=True, batches=True):
            # What start-up made stays for good: the collector need not look at it again,
            # which would stop the loop for tens of milliseconds now and then.
            gc.collect()
            gc.freeze()
            yield

    use_cases, settings = container.use_cases(), http_settings(container.settings())
    app = create_app(use_cases, settings, ready=readiness(container), lifespan=[lifespan])
    return with_metrics(app, container)


def http_settings(settings: Settings) -> HttpSettings:
    """The part of the settings that the HTTP side has."""
    return HttpSettings(
        largest_body=settings.body_max,
        trusted_proxies=settings.trusted_proxies,
        phone_services=settings.phone_services,
        phone_url=settings.phone_url,
        languages=languages_of(settings),
        console=settings.console,
        provider=settings.oidc_label if settings.oidc_issuer else "",
        public_url=settings.public_url,
        asterisk_token=settings.asterisk_token,
        asterisk_networks=settings.asterisk_networks,
        asterisk_pjsip=settings.asterisk_pjsip,
    )


def languages_of(settings: Settings) -> Languages:
    """The languages of the pages for phones. Raises ``SettingsError``."""
    try:
        return Languages(settings.locale_dir, settings.language)
    except ValueError as error:
        name = "PHONEPROV_LOCALE_DIR" if isinstance(error, BrokenCatalog) else "PHONEPROV_LANGUAGE"
        raise SettingsError(f"{name}: {error}.") from None
