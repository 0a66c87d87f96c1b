"""All tasks by their names: a new one is a file beside this one, and a line here."""

from collections.abc import Mapping
from types import MappingProxyType

from aisr.tasks.averitec import AVERITEC
from aisr.tasks.context24_figures import CONTEXT24_FIGURES
from aisr.tasks.context24_text import CONTEXT24_TEXT
from aisr.tasks.draft import DRAFT
from aisr.tasks.task import Task
from aisr.tasks.track1 import TRACK1
from aisr.tasks.track2 import TRACK2

_ALL: tuple[Task, ...] = (TRACK1, TRACK2, AVERITEC, CONTEXT24_FIGURES, CONTEXT24_TEXT, DRAFT)
_TASKS: dict[str, Task] = {task.name: task for task in _ALL}
TASKS: Mapping[str, Task] = MappingProxyType(_TASKS)
