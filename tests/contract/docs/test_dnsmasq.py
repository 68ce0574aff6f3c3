"""The dnsmasq configurations of the how-to pages, checked by dnsmasq itself if it is installed."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[3] / "docs/how-to"
BLOCK = re.compile(r"```text\n# /etc/dnsmasq\.d/[^\n]*\n(.*?)```", re.DOTALL)
DNSMASQ = shutil.which("dnsmasq") or shutil.which("dnsmasq", path="/usr/sbin")


@pytest.mark.parametrize("page", ["without-an-ftp-server.md", "beside-a-tftp-server.md"])
def test_dnsmasq_configuration_of_a_page_is_valid(page: str, tmp_path: Path) -> None:
    [block] = BLOCK.findall((PAGES / page).read_text(encoding="utf-8"))
    assert "dhcp-option=150," in block
    if DNSMASQ is None:
        pytest.skip("dnsmasq is not installed: apt-get install dnsmasq-base")
    file = tmp_path / "phones.conf"
    file.write_text(block, encoding="utf-8")

    checked = subprocess.run(
        [DNSMASQ, "--test", "-C", str(file)], capture_output=True, text=True, check=False
    )

    assert checked.returncode == 0, checked.stderr
