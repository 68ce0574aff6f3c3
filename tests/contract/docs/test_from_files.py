"""The commands of the page about learned templates run as written, and print the shown output."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from contract.docs.test_put_back import pattern
from support.command_line import without_settings

PAGE = Path(__file__).parents[3] / "docs/how-to/from-files-to-a-template.md"
BLOCK = re.compile(r"^```(sh|console)\n(.*?)^```", re.DOTALL | re.MULTILINE)
CODE = re.compile("@@@ code ([0-9]+)\n")


def test_page_from_files_to_a_template_runs_as_written(tmp_path: Path, commands: str) -> None:
    script, shown = [], []
    for language, block in BLOCK.findall(PAGE.read_text("utf-8")):
        if language == "sh":
            script.append(f"{block}\necho '@@@ code 0'")
            continue
        for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            script.append(f'{command} && code=0 || code=$?\necho "@@@ code $code"')
            shown.append((len(script) - 1, command, output))
    bash = shutil.which("bash")
    assert bash is not None

    done = subprocess.run(
        [bash, "-e", "-c", "\n".join(script)], cwd=tmp_path, capture_output=True, text=True,
        env=without_settings(PATH=f"{commands}:{os.environ['PATH']}"), timeout=300, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    printed = CODE.split(done.stdout)
    assert len(shown) == 8
    for number, command, output in shown:
        text, code = printed[2 * number], printed[2 * number + 1]
        assert re.fullmatch(pattern(output), text), f"{command}\n{text}"
        assert code == ("3" if "--undo-on-stop" in command else "0"), f"{command}\n{done.stderr}"
