"""The two tracks of NLPCC's shared task, which many tests are about, by their names."""

from collections.abc import Mapping

from aisr.programs.task import Task
from aisr.programs.track1 import TRACK1
from aisr.programs.track2 import TRACK2

BOTH: Mapping[str, Task] = {task.name: task for task in (TRACK1, TRACK2)}
