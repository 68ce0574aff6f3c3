"""Phone profiles, their templates, deployments, batches and desks."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Index,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
    literal_column,
    null,
)

from phoneprov_adapters.sql.tables.columns import (
    metadata,
    moment,
    owner,
    string,
    table_of,
    text,
    uuid,
)
from phoneprov_adapters.sql.tables.records import Records
from phoneprov_core.features.batches.model import Batch
from phoneprov_core.features.batches.ports import BatchItem
from phoneprov_core.features.desks.records import DeskRecord
from phoneprov_core.features.templates.model import Template, TemplateText
from phoneprov_core.inventory.profiles.model import ProfileRecord, Revision
from phoneprov_core.inventory.profiles.use_cases import PROFILE_FIELDS, ProfileSearch
from phoneprov_core.switching.deployments.model import Deployment

profiles = table_of(
    ProfileRecord,
    "profiles",
    Index(None, "user_uuid", "created_at", "uuid"),
    owners={"user_uuid": "users"},
    searched=ProfileSearch,
    software_type=string(4),
)
PROFILES = Records(
    ProfileRecord, profiles, owner="user_uuid", one_name="profile", search=PROFILE_FIELDS
)

profile_revisions = table_of(
    Revision,
    "profile_revisions",
    Column("cnf_xml_sealed", LargeBinary, nullable=False),
    Column("cnf_xml_key_id", string(16), nullable=False),
    # The name of a template: the text is that of its values then, in JSON.
    Column("template", text, index=True),
    # Whether level 0 saved it: its account may lose the level.
    Column("by_level_0", Boolean, nullable=False),
    UniqueConstraint("profile_uuid", "number"),
    # Without it, finding the keys in use would read every configuration.
    Index(None, "cnf_xml_key_id", "uuid"),
    owners={"profile_uuid": "profiles"},
    sealed=("sha256",),
    listed=False,
)

templates = table_of(
    Template,
    "configuration_templates",
    # Name, model and firmware family, since databases differ about equal nulls.
    Column("variant", text, nullable=False, unique=True),
    Index(None, "name", "created_at", "uuid"),
    sealed=("body",),
    name=text,
    software_type=string(4),
)
template_texts = table_of(
    TemplateText,
    "template_texts",
    UniqueConstraint("template_uuid", "number"),
    owners={"template_uuid": "configuration_templates"},
    sealed=("body",),
    required=("body",),
    listed=False,
)
TEMPLATES = Records(Template, templates, owner="name", one_name="template")

_IS_LOGIN: ColumnElement[bool] = literal_column("action") == literal_column("'login'")
_LOGINS: Any = {"sqlite_where": _IS_LOGIN, "postgresql_where": _IS_LOGIN}
DEPLOYMENTS = Records(
    Deployment,
    table_of(
        Deployment,
        "deployments",
        Column("outcome", string(16), nullable=False, index=True),
        # Who used the phone until the next deployment, in JSON.
        Column("used_by", Text),
        # The numbers in its text, in JSON, if a template made it.
        Column("numbers", Text),
        UniqueConstraint("mac", "number"),
        Index(None, "mac", "created_at", "uuid"),
        Index(None, "profile_uuid", "created_at", "uuid"),
        # Without it, each revision that no deployment names would read all of its profile.
        Index(None, "profile_uuid", "revision"),
        Index(None, "owner_uuid", "created_at", "uuid"),
        Index(None, "user_uuid", "created_at", "uuid"),
        # Without it, each phone of a batch would read all deployments of the owner of its profile.
        Index("ix_deployments_logins", "owner_uuid", "action", "created_at", **_LOGINS),
        sealed=("sha256",),
        required=("sha256", "size"),
        confirmation_by=string(24),
    ),
    one_name="deployment",
    audited=False,
    derived={"used_by": null(), "numbers": null()},
)
deployments = DEPLOYMENTS.table

# The texts that were rendered for deployments; the number is that of the last one with the text.
renderings = Table(
    "renderings",
    metadata,
    uuid(),
    owner("profile_uuid", "profiles", index=True),
    Column("mac", string(17), nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("content_sealed", LargeBinary, nullable=False),
    Column("content_key_id", string(16), nullable=False),
    Index(None, "mac", "number"),
    Index(None, "content_key_id", "uuid"),
)

# The newest deployment with a place, for each MAC; with owner and name of its profile at the time.
current_deployments = Table(
    "current_deployments",
    metadata,
    Column("mac", string(17), primary_key=True),
    Column("number", BigInteger, nullable=False),
    moment("created_at"),
    Column("uuid", string(36), nullable=False),
    Column("owner_uuid", string(36), nullable=False, server_default=""),
    Column("profile_name", text, nullable=False, server_default=""),
    Index(None, "created_at", "uuid"),
    Index(None, "owner_uuid", "mac"),
)

leases = Table(
    "leases",
    metadata,
    Column("mac", string(17), primary_key=True),
    Column("holder", string(36), nullable=False),
    Column("process", string(36), nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
)

batches = table_of(
    Batch,
    "batches",
    Column("holder", string(36), nullable=False),
    Column("process", string(36), nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    # ``start_at`` in milliseconds: the clock of the database decides.
    Column("begins_at", BigInteger, nullable=False),
    # The variants of templates when it was created, in JSON.
    Column("pinned", Text),
    Index(None, "ended_at"),
    Index(None, "undo_of"),
    without=("phones", "undone_by"),
    undo_of=string(36),
    as_of=string(24),
)

batch_phones = table_of(
    BatchItem,
    "batch_phones",
    owner("batch_uuid", "batches", primary_key=True),
    Column("position", BigInteger, primary_key=True),
    UniqueConstraint("batch_uuid", "mac"),
    # Finds the next phone and counts phones per state without reading the other rows.
    Index(None, "batch_uuid", "state", "not_before", "position"),
    key="position",
    listed=False,
    waiting_since=string(24),
    undoes=string(36),
    planned_profile=string(36),
)

# Users, profiles and phones may be deleted before the phone has another configuration: the desk
# stays until then, so there is no foreign key.
desks = table_of(
    DeskRecord,
    "desks",
    Index(None, "user_uuid"),
    Index(None, "change_user_uuid"),
    Index(None, "extension_uuid"),
    Index(None, "until"),
    Index(None, "due"),
    Index(None, "change_uuid"),
    key="mac",
    listed=False,
    since=string(24),
    until=string(24),
)
