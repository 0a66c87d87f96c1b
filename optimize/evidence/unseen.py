"""Records of train as a program prepares them, ranked as if they were new to the evidence ranker."""

from collections.abc import Mapping

import dspy

from aisr.optimize.evidence.rank_fit import Paper
from aisr.programs.judges.contract import SearchingProgram
from aisr.programs.records.base import Record
from aisr.programs.retrieval.evidence_ranker import EvidenceRanker
from aisr.tasks.task import Task


class Unseen:
    """Prepares records as a program does, but those of a paper that its ranker was fitted on by one that was not: the
    evidence of train is as hard to find then as that of dev, for demos, credit and decision layer."""

    def __init__(self, task: Task, program: SearchingProgram, rankers: Mapping[Paper, EvidenceRanker]) -> None:
        self._task = task
        self._program = program
        self._rankers = rankers

    def prepare(self, record: Record) -> dspy.Example:
        """See `Program.prepare`."""
        whole = self._program.ranker
        paper = tuple(self._task.searched(record).paragraphs.values()) if self._task.searched else ()
        self._program.ranker = self._rankers.get(paper, whole)
        try:
            return self._program.prepare(record)
        finally:
            self._program.ranker = whole
