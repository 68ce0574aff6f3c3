"""Profiles, users, directory and import in the console."""

import re
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from browser.console_rig import Console, Service, choose

# Profiles


def test_editor_marks_findings_and_jumps_to_their_lines(
    console: Console, screenshots: Path
) -> None:
    page = console.page
    console.go("Profiles")
    page.get_by_role("link", name="New profile").click()
    page.get_by_label("Name").fill("Night service")
    editor = page.get_by_label("Configuration")
    editor.fill("<device>\n" + "  <!-- nothing -->\n" * 60 + "  <loadInformation>x</device>\n")
    finding = page.get_by_role("button", name=re.compile("Line 62"))
    expect(finding).to_be_visible()
    finding.click()
    expect(editor).to_be_focused()
    selected = page.evaluate(
        "(e => e.value.slice(0, e.selectionStart).split('\\n').length)(document.activeElement)"
    )
    assert selected == 62
    expect(page.locator(".gutter .error")).to_have_text("62")
    page.screenshot(path=screenshots / "editor.png", full_page=True)
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("alert")).to_be_visible()

    editor.fill("<device>\n  <loadInformation>SCCP45.9-4-2SR3-1S</loadInformation>\n</device>\n")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="Night service")).to_be_visible()
    editor.fill("<device>\n  <loadInformation>SCCP45.9-3-1-1S</loadInformation>\n</device>\n")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#notices")).to_contain_text("Night service saved.")
    page.get_by_role("tab", name="Revisions").click()
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("region", name="Changes")).to_contain_text("SCCP45.9-3-1-1S")
    page.screenshot(path=screenshots / "revisions.png", full_page=True)


def test_unsaved_text_is_left_only_after_confirmation(console: Console) -> None:
    page = console.page
    questions: list[str] = []
    answers = [False, True]

    def answer(dialog: Any) -> None:
        questions.append(dialog.message)
        if answers.pop(0):
            dialog.accept()
        else:
            dialog.dismiss()

    page.on("dialog", answer)
    console.open("#/profiles/new")
    page.get_by_label("Name").fill("Not saved")
    page.get_by_role("navigation").get_by_role("link", name="Phones").click()
    expect(page.get_by_label("Name")).to_have_value("Not saved")
    page.get_by_role("navigation").get_by_role("link", name="Phones").click()
    expect(page.get_by_role("heading", name="Phones")).to_be_visible()
    assert questions == ["Discard your unsaved changes?"] * 2


# Users, directory, import


def test_user_gets_extension_level_and_pin(console: Console, screenshots: Path) -> None:
    page = console.page
    console.go("People")
    page.get_by_role("link", name="Grace Hopper").click()
    page.get_by_role("tab", name="Extensions").click()
    choose(page, "Extension", "2001 Reception")
    page.get_by_role("button", name="Link extension").click()
    expect(page.get_by_role("cell", name="Reception")).to_be_visible()
    page.get_by_role("button", name="Remove link").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove link").click()
    expect(page.get_by_role("cell", name="Reception")).to_have_count(0)
    page.get_by_role("tab", name="PIN").click()
    page.get_by_label("New PIN").fill("12")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("New PIN")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("New PIN").fill("2468")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#notices")).to_contain_text("PIN of Grace Hopper saved.")
    page.screenshot(path=screenshots / "person.png", full_page=True)


def test_contact_is_created_and_deleted(console: Console, screenshots: Path) -> None:
    page = console.page
    console.go("Directory")
    page.get_by_role("button", name="New contact").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Annabella Milbanke")
    dialog.get_by_label("Work").fill("2002")
    dialog.get_by_role("button", name="Create").click()
    contact = page.get_by_role("button", name="Annabella Milbanke")
    expect(contact).to_be_visible()
    page.screenshot(path=screenshots / "directory.png")
    contact.click()
    dialog.get_by_role("link", name="Audit").click()
    expect(page.get_by_role("table", name="Audit")).to_contain_text("Annabella Milbanke")
    page.go_back()
    contact.click()
    dialog.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").last.get_by_role("button", name="Delete").click()
    expect(contact).to_have_count(0)


def test_extension_and_kem_are_created_updated_and_deleted(
    console: Console, service: Service, screenshots: Path
) -> None:
    page = console.page
    dialog = page.get_by_role("dialog")
    console.go("People")
    page.get_by_role("link", name="Extensions").click()
    page.get_by_role("button", name="New extension").click()
    dialog.get_by_label("Extension").fill("2002")
    dialog.get_by_label("Name").fill("Workshop")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_label("Password")).to_have_attribute("aria-invalid", "true")
    dialog.get_by_label("Password").fill("line secret two")
    dialog.get_by_role("button", name="Create").click()
    page.get_by_role("button", name="2002").click()
    dialog.get_by_label("Voicemail", exact=True).check()
    page.screenshot(path=screenshots / "extension.png")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    (extension,) = service.api("GET", "extensions?q=2002")
    assert (extension["name"], extension["voicemail"]) == ("Workshop", True)
    page.get_by_label("Search").fill("2002")
    page.get_by_role("button", name="2002").click()
    dialog.get_by_role("button", name="Delete").click()
    dialog.last.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Nothing matches the search")).to_be_visible()

    console.go("Phones")
    page.get_by_role("link", name="Key expansion modules").click()
    page.get_by_role("button", name="New module").click()
    dialog.get_by_label("Model").fill("7916")
    dialog.get_by_label("Connected phone").fill("001bd4000004")
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("cell", name="00:1B:D4:00:00:04")).to_be_visible()
    console.open("#/phones/00:1B:D4:00:00:04")
    page.get_by_role("tab", name="Key expansion modules").click()
    expect(page.get_by_role("rowheader", name="7916")).to_be_visible()
    (module,) = service.api("GET", "vendor-kem")
    service.api("DELETE", f"vendor-kem/{module['uuid']}")


def test_import_dry_run_shows_rows_before_anything_is_written(
    console: Console, screenshots: Path
) -> None:
    page = console.page
    console.go("People")
    page.get_by_role("link", name="Import").click()
    page.get_by_label("Kind of records").select_option(label="Company directory")
    table = "name,work\nMary Shelley,2010\nLord Byron,2011\n"
    page.get_by_label("CSV or Excel file").set_input_files(
        {"name": "contacts.csv", "mimeType": "text/csv", "buffer": (table + ",2012\n").encode()}
    )
    expect(page.get_by_label("CSV text")).to_have_value(re.compile("Lord Byron"))
    expect(page.get_by_role("button", name="Import")).to_be_disabled()
    page.get_by_role("button", name="Dry run").click()
    expect(page.get_by_role("heading", name="Dry run: nothing was written")).to_be_visible()
    expect(
        page.get_by_role("row", name=re.compile("^4 , 2012 Wrong Name is required"))
    ).to_be_visible()
    expect(page.get_by_role("button", name="Import")).to_be_disabled()
    page.screenshot(path=screenshots / "import.png", full_page=True)
    page.get_by_label("CSV text").fill(table)
    page.get_by_role("button", name="Dry run").click()
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_role("heading", name="Imported")).to_be_visible()
    console.go("Directory")
    expect(page.get_by_role("button", name="Mary Shelley")).to_be_visible()
