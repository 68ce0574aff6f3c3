"""One copy of each configuration, in its revision, and no unkeyed hash of it.

Each save of a configuration created a revision, so that the copy in the profile equals that of its
newest revision. Hashes are sealed from this revision on, and existing ones are removed. They cannot
be sealed here, since migrations have no key. The hash of a revision can be computed from its
configuration; deployments from before this step have none.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_TABLES = ("profile_revisions", "deployments")


def _string(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    bind = op.get_bind()
    shared = bind.dialect.name == "postgresql"
    lost = bind.scalar(
        sa.text(
            "SELECT count(*) FROM profiles WHERE NOT EXISTS"
            " (SELECT 1 FROM profile_revisions WHERE profile_uuid = profiles.uuid)"
        )
    )
    if lost:
        raise RuntimeError(f"{lost} profile(s) have no revision; their configuration would be lost")
    if not shared:
        # What a statement frees is overwritten, so that the file does not keep the hashes.
        op.execute("PRAGMA secure_delete = ON")
    op.drop_index(op.f("ix_profiles_cnf_xml_key_id_uuid"), table_name="profiles")
    op.drop_column("profiles", "cnf_xml_sealed")
    op.drop_column("profiles", "cnf_xml_key_id")
    for table in _TABLES:
        op.drop_column(table, "sha256")
        op.add_column(table, sa.Column("sha256_sealed", sa.LargeBinary(), nullable=True))
        op.add_column(table, sa.Column("sha256_key_id", _string(16), nullable=True))
        op.create_index(op.f(f"ix_{table}_sha256_key_id_uuid"), table, ["sha256_key_id", "uuid"])
        if shared:
            # PostgreSQL keeps the values of a dropped column until the table is rewritten.
            op.execute(f"CLUSTER {table} USING pk_{table}")
            op.execute(f"ALTER TABLE {table} SET WITHOUT CLUSTER")


def downgrade() -> None:
    # A configuration is sealed for its place in the revision; moving it needs a key.
    if op.get_bind().scalar(sa.text("SELECT count(*) FROM profiles")):
        raise RuntimeError("There are profiles: the schema cannot go back before step 0005.")
    for table in reversed(_TABLES):
        op.drop_index(op.f(f"ix_{table}_sha256_key_id_uuid"), table_name=table)
        op.drop_column(table, "sha256_key_id")
        op.drop_column(table, "sha256_sealed")
        op.add_column(table, sa.Column("sha256", _string(64), nullable=False, server_default=""))
    op.add_column(
        "profiles",
        sa.Column("cnf_xml_sealed", sa.LargeBinary(), nullable=False, server_default=""),
    )
    op.add_column(
        "profiles", sa.Column("cnf_xml_key_id", _string(16), nullable=False, server_default="")
    )
    op.create_index(op.f("ix_profiles_cnf_xml_key_id_uuid"), "profiles", ["cnf_xml_key_id", "uuid"])
