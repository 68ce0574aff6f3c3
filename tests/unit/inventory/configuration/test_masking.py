"""Secrets are masked, and other text is not."""

import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from phoneprov_core.inventory.configuration.comparison import NumberedStars, masked
from phoneprov_core.kernel.secrets import has_secret_in_url, masked_urls, names_secret

FRONT_DESK = (Path(__file__).parent / "samples" / "sip_front_desk.cnf.xml").read_text("utf-8")
SECRETS = [
    "moat and bridge", "desk-1001", "correct-horse-1", "tr0ub4dor", "staple battery 9", "4711",
    "night-watch 7", "services:drawbridge", "portcullis", "9753", "old-drawbridge",
]  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        "password", "sshPassword", "phonePassword", "authPassword", "adminPassword", "PASSWORD",
        "wifipassword", "passphrase", "snmpCommunity", "communityString", "pin", "userPIN",
        "voicemailPin", "authName", "authUser", "authId", "secret", "clientSecret", "wepKey",
        "presharedKey", "wpaPsk", "privateKeys", "apiKey", "accessToken", "loginCredential",
    ],
)  # fmt: skip
def test_secret_names_are_recognised(name: str) -> None:
    assert names_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        "name", "displayName", "spanToPCPort", "holdResumeKey", "recentsSoftKey", "softKeyFile",
        "dialToneFromReleaseKey", "authenticationURL", "credentials", "pswdPersistent", "mapping",
        "key", "lineKeys", "author", "certHash", "processNodeName", "device", "compass", "",
    ],
)  # fmt: skip
def test_other_names_are_not_recognised_as_secrets(name: str) -> None:
    assert not names_secret(name)


def test_masking_real_configuration_hides_every_secret() -> None:
    assert [secret for secret in SECRETS if secret not in FRONT_DESK] == []

    shown = masked(FRONT_DESK)

    assert [secret for secret in SECRETS if secret in shown] == []


def test_masking_keeps_every_other_line() -> None:
    before, after = FRONT_DESK.split("\n"), masked(FRONT_DESK).split("\n")

    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        pattern = ".+".join(re.escape(part) for part in new.split("***"))
        assert re.fullmatch(pattern, old)
    assert sum(old != new for old, new in zip(before, after, strict=True)) == 14


@pytest.mark.parametrize(
    ("xml", "shown"),
    [
        ("<d><pin>1</pin></d>", "<d><pin>***</pin></d>"),
        ("<d><pin/><pin></pin><pin> \n</pin></d>", "<d><pin/><pin></pin><pin> \n</pin></d>"),
        ("<d><pin>a\r\n\tb\n</pin></d>", "<d><pin>***\r\n***\n</pin></d>"),
        ("<pin>a&amp;b<![CDATA[<c>]]><!-- d --></pin>", "<pin>***</pin>"),
        ("<d><pin><e><pin>1</pin></e></pin>2</d>", "<d><pin>***</pin>2</d>"),
        ("<d pin='1' a=\"2\" secret = \"\u00e93\"/>", "<d pin='***' a=\"2\" secret = \"***\"/>"),
        ("<d pin='' a='pin=\"1\"'/>", "<d pin='' a='pin=\"1\"'/>"),
        ("<d>\u00e9<pin>\u00e9</pin>\u00e9</d>", "<d>\u00e9<pin>***</pin>\u00e9</d>"),
        ("<d><!-- <pin>1</pin> --></d>", "<d><!-- <pin>***</pin> --></d>"),
        ("<d><!-- <x pin='2'> --></d>", "<d><!-- <x pin='***'> --></d>"),
        ("<d><![CDATA[ <pin>1</pin> ]]></d>", "<d><![CDATA[ <pin>***</pin> ]]></d>"),
        ("<d><![CDATA[<!-- <pin>1</pin>]]></d>", "<d><![CDATA[<!-- <pin>***</pin>]]></d>"),
        ("<?a pin='1'?><d/><!--<pin>2</pin>-->", "<?a pin='***'?><d/><!--<pin>***</pin>-->"),
        ("\ufeff<pin>1</pin><!-- pin='2' -->", "\ufeff<pin>***</pin><!-- pin='***' -->"),
        ("<d>ftp://a:b@c/</d>", "<d>ftp://***@c/</d>"),
        ("<d>http://c/?x=1&amp;PIN=2&amp;y</d>", "<d>http://c/?x=1&amp;PIN=***&amp;y</d>"),
        ("<d>a@b ?pin</d>", "<d>a@b ?pin</d>"),
    ],
)  # fmt: skip
def test_masking_covers_every_place_of_a_secret(xml: str, shown: str) -> None:
    assert masked(xml) == shown


@pytest.mark.parametrize("name", ["apikey", "auth", "Key", "session", "sig", "signature", "token"])
def test_secret_parameter_of_a_url_is_masked(name: str) -> None:
    url = f"https://c/?x=1&{name}=2b"

    assert masked_urls(url) == f"https://c/?x=1&{name}=***"
    assert has_secret_in_url(url)
    assert not has_secret_in_url("https://c/?x=1&keyboard=2b")


def test_numbered_masks_distinguish_secrets_across_texts() -> None:
    mask = NumberedStars()

    one = masked("<d><pin>1</pin><pin>2</pin><pin>1</pin></d>", mask)
    other = masked("<d><pin>3</pin><pin>2</pin></d>", mask)

    assert one == "<d><pin>***1</pin><pin>***2</pin><pin>***1</pin></d>"
    assert other == "<d><pin>***3</pin><pin>***2</pin></d>"


@given(st.text(st.characters(codec="utf-8", exclude_characters="<>&\r", min_codepoint=32)))
def test_secrets_of_any_characters_are_masked(secret: str) -> None:
    xml = f"<d>\n<a>1</a><password>{secret}</password>\n</d>"

    shown = masked(xml)

    expected = "***" if secret.strip() else secret
    assert shown == f"<d>\n<a>1</a><password>{expected}</password>\n</d>"
