"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def _string(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "company_contacts",
        sa.Column("uuid", _string(36), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("work", sa.Text(), nullable=True),
        sa.Column("mobile", sa.Text(), nullable=True),
        sa.Column("home", sa.Text(), nullable=True),
        sa.Column("email", sa.Text(), nullable=True),
        sa.Column("ringtone", sa.Text(), nullable=True),
        sa.Column("department", sa.Text(), nullable=True),
        sa.Column("company", sa.Text(), nullable=True),
        sa.Column("location", sa.Text(), nullable=True),
        sa.Column("building", sa.Text(), nullable=True),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("created_at", _string(24), nullable=False),
        sa.PrimaryKeyConstraint("uuid", name=op.f("pk_company_contacts")),
    )
    with op.batch_alter_table("company_contacts", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_company_contacts_created_at_uuid"), ["created_at", "uuid"], unique=False
        )

    op.create_table(
        "deployments",
        sa.Column("uuid", _string(36), nullable=False),
        sa.Column("mac", _string(17), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("action", _string(16), nullable=False),
        sa.Column("profile_uuid", _string(36), nullable=False),
        sa.Column("profile_name", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("sha256", _string(64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("owner_uuid", _string(36), nullable=False),
        sa.Column("user_uuid", _string(36), nullable=True),
        sa.Column("filename", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=True),
        sa.Column("outcome", _string(16), nullable=False),
        sa.Column("failed_step", _string(16), nullable=True),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("steps", sa.Text(), nullable=False),
        sa.Column("restart", sa.Text(), nullable=True),
        sa.Column("confirmation", _string(16), nullable=False),
        sa.Column("confirmation_message", sa.Text(), nullable=True),
        sa.Column("confirmation_by", _string(24), nullable=True),
        sa.Column("confirmation_at", _string(24), nullable=True),
        sa.Column("created_at", _string(24), nullable=False),
        sa.Column("ended_at", _string(24), nullable=True),
        sa.PrimaryKeyConstraint("uuid", name=op.f("pk_deployments")),
        sa.UniqueConstraint("mac", "number", name=op.f("uq_deployments_mac_number")),
    )
    with op.batch_alter_table("deployments", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_deployments_created_at_uuid"), ["created_at", "uuid"], unique=False
        )
        for whose in ("mac", "owner_uuid", "profile_uuid", "user_uuid"):
            batch_op.create_index(
                batch_op.f(f"ix_deployments_{whose}_created_at_uuid"),
                [whose, "created_at", "uuid"],
                unique=False,
            )
        batch_op.create_index(batch_op.f("ix_deployments_outcome"), ["outcome"], unique=False)

    op.create_table(
        "extensions",
        sa.Column("uuid", _string(36), nullable=False),
        sa.Column("type", _string(16), nullable=False),
        sa.Column("extension", _text, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("password_sealed", sa.LargeBinary(), nullable=False),
        sa.Column("password_key_id", _string(16), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("voicemail", sa.Boolean(), nullable=False),
        sa.Column("voicemail_passcode_sealed", sa.LargeBinary(), nullable=True),
        sa.Column("voicemail_passcode_key_id", _string(16), nullable=True),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("created_at", _string(24), nullable=False),
        sa.Column("created_by", _string(36), nullable=True),
        sa.Column("updated_at", _string(24), nullable=False),
        sa.Column("updated_by", _string(36), nullable=True),
        sa.Column("created_ip", _string(45), nullable=False),
        sa.Column("updated_ip", _string(45), nullable=False),
        sa.PrimaryKeyConstraint("uuid", name=op.f("pk_extensions")),
        sa.UniqueConstraint("extension", name=op.f("uq_extensions_extension")),
    )
    with op.batch_alter_table("extensions", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_extensions_created_at_uuid"), ["created_at", "uuid"], unique=False
        )

    op.create_table(
        "kems",
        sa.Column("uuid", _string(36), nullable=False),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("mac", _string(17), nullable=True),
        sa.Column("ip", _string(45), nullable=True),
        sa.Column("connected_phone", _string(17), nullable=True),
        sa.Column("software_version", sa.Text(), nullable=True),
        sa.Column("software_type", sa.Text(), nullable=True),
        sa.Column("created_at", _string(24), nullable=False),
        sa.PrimaryKeyConstraint("uuid", name=op.f("pk_kems")),
    )
    with op.batch_alter_table("kems", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_kems_connected_phone"), ["connected_phone"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_kems_created_at_uuid"), ["created_at", "uuid"], unique=False
        )

    op.create_table(
        "leases",
        sa.Column("mac", _string(17), nullable=False),
        sa.Column("holder", _string(36), nullable=False),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("mac", name=op.f("pk_leases")),
    )
    op.create_table(
        "login_attempts",
        sa.Column("account_key", _string(64), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("first_at", sa.BigInteger(), nullable=False),
        sa.Column("last_at", sa.BigInteger(), nullable=False),
        sa.Column("locked_until", sa.BigInteger(), nullable=False),
        sa.Column("undecided", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("account_key", name=op.f("pk_login_attempts")),
    )
    with op.batch_alter_table("login_attempts", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_login_attempts_last_at"), ["last_at"], unique=False)

    op.create_table(
        "permissions",
        sa.Column("uuid", _string(36), nullable=False),
        sa.Column("level", sa.BigInteger(), nullable=False),
        sa.Column("name", _text, nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("created_at", _string(24), nullable=False),
        sa.PrimaryKeyConstraint("uuid", name=op.f("pk_permissions")),
        sa.UniqueConstraint("level", "name", name=op.f("uq_permissions_level_name")),
    )
    with op.batch_alter_table("permissions", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_permissions_created_at_uuid"), ["created_at", "uuid"], unique=False
        )

    op.create_table(
        "phones",
        sa.Column("mac", _string(17), nullable=False),
        sa.Column("brand", sa.Text(), nullable=True),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("hostname", sa.Text(), nullable=True),
        sa.Column("location", sa.Text(), nullable=True),
        sa.Column("phone_ip", _string(45), nullable=True),
        sa.Column("phone_vlan", sa.Text(), nullable=True),
        sa.Column("software_version", sa.Text(), nullable=True),
        sa.Column("software_type", sa.Text(), nullable=True),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("created_at", _string(24), nullable=False),
        sa.Column("updated_at", _string(24), nullable=False),
        sa.PrimaryKeyConstraint("mac", name=op.f("pk_phones")),
    )
    with op.batch_alter_table("phones", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_phones_created_at_mac"), ["created_at", "mac"], unique=False
        )

    op.create_table(
        "users",
        sa.Column("uuid", _string(36), nullable=False),
        sa.Column("first_name", sa.Text(), nullable=False),
        sa.Column("last_name", sa.Text(), nullable=False),
        sa.Column("username", sa.Text(), nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("phone", sa.Text(), nullable=True),
        sa.Column("lang", sa.Text(), nullable=False),
        sa.Column("location", sa.Text(), nullable=True),
        sa.Column("nationality", sa.Text(), nullable=True),
        sa.Column("timezone", sa.Text(), nullable=False),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("last_uuid", _string(36), nullable=True),
        sa.Column("last_login_ip", _string(45), nullable=True),
        sa.Column("last_logout_ip", _string(45), nullable=True),
        sa.Column("last_login_at", _string(24), nullable=True),
        sa.Column("created_at", _string(24), nullable=False),
        sa.Column("updated_at", _string(24), nullable=False),
        sa.Column("created_by", _string(36), nullable=True),
        sa.Column("created_ip", _string(45), nullable=False),
        sa.Column("updated_ip", _string(45), nullable=False),
        sa.Column("username_key", _text, nullable=False),
        sa.Column("email_key", _text, nullable=False),
        sa.PrimaryKeyConstraint("uuid", name=op.f("pk_users")),
        sa.UniqueConstraint("email_key", name=op.f("uq_users_email_key")),
        sa.UniqueConstraint("username_key", name=op.f("uq_users_username_key")),
    )
    with op.batch_alter_table("users", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_users_created_at_uuid"), ["created_at", "uuid"], unique=False
        )

    op.create_table(
        "vendor_phones",
        sa.Column("mac", _string(17), nullable=False),
        sa.Column("vendor", sa.Boolean(), nullable=False),
        sa.Column("created_at", _string(24), nullable=False),
        sa.PrimaryKeyConstraint("mac", name=op.f("pk_vendor_phones")),
    )
    with op.batch_alter_table("vendor_phones", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_vendor_phones_created_at_mac"), ["created_at", "mac"], unique=False
        )

    op.create_table(
        "vendor_services",
        sa.Column("uuid", _string(36), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("url", sa.Text(), nullable=True),
        sa.Column("type", sa.Text(), nullable=True),
        sa.Column("created_at", _string(24), nullable=False),
        sa.Column("updated_at", _string(24), nullable=False),
        sa.PrimaryKeyConstraint("uuid", name=op.f("pk_vendor_services")),
    )
    with op.batch_alter_table("vendor_services", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_vendor_services_created_at_uuid"), ["created_at", "uuid"], unique=False
        )

    op.create_table(
        "assignments",
        sa.Column("uuid", _string(36), nullable=False),
        sa.Column("user_uuid", _string(36), nullable=False),
        sa.Column("perm_uuid", _string(36), nullable=False),
        sa.Column("created_at", _string(24), nullable=False),
        sa.ForeignKeyConstraint(
            ["perm_uuid"],
            ["permissions.uuid"],
            name=op.f("fk_assignments_perm_uuid"),
            ondelete="RESTRICT",
        ),
        sa.ForeignKeyConstraint(
            ["user_uuid"], ["users.uuid"], name=op.f("fk_assignments_user_uuid"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("uuid", name=op.f("pk_assignments")),
        sa.UniqueConstraint("user_uuid", name=op.f("uq_assignments_user_uuid")),
    )
    with op.batch_alter_table("assignments", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_assignments_perm_uuid"), ["perm_uuid"], unique=False)

    op.create_table(
        "passwords",
        sa.Column("user_uuid", _string(36), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_uuid"], ["users.uuid"], name=op.f("fk_passwords_user_uuid"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_uuid", name=op.f("pk_passwords")),
    )
    op.create_table(
        "personal_contacts",
        sa.Column("uuid", _string(36), nullable=False),
        sa.Column("user_uuid", _string(36), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("work", sa.Text(), nullable=True),
        sa.Column("mobile", sa.Text(), nullable=True),
        sa.Column("home", sa.Text(), nullable=True),
        sa.Column("email", sa.Text(), nullable=True),
        sa.Column("ringtone", sa.Text(), nullable=True),
        sa.Column("created_at", _string(24), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_uuid"],
            ["users.uuid"],
            name=op.f("fk_personal_contacts_user_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("uuid", name=op.f("pk_personal_contacts")),
    )
    with op.batch_alter_table("personal_contacts", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_personal_contacts_user_uuid_created_at_uuid"),
            ["user_uuid", "created_at", "uuid"],
            unique=False,
        )

    op.create_table(
        "profiles",
        sa.Column("uuid", _string(36), nullable=False),
        sa.Column("user_uuid", _string(36), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("cnf_xml_sealed", sa.LargeBinary(), nullable=False),
        sa.Column("cnf_xml_key_id", _string(16), nullable=False),
        sa.Column("compatible_models", sa.Text(), nullable=False),
        sa.Column("software_type", _string(4), nullable=True),
        sa.Column("created_at", _string(24), nullable=False),
        sa.Column("updated_at", _string(24), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_uuid"], ["users.uuid"], name=op.f("fk_profiles_user_uuid"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("uuid", name=op.f("pk_profiles")),
    )
    with op.batch_alter_table("profiles", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_profiles_created_at_uuid"), ["created_at", "uuid"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_profiles_user_uuid_created_at_uuid"),
            ["user_uuid", "created_at", "uuid"],
            unique=False,
        )

    op.create_table(
        "profile_revisions",
        sa.Column("uuid", _string(36), nullable=False),
        sa.Column("profile_uuid", _string(36), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("sha256", _string(64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("cnf_xml_sealed", sa.LargeBinary(), nullable=False),
        sa.Column("cnf_xml_key_id", _string(16), nullable=False),
        sa.Column("created_at", _string(24), nullable=False),
        sa.Column("created_by", _string(36), nullable=True),
        sa.ForeignKeyConstraint(
            ["profile_uuid"],
            ["profiles.uuid"],
            name=op.f("fk_profile_revisions_profile_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("uuid", name=op.f("pk_profile_revisions")),
        sa.UniqueConstraint(
            "profile_uuid", "number", name=op.f("uq_profile_revisions_profile_uuid_number")
        ),
    )
    with op.batch_alter_table("profile_revisions", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_profile_revisions_cnf_xml_key_id_uuid"),
            ["cnf_xml_key_id", "uuid"],
            unique=False,
        )

    op.create_table(
        "service_sessions",
        sa.Column("mac", _string(17), nullable=False),
        sa.Column("user_uuid", _string(36), nullable=False),
        sa.Column("opened_at", _string(24), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_uuid"],
            ["users.uuid"],
            name=op.f("fk_service_sessions_user_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("mac", name=op.f("pk_service_sessions")),
    )
    with op.batch_alter_table("service_sessions", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_service_sessions_user_uuid"), ["user_uuid"], unique=False
        )

    op.create_table(
        "sessions",
        sa.Column("uuid", _string(36), nullable=False),
        sa.Column("user_uuid", _string(36), nullable=False),
        sa.Column("token_id", _string(36), nullable=False),
        sa.Column("previous_token_id", _string(36), nullable=True),
        sa.Column("exchanged_at", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("ends_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_uuid"], ["users.uuid"], name=op.f("fk_sessions_user_uuid"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("uuid", name=op.f("pk_sessions")),
    )
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_sessions_user_uuid"), ["user_uuid"], unique=False)

    op.create_table(
        "user_extensions",
        sa.Column("uuid", _string(36), nullable=False),
        sa.Column("user_uuid", _string(36), nullable=False),
        sa.Column("extension_uuid", _string(36), nullable=False),
        sa.Column("created_at", _string(24), nullable=False),
        sa.ForeignKeyConstraint(
            ["extension_uuid"],
            ["extensions.uuid"],
            name=op.f("fk_user_extensions_extension_uuid"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_uuid"],
            ["users.uuid"],
            name=op.f("fk_user_extensions_user_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("uuid", name=op.f("pk_user_extensions")),
        sa.UniqueConstraint(
            "user_uuid", "extension_uuid", name=op.f("uq_user_extensions_user_uuid_extension_uuid")
        ),
    )
    with op.batch_alter_table("user_extensions", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_user_extensions_created_at_uuid"), ["created_at", "uuid"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_user_extensions_extension_uuid_created_at_uuid"),
            ["extension_uuid", "created_at", "uuid"],
            unique=False,
        )

    op.create_table(
        "vendor_users",
        sa.Column("uuid", _string(36), nullable=False),
        sa.Column("user_uuid", _string(36), nullable=False),
        sa.Column("pin_code", sa.Text(), nullable=False),
        sa.Column("created_at", _string(24), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_uuid"],
            ["users.uuid"],
            name=op.f("fk_vendor_users_user_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("uuid", name=op.f("pk_vendor_users")),
        sa.UniqueConstraint("user_uuid", name=op.f("uq_vendor_users_user_uuid")),
    )


def downgrade() -> None:
    op.drop_table("vendor_users")
    with op.batch_alter_table("user_extensions", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_user_extensions_extension_uuid_created_at_uuid"))
        batch_op.drop_index(batch_op.f("ix_user_extensions_created_at_uuid"))

    op.drop_table("user_extensions")
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_sessions_user_uuid"))

    op.drop_table("sessions")
    with op.batch_alter_table("service_sessions", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_service_sessions_user_uuid"))

    op.drop_table("service_sessions")
    with op.batch_alter_table("profile_revisions", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_profile_revisions_cnf_xml_key_id_uuid"))

    op.drop_table("profile_revisions")
    with op.batch_alter_table("profiles", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_profiles_user_uuid_created_at_uuid"))
        batch_op.drop_index(batch_op.f("ix_profiles_created_at_uuid"))

    op.drop_table("profiles")
    with op.batch_alter_table("personal_contacts", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_personal_contacts_user_uuid_created_at_uuid"))

    op.drop_table("personal_contacts")
    op.drop_table("passwords")
    with op.batch_alter_table("assignments", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_assignments_perm_uuid"))

    op.drop_table("assignments")
    with op.batch_alter_table("vendor_services", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_vendor_services_created_at_uuid"))

    op.drop_table("vendor_services")
    with op.batch_alter_table("vendor_phones", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_vendor_phones_created_at_mac"))

    op.drop_table("vendor_phones")
    with op.batch_alter_table("users", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_users_created_at_uuid"))

    op.drop_table("users")
    with op.batch_alter_table("phones", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_phones_created_at_mac"))

    op.drop_table("phones")
    with op.batch_alter_table("permissions", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_permissions_created_at_uuid"))

    op.drop_table("permissions")
    with op.batch_alter_table("login_attempts", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_login_attempts_last_at"))

    op.drop_table("login_attempts")
    op.drop_table("leases")
    with op.batch_alter_table("kems", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_kems_created_at_uuid"))
        batch_op.drop_index(batch_op.f("ix_kems_connected_phone"))

    op.drop_table("kems")
    with op.batch_alter_table("extensions", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_extensions_created_at_uuid"))

    op.drop_table("extensions")
    with op.batch_alter_table("deployments", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_deployments_outcome"))
        for whose in ("mac", "owner_uuid", "profile_uuid", "user_uuid"):
            batch_op.drop_index(batch_op.f(f"ix_deployments_{whose}_created_at_uuid"))
        batch_op.drop_index(batch_op.f("ix_deployments_created_at_uuid"))

    op.drop_table("deployments")
    with op.batch_alter_table("company_contacts", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_company_contacts_created_at_uuid"))

    op.drop_table("company_contacts")
