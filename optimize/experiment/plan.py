"""What to compile, and whom to tell of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dspy

from aisr.optimize.datasets.corrected import Corrected
from aisr.optimize.search.champion import Contender
from aisr.optimize.search.compilation import Settings
from aisr.programs.base import Judge
from aisr.programs.task import Task
from aisr.programs.vision.images import Gallery


@dataclass(frozen=True)
class Plan:
    """What to compile, with which optimizer, on which files."""

    task: Task
    name: str
    optimizers: list[str]  # run one after the other, each from the champion so far
    settings: Settings
    options: dict[str, Any]
    data: dict[str, Path]  # split -> file; train and dev, and test where there is one
    limits: dict[str, int | None]  # split -> most records to take
    command: str
    decide: bool = True  # fit a decision layer
    corrected: Corrected | None = None  # records that people corrected, which count as train
    gallery: Gallery | None = None  # where the records' pictures are
    text: str = ""  # a plan file that repeats it


@dataclass(frozen=True)
class Watcher:
    """What to call as a compile goes on: a stage began, a record was judged, a contender was scored; and before all LM
    calls, with the student and the labelled examples of all splits."""

    stage: Callable[[str], None]
    judged: Callable[[], None]
    scored: Callable[[Contender], None]
    prepared: Callable[[Judge, Sequence[dspy.Example]], None] = lambda student, examples: None
