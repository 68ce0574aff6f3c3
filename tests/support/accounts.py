"""An account in requests and responses."""

FIELDS = [
    "uuid", "first_name", "last_name", "username", "email", "phone", "lang", "location",
    "nationality", "timezone", "is_active", "last_uuid", "last_login_ip", "last_logout_ip",
    "last_login_at", "created_at", "updated_at", "created_by", "created_ip", "updated_ip",
]  # fmt: skip

NEW = {
    "first_name": "Grace",
    "last_name": "Hopper",
    "username": "grace",
    "email": "grace@example.com",
    "password": "nanoseconds of wire",
}
