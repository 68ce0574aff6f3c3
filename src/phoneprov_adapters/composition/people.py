"""Accounts, sessions, rights, directories and the audit trail."""

from phoneprov_adapters.composition.adapters import (
    Adapters,
    clock,
    database,
    hasher,
    new_id,
    policy,
    setting,
    shared_write,
    tokens,
)
from phoneprov_adapters.composition.plugins import of, singleton
from phoneprov_adapters.runtime.tasks import log_login_failure
from phoneprov_core.people.audit import Audit
from phoneprov_core.people.auth.accounts import ChangePassword, CreateAdmin, Register
from phoneprov_core.people.auth.login import Login
from phoneprov_core.people.auth.sessions import (
    Authenticate,
    CheckServiceToken,
    Logout,
    Refresh,
    Sessions,
)
from phoneprov_core.people.directory.use_cases import CompanyDirectory, PersonalDirectory
from phoneprov_core.people.me import ApiTokens, Me
from phoneprov_core.people.permissions import Permissions, Rights, UserPermissions
from phoneprov_core.people.users.use_cases import Users
from phoneprov_core.people.vendor_users import VendorUsers


class PeopleContainer(Adapters):
    """Accounts, sessions, rights, directories and the audit trail."""

    # fmt: off
    create_admin = singleton(
        CreateAdmin, database=database, hasher=hasher, policy=policy, clock=clock,
        new_id=new_id)
    authenticate = singleton(
        Authenticate, database=database, tokens=tokens, secrets=of(Adapters.token_secrets),
        level_rule=of(Adapters.level_rule), clock=clock)
    login = singleton(
        Login, database=database, hasher=hasher, tokens=tokens,
        lifetimes=setting(lambda it: it.lifetimes), clock=clock, new_id=new_id,
        guesses=setting(lambda it: it.guesses_per_address), journal=log_login_failure,
        refused_issuer=setting(lambda it: it.refused_issuer))
    logout = singleton(Logout, database=database, tokens=tokens, clock=clock)
    refresh = singleton(
        Refresh, database=database, tokens=tokens,
        lifetimes=setting(lambda it: it.lifetimes), clock=clock, new_id=new_id)
    sessions = singleton(Sessions, database=database, clock=clock)
    change_password = singleton(
        ChangePassword, database=database, hasher=hasher, policy=policy, clock=clock,
        guesses=setting(lambda it: it.guesses_per_address), journal=log_login_failure)
    register = singleton(
        Register, database=database, hasher=hasher, policy=policy, clock=clock,
        new_id=new_id, public=setting(lambda it: it.public_register))
    check_service_token = singleton(
        CheckServiceToken, database=database, clock=clock, journal=log_login_failure)
    me = singleton(Me, database=database)
    api_tokens = singleton(
        ApiTokens, database=database, secrets=of(Adapters.token_secrets), clock=clock,
        new_id=new_id)
    users = singleton(
        Users, database=database, hasher=hasher, policy=policy, clock=clock, new_id=new_id)
    permissions = singleton(Permissions, database=database, clock=clock, new_id=new_id)
    user_permissions = singleton(UserPermissions, database=database, clock=clock, new_id=new_id)
    rights = singleton(Rights, database=database, clock=clock)
    audit = singleton(Audit, database=database, clock=clock)
    vendor_users = singleton(
        VendorUsers, database=database, hasher=hasher, clock=clock, new_id=new_id)
    company_directory = singleton(
        CompanyDirectory, database=database, shared_write=shared_write, clock=clock,
        new_id=new_id)
    personal_directory = singleton(
        PersonalDirectory, database=database, clock=clock, new_id=new_id,
        most_contacts=setting(lambda it: it.most_contacts))
    # fmt: on
