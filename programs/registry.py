"""All tasks by their names, and how other packages add to a registry: by entry points.

A package adds a task by `[project.entry-points."aisr.tasks"]` with `name = "module:VALUE"`, an instance of `Task`.
Names are read from the metadata of installed packages, so that help costs no import of DSPy; a value is imported when
it is asked for. Our own names cannot be taken over.
"""

import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from aisr.base.errors import UserError

if TYPE_CHECKING:
    from aisr.programs.task import Task

T = TypeVar("T")
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


class Registry(Mapping[str, T], Generic[T]):
    """Values by their names, ours first. A value is imported when it is asked for, and checked by `problem`."""

    def __init__(self, group: str, what: str, own: Mapping[str, str]) -> None:
        """group: of entry points; what: the word for a value, in messages; own: "module:attribute" by name."""
        self.group = group
        self.what = what
        self._own = {name: EntryPoint(name, value, group) for name, value in own.items()}
        self._values: dict[str, T] = {}

    def problem(self, name: str, value: object) -> str | None:
        """What is wrong with the value of an entry point; None for nothing."""
        return None if callable(value) else f"it is {type(value).__name__}; expected a function"

    @cached_property
    def entries(self) -> dict[str, list[EntryPoint]]:
        """The entry points by their names; more than one where several packages offer the same name."""
        entries = {name: [entry] for name, entry in self._own.items()}
        for entry in sorted(entry_points(group=self.group), key=lambda entry: (entry.name, package_of(entry))):
            if entry.name in self._own:
                why = "aisr has one of that name"
            elif not NAME.fullmatch(entry.name):
                why = "expected at most 40 lower-case letters, digits and dashes"
            else:
                entries.setdefault(entry.name, []).append(entry)
                continue
            warnings.warn(f"{package_of(entry)}: {self.what} {entry.name[:80]!r} is ignored: {why}", stacklevel=2)
        return entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    def __getitem__(self, name: str) -> T:
        """The value of a name. Raises KeyError for an unknown name, and UserError for a value of another package that
        cannot be used."""
        if name not in self._values:
            self._values[name] = self._load(name, self.entries[name])
        return self._values[name]

    def usable(self) -> dict[str, T]:
        """All values but those of other packages that cannot be used."""
        values = {}
        for name in self:
            with suppress(UserError):
                values[name] = self[name]
        return values

    def _load(self, name: str, entries: list[EntryPoint]) -> T:
        if name in self._own:
            own: T = entries[0].load()
            return own
        if len(entries) > 1:
            packages = " and ".join(map(package_of, entries))
            raise UserError(f"{self.what} {name!r}: {packages} both have one of that name; uninstall all but one")
        try:
            value: T = entries[0].load()
            problem = self.problem(name, value)
        except (Exception, SystemExit) as error:  # whatever a stranger's module raises
            problem = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        if problem is not None:
            package = package_of(entries[0])
            raise UserError(f"{self.what} {name!r} of {package} cannot be used: {problem}; upgrade or uninstall it")
        return value


def package_of(entry: EntryPoint) -> str:
    """The package of an entry point with its version, for messages."""
    return f"package {entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown package"


class Tasks(Registry[Any]):
    """The tasks by their names."""

    def problem(self, name: str, value: object) -> str | None:
        """A value that is no `Task`, or has another name than its entry point."""
        from aisr.programs.task import Task

        if not isinstance(value, Task):
            return f"it is {type(value).__name__}; expected an instance of aisr.programs.task.Task"
        return None if value.name == name else f"the task calls itself {str(value.name)[:80]!r}"


TASKS: "Registry[Task]" = Tasks(
    "aisr.tasks",
    "task",
    {
        "track1": "aisr.programs.track1.task:TRACK1",
        "track2": "aisr.programs.track2.task:TRACK2",
        "averitec": "aisr.programs.averitec.task:AVERITEC",
        "context24-figures": "aisr.programs.context24_figures.task:CONTEXT24_FIGURES",
        "context24-text": "aisr.programs.context24_text.task:CONTEXT24_TEXT",
        "draft": "aisr.programs.draft.task:DRAFT",
    },
)
