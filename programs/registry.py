"""All tasks by their names: a new one is a file beside this one, and a line here."""

from collections.abc import Mapping
from types import MappingProxyType

from aisr.programs.averitec.task import AVERITEC
from aisr.programs.context24_figures.task import CONTEXT24_FIGURES
from aisr.programs.context24_text.task import CONTEXT24_TEXT
from aisr.programs.draft.task import DRAFT
from aisr.programs.task import Task
from aisr.programs.track1.task import TRACK1
from aisr.programs.track2.task import TRACK2

_ALL: tuple[Task, ...] = (TRACK1, TRACK2, AVERITEC, CONTEXT24_FIGURES, CONTEXT24_TEXT, DRAFT)
_TASKS: dict[str, Task] = {task.name: task for task in _ALL}
TASKS: Mapping[str, Task] = MappingProxyType(_TASKS)
