"""The versions of other packages whose insides are leaned on. `pyproject.toml` has the same bounds, which only
installers read: who upgrades one package by hand would meet an error deep inside it, or none.
"""

import re
from importlib.metadata import PackageNotFoundError, version

from aisr.programs.errors import UserError

# The first version that was not tried; Ray may be absent.
BELOW = {"dspy": (3, 5), "mlflow": (3, 19), "gepa": (0, 2), "ray": (2, 61), "litellm": (1, 110)}


class Untried(UserError):
    """A package is installed in a version that this one was not made for."""


def check() -> None:
    """Raises `Untried` for the first package that is too new. A few milliseconds."""
    for package, below in BELOW.items():
        try:
            installed = version(package)
        except PackageNotFoundError:
            continue
        if tuple(int(part) for part in re.findall(r"\d+", installed)[:2]) >= below:
            bound = ".".join(map(str, below))
            raise Untried(
                f"{package} {installed} is installed; this version of aisr leans on insides of {package} and was made "
                f"for less than {bound}: pip install '{package}<{bound}'"
            )
