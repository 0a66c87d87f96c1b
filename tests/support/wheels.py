"""Wheels built from a checkout, and environments that have one."""

import site
import subprocess
import sys
import venv
import zipfile
from pathlib import Path


def build_wheel(project: Path, target: Path) -> Path:
    """The wheel of a project, in an empty folder."""
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    subprocess.run(words, cwd=project, check=True, capture_output=True)
    return next(target.glob("*.whl"))


def files_in(wheel: Path) -> set[str]:
    """The files of the packages in a wheel."""
    with zipfile.ZipFile(wheel) as files:
        return {name for name in files.namelist() if ".dist-info/" not in name}


def install(place: Path, *wheels: Path) -> Path:
    """The interpreter of a new environment that has the wheels, and what it requires from the present one."""
    venv.create(place, with_pip=False)
    packages = place / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as files:
            files.extractall(packages)
    (packages / "required.pth").write_text("\n".join(site.getsitepackages()) + "\n", encoding="utf-8")
    return place / "bin" / "python"


def make_project(folder: Path) -> Path:
    """A user's project, whose own files have names that no library may import."""
    for name in ("metrics.py", "optimize.py", "programs/__init__.py", "benchmarks/__init__.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("raise ImportError('this file is the user\\'s own')\n", encoding="utf-8")
    return folder
