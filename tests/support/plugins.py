"""Packages with entry points, installed for one test."""

from pathlib import Path
from typing import Any

import pytest

from aisr.programs.registry import TASKS, Registry


def install(
    monkeypatch: pytest.MonkeyPatch, folder: Path, package: str, points: str, registry: Registry[Any] = TASKS
) -> None:
    """Put a folder with the metadata of a package on Python's path. points: the lines of its entry points."""
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{registry.group}]\n{points}\n")
    monkeypatch.syspath_prepend(folder)
    refresh(monkeypatch, registry)


def refresh(monkeypatch: pytest.MonkeyPatch, registry: Registry[Any]) -> None:
    """Have a registry read the metadata of packages anew, now and after the test."""
    monkeypatch.setattr(registry, "_values", dict(registry._values))
    monkeypatch.setitem(registry.__dict__, "entries", None)
    del registry.__dict__["entries"]
