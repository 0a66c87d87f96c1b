"""What to compile, and whom to tell of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dspy

from aisr.artifact.program_file import Loaded
from aisr.optimize.datasets.corrected import Corrected
from aisr.optimize.search.champion import Contender
from aisr.optimize.search.compilation import Settings
from aisr.programs.judges.contract import JudgeProgram
from aisr.programs.vision.images import Gallery
from aisr.tasks.task import Task


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
    planted: int = 0  # how many records with a planted edit to add to train
    density: int = 1  # most planted edits in one of them
    hold: float | None = None  # share of claims that are to see gold evidence: the tokens to show are fitted to it
    priced: bool = False  # fewer, where twice as many would not be worth it
    decide: bool = True  # fit a decision layer
    members: Mapping[str, Loaded] = field(default_factory=dict)  # to make an ensemble of, instead of optimizing
    corrected: Corrected | None = None  # records that people corrected, which count as train
    gallery: Gallery | None = None  # where the records' pictures are


@dataclass(frozen=True)
class Watcher:
    """What to call as a compile goes on: a stage began, a record was judged, a contender was scored; and before all LM
    calls, with the student and the labelled examples of all splits."""

    stage: Callable[[str], None]
    judged: Callable[[], None]
    scored: Callable[[Contender], None]
    prepared: Callable[[JudgeProgram, Sequence[dspy.Example]], None] = lambda student, examples: None
