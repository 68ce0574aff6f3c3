"""The shipped templates: no findings of the linter, and a phone gets what they give."""

import asyncio
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from phoneprov_adapters.composition.lifecycle import open_phoneprov
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.rendering.renderer import check, render
from phoneprov_core.features.serving.bootstrap import LOCALES
from phoneprov_core.features.templates.model import CreateTemplate
from phoneprov_core.features.templates.use_cases import TemplateValues
from phoneprov_core.inventory.configuration.findings import Severity
from phoneprov_core.inventory.configuration.lint import lint
from phoneprov_core.inventory.phones.model import PhonePatch
from phoneprov_core.inventory.profiles.model import ProfilePatch
from phoneprov_http.main.cli import main
from support.desk import ADA, MAC, phone_beside, populate, press_without_pauses, settings_for

FOLDER = Path(__file__).parents[3] / "examples/templates"
TEMPLATES = sorted(path.name for path in FOLDER.glob("*.cnf.xml"))
FAMILIES = {name: "SIP" if "sip" in name else "SCCP" for name in TEMPLATES}
PHONE = {"mac": MAC, "hex": MAC.replace(":", ""), "name": "Desk & <1>", "software_type": ""}
USER = {"last_name": "O'Neill", "lang": "en-GB"}
URLS = {name: f"http://pbx.example.com/phone/{name}?a=1&b=2"
        for name in ("authentication", "services", "directory")}  # fmt: skip
MODULES = [{"model": "CP-7916", "ip": ""}] * 2


def lines(count: int) -> list[dict[str, str | bool]]:
    return [
        {"number": f"100{n}", "name": "A & B", "password": "p", "voicemail": n == 1, "type": "x"}
        for n in range(count)
    ]


def test_every_announced_template_is_shipped() -> None:
    assert TEMPLATES == [
        "7945-sccp.cnf.xml", "7965-sccp-7916.cnf.xml", "8851-sip.cnf.xml", "bootstrap.cnf.xml"
    ]  # fmt: skip


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("urls", [URLS, {}], ids=["with urls", "without"])
def test_template_has_no_findings(name: str, urls: dict[str, str]) -> None:
    body = (FOLDER / name).read_text(encoding="utf-8")
    assert check(body) == ()
    given = TemplateValues(
        {"phone": {**PHONE, "software_type": FAMILIES[name]}, "user": USER, "urls": urls},
        {"lines": lines(3), "modules": MODULES, "services": []},
        {},
    )

    text = render(body, given, 512 * 1024).text

    found = lint(text.encode(), mac=MAC, family=FAMILIES[name])
    serious = [one for one in found if one.severity is not Severity.NOTE]
    # The bootstrap leaves the firmware of a phone of any model as it is.
    expected = ["There is no loadInformation: the phone keeps the firmware it has."]
    if urls:
        assert [one.message for one in serious] == (expected if "bootstrap" in name else [])
    assert not any(one.severity is Severity.ERROR for one in found)
    assert "{#" not in text
    if "7916" in name:
        assert text.count("<deviceType>7916</deviceType>") == 2
    if "sip" in name:
        assert text.count("<line button=") == 3
        assert text.count("<messagesNumber>") == 1


@pytest.mark.parametrize("name", [one for one in TEMPLATES if one != "bootstrap.cnf.xml"])
@pytest.mark.parametrize(
    ("lang", "values", "locale", "code"),
    [
        ("de-CH", {}, "German_Germany", "de"),
        ("fr", {}, "French_France", "fr"),
        ("es", {}, "Spanish_Spain", "es"),
        ("IT-it", {}, "Italian_Italy", "it"),
        ("nl", {}, "Dutch_Netherlands", "nl"),
        ("en-GB", {}, "English_United_States", "en"),
        ("pt", {}, "English_United_States", "en"),
        ("pt", {"locale": "Portuguese_Portugal"}, "Portuguese_Portugal", "pt"),
    ],
)
def test_template_sets_the_locale_of_the_user(
    name: str, lang: str, values: dict[str, str], locale: str, code: str
) -> None:
    body = (FOLDER / name).read_text(encoding="utf-8")
    given = TemplateValues(
        {"phone": PHONE, "user": {**USER, "lang": lang}, "urls": URLS},
        {"lines": lines(1), "modules": [], "services": []},
        values,
    )

    root = ElementTree.fromstring(render(body, given, 512 * 1024).text.encode())  # noqa: S314

    assert root.findtext("userLocale/name") == locale
    assert root.findtext("userLocale/langCode") == code
    if not values and locale != "English_United_States":
        assert locale in LOCALES


@pytest.mark.parametrize("name", TEMPLATES)
def test_simulated_phone_gets_the_rendered_configuration(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    press_without_pauses(monkeypatch)
    populate({"PHONEPROV_DATA_DIR": str(tmp_path / "data")})
    with phone_beside(tmp_path / "phone") as phone:
        environment = settings_for(phone, tmp_path / "data") | {"PHONEPROV_RESTART": "http"}

        async def use() -> None:
            async with open_phoneprov(read_settings({**os.environ, **environment})) as use_cases:
                actor = use_cases.system_actor()
                body = (FOLDER / name).read_text(encoding="utf-8")
                await use_cases.templates.create(actor, CreateTemplate(name="office", body=body))
                await use_cases.phones.update(actor, MAC, PhonePatch(software_type=FAMILIES[name]))
                (profile,) = [
                    one
                    for one in await (await use_cases.profiles.all(actor)).everything()
                    if one.name == ADA
                ]
                patch = ProfilePatch(template="office", values={"call_manager": "10.0.0.9"})
                await use_cases.profiles.update(actor, profile.uuid, patch)

        asyncio.run(use())
        done = CliRunner().invoke(main, ["switch", ADA, MAC], env=environment)

    assert done.exit_code == 0, done.output
    (file,) = (tmp_path / "phone").rglob("SEP*.cnf.xml")
    text = file.read_text(encoding="utf-8")
    assert "<processNodeName>10.0.0.9</processNodeName>" in text
    assert f"<deviceProtocol>{FAMILIES[name]}</deviceProtocol>" in text
