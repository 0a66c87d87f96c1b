"""The two tracks of NLPCC's shared task, which many tests are about, by their names."""

from collections.abc import Mapping

from optimize.tasks.task import Task
from optimize.tasks.track1 import TRACK1
from optimize.tasks.track2 import TRACK2

BOTH: Mapping[str, Task] = {task.name: task for task in (TRACK1, TRACK2)}
