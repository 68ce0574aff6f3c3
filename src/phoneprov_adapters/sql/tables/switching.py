"""Phone profiles, their templates, deployments, batches and desks."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
    null,
)

from phoneprov_adapters.sql.tables.records import (
    Records,
    metadata,
    moment,
    owner,
    sealed_hash,
    string,
    table_of,
    text,
    uuid,
)
from phoneprov_core.deployments.model import Deployment
from phoneprov_core.desk_records import DeskRecord
from phoneprov_core.profiles.model import PROFILE_FIELDS, ProfileRecord, ProfileSearch
from phoneprov_core.templates.model import Template

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

profile_revisions = Table(
    "profile_revisions",
    metadata,
    uuid(),
    owner("profile_uuid", "profiles"),
    Column("number", Integer, nullable=False),
    *sealed_hash(),
    Column("size", BigInteger, nullable=False),
    Column("cnf_xml_sealed", LargeBinary, nullable=False),
    Column("cnf_xml_key_id", string(16), nullable=False),
    # The name of a template: the text is that of its values then, in JSON.
    Column("template", text, index=True),
    moment("created_at"),
    Column("created_by", string(36)),
    UniqueConstraint("profile_uuid", "number"),
    Index(None, "sha256_key_id", "uuid"),
    # Without it, finding the keys in use would read every configuration.
    Index(None, "cnf_xml_key_id", "uuid"),
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
TEMPLATES = Records(Template, templates, owner="name", one_name="template")

DEPLOYMENTS = Records(
    Deployment,
    table_of(
        Deployment,
        "deployments",
        Column("revision", Integer, nullable=False),
        Column("user_uuid", string(36)),
        Column("outcome", string(16), nullable=False, index=True),
        Column("template_revision", Integer),
        # Who used the phone until the next deployment, in JSON.
        Column("used_by", Text),
        UniqueConstraint("mac", "number"),
        Index(None, "mac", "created_at", "uuid"),
        Index(None, "profile_uuid", "created_at", "uuid"),
        Index(None, "owner_uuid", "created_at", "uuid"),
        Index(None, "user_uuid", "created_at", "uuid"),
        sealed=("sha256",),
        confirmation_by=string(24),
    ),
    one_name="deployment",
    audited=False,
    derived={"used_by": null()},
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

# The newest deployment with a place, for each MAC; owner and name are those of its profile then.
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

batches = Table(
    "batches",
    metadata,
    uuid(),
    Column("action", string(16), nullable=False),
    Column("profile_uuid", string(36)),
    Column("profile_name", Text),
    Column("revision", Integer),
    Column("model", Text),
    Column("location", Text),
    Column("software_type", Text),
    Column("at_once", Integer, nullable=False),
    Column("per_minute", Integer),
    Column("stop_after_failures", Integer),
    Column("wait_minutes", Integer, nullable=False),
    Column("user_uuid", string(36), nullable=False),
    Column("state", string(16), nullable=False),
    Column("message", Text),
    moment("created_at"),
    moment("ended_at", nullable=True),
    Column("holder", string(36), nullable=False),
    Column("process", string(36), nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("template", Text),
    moment("start_at", nullable=True),
    # The same in milliseconds: the clock of the database decides.
    Column("begins_at", BigInteger, nullable=False),
    Column("first", Integer),
    Column("first_minutes", Integer, nullable=False),
    Column("undo_on_stop", Boolean, nullable=False),
    Column("only_changed", Boolean, nullable=False),
    Column("undo_of", string(36)),
    Index(None, "created_at", "uuid"),
    Index(None, "ended_at"),
    Index(None, "undo_of"),
)

batch_phones = Table(
    "batch_phones",
    metadata,
    owner("batch_uuid", "batches", primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("mac", string(17), nullable=False),
    Column("state", string(16), nullable=False),
    Column("tries", Integer, nullable=False),
    Column("cut_off", Integer, nullable=False),
    Column("attempt_uuid", string(36), nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("not_before", BigInteger, nullable=False),
    moment("waiting_since", nullable=True),
    Column("deployment_uuid", string(36)),
    Column("message", Text),
    moment("started_at", nullable=True),
    moment("ended_at", nullable=True),
    Column("profile_uuid", string(36)),
    Column("undoes", string(36)),
    Column("attempts", Text, nullable=False),
    UniqueConstraint("batch_uuid", "mac"),
    # Finds the next phone and counts phones per state without reading the other rows.
    Index(None, "batch_uuid", "state", "not_before", "position"),
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
