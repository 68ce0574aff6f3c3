"""Changes of a configuration that only a reset applies."""

import pytest

from phoneprov_core.inventory.configuration.findings import needing_reset

LINE = "<lines><line>1001</line></lines>"


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        (LINE, LINE.replace("1001", "1002"), ()),
        ("<idleURL>http://a</idleURL>", "<idleURL>http://b</idleURL>", ("idleURL",)),
        ("<servicesURL>http://a\n</servicesURL>", "<servicesURL>http://a </servicesURL>", ()),
        ("<idleURL/>", "<idleURL></idleURL>", ()),
        ("", "<loadInformation>SCCP45.9-4-2</loadInformation>", ("loadInformation",)),
        (
            "<loadInformation307 model='7911'>a</loadInformation307>",
            "<loadInformation307 model='7911'>b</loadInformation307>",
            ("loadInformation",),
        ),
        (
            "<userLocale><name>English</name></userLocale><networkLocale>US</networkLocale>",
            "<userLocale><name>German</name></userLocale><networkLocale>DE</networkLocale>",
            ("networkLocale", "userLocale"),
        ),
        (
            "<dateTimeSetting><timeZone>a</timeZone></dateTimeSetting>",
            "<dateTimeSetting><timeZone>b</timeZone></dateTimeSetting>",
            ("dateTimeSetting",),
        ),
        ("<idleURL>x</idleURL><a>1</a>", "<idleURL>x</idleURL><a>2</a>", ()),
        (
            "<idleURL>x</idleURL><servicesURL>s</servicesURL>",
            "<idleURL>y</idleURL><servicesURL>s</servicesURL>",
            ("idleURL",),
        ),
        ("<a><![CDATA[<idleURL>x</idleURL>]]></a>", "<a/>", ()),
        ("<!-- <idleURL>x</idleURL> --><a/>", "<a/>", ()),
    ],
)  # fmt: skip
def test_changes_that_need_a_reset_are_named(old: str, new: str, names: tuple[str, ...]) -> None:
    before, after = f"<device>{old}</device>", f"<device>{new}</device>"

    assert needing_reset(before, after) == names
    assert needing_reset(after, before) == names
    assert needing_reset(before, before) == ()
