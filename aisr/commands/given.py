"""What is refused of a command's words as they are read: nobody waits for DSPy to be told of a typing error."""

from typing import Any

import typer

from aisr.programs.errors import UserError
from aisr.tasks import names


def known_task(name: str | None) -> str | None:
    """What --task says. Raises UserError for the name of no task."""
    if name is not None and name not in names.TASK_NAMES:
        raise UserError(f"--task {name!r}; one of: {', '.join(names.TASK_NAMES)}")
    return name


def there(param: typer.CallbackParam, given: Any) -> Any:
    """The path or paths that an option or argument says. Raises UserError where one is no file."""
    option = f"{param.opts[-1]} " if param.param_type_name == "option" else ""
    for path in given if isinstance(given, list | tuple) else [given]:
        if path is not None and (path.is_dir() or not path.exists()):
            found = "a folder" if path.is_dir() else "no such file"
            expected = str(getattr(param, "help", None) or "a file").rstrip(".")
            raise UserError(f"{option}{path}: {found}; expected: {expected.partition(': ')[2] or expected}")
    return given
