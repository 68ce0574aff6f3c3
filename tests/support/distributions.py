"""Packages with entry points, created by a test."""

from collections.abc import Mapping
from pathlib import Path


def distribution(folder: Path, name: str, modules: Mapping[str, str], entry_points: str) -> None:
    """Install a package in ``folder``: its modules by name, and its metadata. ``entry_points`` is
    the text of ``entry_points.txt``."""
    for module, source in modules.items():
        (folder / f"{module}.py").write_text(source, encoding="utf-8")
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8"
    )
    (info / "entry_points.txt").write_text(entry_points, encoding="utf-8")
