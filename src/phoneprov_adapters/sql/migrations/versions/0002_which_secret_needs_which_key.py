"""Indexes of the key ids of secrets, so that counting them does not read the secrets."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_COLUMNS = (
    ("extensions", "password_key_id"),
    ("extensions", "voicemail_passcode_key_id"),
    ("profiles", "cnf_xml_key_id"),
)


def upgrade() -> None:
    for table, column in _COLUMNS:
        op.create_index(op.f(f"ix_{table}_{column}_uuid"), table, [column, "uuid"])


def downgrade() -> None:
    for table, column in reversed(_COLUMNS):
        op.drop_index(op.f(f"ix_{table}_{column}_uuid"), table_name=table)
