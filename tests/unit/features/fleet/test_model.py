"""What a phone is after it was adopted, or took the place of another."""

from msgspec.structs import replace

from phoneprov_core.features.fleet.model import successor
from phoneprov_core.features.serving.model import phone_seen

OLD = replace(
    phone_seen("00:1B:D4:12:34:56", "10.0.0.7", "7945", "then", "Desk 4", "Hall"),
    hostname="SEP001BD4123456",
    software_version="SCCP45",
    is_active=False,
)
NEW = "00:1B:D4:65:43:21"


def test_adopted_phone_has_what_was_seen_and_given() -> None:
    seen = (OLD.mac, OLD.phone_ip, OLD.model, OLD.name, OLD.location, OLD.created_at, OLD.brand)
    assert seen == (OLD.mac, "10.0.0.7", "7945", "Desk 4", "Hall", "then", None)


def test_successor_has_the_place_and_not_the_device() -> None:
    new = successor(OLD, NEW, "now", ip=None, model=None)
    assert (new.model, new.name, new.location) == ("7945", "Desk 4", "Hall")
    assert (new.hostname, new.phone_ip, new.software_version) == ("SEP001BD4654321", None, None)
    assert (new.is_active, new.created_at, new.updated_at) == (True, "now", "now")
    assert successor(OLD, NEW, "now", ip="10.0.0.8", model="8851").model == "8851"
