"""The names that a template is given for a phone and a user."""

from phoneprov_core.features.serving.model import phone_seen
from phoneprov_core.features.templates.model import Template
from phoneprov_core.features.templates.recipes import Recipe, given_by
from phoneprov_core.inventory.extensions import Extension
from phoneprov_core.inventory.phone_parts import Kem
from phoneprov_core.kernel.commands import filled


def test_given_names_are_texts_of_the_records_and_empty_for_null() -> None:
    phone = phone_seen("00:1B:D4:12:34:56", "10.0.0.7", None, "", "Desk 4")
    template = filled(Template, uuid="", name="", body="", revision=1, created_at="", updated_at="")
    line = filled(
        Extension, uuid="", type="custom", extension="1001", name="Ada", password="pw",
        voicemail=True, is_active=True, created_at="", updated_at="", created_ip="", updated_ip="",
    )  # fmt: skip
    module = filled(Kem, uuid="", model="CP-7916", created_at="")

    given = given_by(Recipe(template, phone, "SCCP", None, (line,), (module,), (), {}), "")

    assert given.objects["phone"] == {
        "mac": "00:1B:D4:12:34:56", "hex": "001BD4123456", "name": "Desk 4", "model": "",
        "location": "", "ip": "10.0.0.7", "vlan": "", "software_type": "SCCP",
    }  # fmt: skip
    expected = {
        "number": "1001", "name": "Ada", "password": "pw", "voicemail": True, "type": "custom",
    }  # fmt: skip
    assert given.lists["lines"] == [expected]
    assert given.lists["modules"] == [{"model": "CP-7916", "ip": ""}]
