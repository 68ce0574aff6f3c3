"""Sign-in with the provider of the settings."""

import ssl

from dependency_injector.providers import Provider

from phoneprov_adapters.composition.adapters import (
    Adapters,
    box,
    clock,
    database,
    new_id,
    policy,
    tokens,
)
from phoneprov_adapters.composition.plugins import of, singleton
from phoneprov_adapters.composition.settings import Settings
from phoneprov_adapters.composition.variables import SettingsError
from phoneprov_adapters.runtime.tasks import log_login_failure
from phoneprov_adapters.security.crypto import BoxedSignIns
from phoneprov_adapters.sql.engines.transaction import Database
from phoneprov_core.features.identities.model import IdentityProvider, SignInPolicy, SignInSeal
from phoneprov_core.features.identities.use_cases import Identities, ProviderSignIn
from phoneprov_core.kernel.actor import LevelRule
from phoneprov_core.kernel.ports import Clock, NewId
from phoneprov_core.people.auth.model import Tokens
from phoneprov_core.people.users.model import AccountPolicy

CALLBACK = "/console/session/oidc/callback"


def provider_of(settings: Settings) -> IdentityProvider | None:
    """The provider, None if none is configured. Raises ``SettingsError``."""
    if not settings.oidc_issuer:
        return None
    from phoneprov_adapters import oidc  # noqa: PLC0415 - slow to load

    try:
        tls = ssl.create_default_context(cafile=settings.oidc_ca or None)
    except OSError:
        raise SettingsError(
            "PHONEPROV_OIDC_CA names a file without readable certificates."
        ) from None
    client = oidc.ClientSettings(
        issuer=settings.oidc_issuer,
        client_id=settings.oidc_client_id,
        client_secret=settings.oidc_client_secret or "",
        redirect_uri=settings.public_url + CALLBACK,
        scopes=settings.oidc_scopes,
        name_claim=settings.oidc_name_claim,
        group_claim=settings.oidc_group_claim,
    )
    return oidc.OpenIdProvider(client, oidc.ProviderWeb(tls))


def sign_in_of(
    settings: Settings,
    provider: IdentityProvider | None,
    database: Database,
    seal: SignInSeal,
    tokens: Tokens,
    accounts: AccountPolicy,
    level_rule: LevelRule,
    clock: Clock,
    new_id: NewId,
) -> ProviderSignIn | None:
    """Sign-in with the provider; None without one."""
    if provider is None:
        return None
    return ProviderSignIn(
        database=database,
        provider=provider,
        seal=seal,
        tokens=tokens,
        lifetimes=settings.lifetimes,
        policy=SignInPolicy(settings.oidc_issuer, settings.oidc_group, settings.oidc_create),
        accounts=accounts,
        level_rule=level_rule,
        clock=clock,
        new_id=new_id,
        guesses=settings.guesses_per_address,
        journal=log_login_failure,
    )


class IdentitiesContainer(Adapters):
    """Sign-in with the provider of the settings."""

    # fmt: off
    identity_provider: Provider[IdentityProvider | None] = singleton(
        provider_of, settings=of(Adapters.settings))
    provider_sign_in = singleton(
        sign_in_of, settings=of(Adapters.settings), provider=of(identity_provider),
        database=database, seal=of(singleton(BoxedSignIns, box=box)), tokens=tokens,
        accounts=policy, level_rule=of(Adapters.level_rule), clock=clock, new_id=new_id)
    identities = singleton(Identities, database=database)
    # fmt: on
