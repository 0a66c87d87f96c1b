"""What an optimizer that reflects is told beside single records, and what it may not do with them.

A proposed instruction that quotes train sentences with their labels makes a model look better on train than it is, and
teaches it these sentences rather than the convention behind them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import dspy
from dspy.teleprompt.gepa import InstructionProposer

from aisr.predict.judge import Outcome
from aisr.programs.base import Judge
from aisr.programs.demos import wording
from aisr.programs.questions import SECTION
from aisr.programs.task import Task
from aisr.programs.text.compare import runs
from aisr.programs.text.units import sentences

MOST_WRITTEN = 4000  # characters of an instruction that may be proposed: every later call reads it
LEAST_LEFT = 0.5  # of an instruction, or it was mostly quotes
MOST_MIXED = 6  # kinds of mistake that are told
KEEP_OPTIONS = (
    f'End the instruction with the line "{SECTION}" and below it one line for each option, "- option: what it stands '
    'for", improved where the feedback shows that an option is misunderstood. '
)
NO_QUOTES = (
    "State rules that hold for records nobody has seen. Quote no sentence of the examples and name none of their "
    "subjects; describe the kind of sentence instead."
)


def mixed_up(task: Task, train: Sequence[dspy.Example], outcomes: Sequence[Outcome]) -> str:
    """Which way labels are mistaken for others over all of train, in words; empty without labels or mistakes.

    A miss counts against the first gold label of a statement, as in the official score.
    """
    if task.judgements is None:
        return ""
    total: Counter[str] = Counter()
    missed: Counter[tuple[str, str]] = Counter()
    said: Counter[str] = Counter()
    for example, outcome in zip(train, outcomes, strict=True):
        for allowed, judged in zip(task.judgements.allowed(example.gold), outcome.judgements, strict=False):
            total[allowed[0]] += 1
            said[judged.label] += 1
            if judged.label not in allowed:
                missed[allowed[0], judged.label] += 1
    if not missed:
        return ""
    told = [
        f"{gold} was called {label} {count} of {total[gold]} times"
        for (gold, label), count in sorted(missed.items(), key=lambda item: (-item[1], item[0]))[:MOST_MIXED]
    ]
    often = [
        f"{label} ({said[label]} times, right {total[label]})"
        for label in task.judgements.labels
        if said[label] > total[label]
    ]
    return (
        f"Over all {sum(total.values())} labels of the training records, under the first instruction: "
        f"{'; '.join(told)}. Said too often: {', '.join(often) or 'none'}. The labels count alike, however rare."
    )


class Reflection(InstructionProposer):
    """GEPA's proposer of instructions, which is told of the confusion over all of train, and whose instructions lose
    the sentences in which they quote a record of train. Raises ValueError for one that is mostly quotes, which ends
    GEPA's round."""

    def __init__(
        self, student: Judge, train: Sequence[dspy.Example], confusion: str, adapter: dspy.Adapter | None = None
    ) -> None:
        given = " ".join(predictor.signature.instructions for predictor in student.predictors())
        options = KEEP_OPTIONS if f"\n{SECTION}\n" in given else ""
        told = f"{NO_QUOTES} {options}{confusion}".strip()
        super().__init__(max_chars=MOST_WRITTEN, additional_instructions=told, adapter=adapter)
        rows = [row for example in train for row in student.demo_rows(example)]
        statements = [wording(row.get(student.statement)) for row in rows]
        self.known = frozenset[tuple[str, ...]]().union(*map(runs, statements)) - runs(given)

    def __call__(
        self,
        candidate: dict[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        proposed = super().__call__(candidate, reflective_dataset, components_to_update)
        return {name: self.without_quotes(text) for name, text in proposed.items()}

    def without_quotes(self, text: str) -> str:
        """An instruction without what it quotes."""
        if runs(text).isdisjoint(self.known):
            return text
        lines = [
            " ".join(part for part in sentences(line) if runs(part).isdisjoint(self.known)) if line.strip() else ""
            for line in text.splitlines()
        ]
        kept = "\n".join(lines).strip()
        if len(kept) < LEAST_LEFT * len(text) or not runs(kept).isdisjoint(self.known):
            raise ValueError("the proposed instruction quotes records of train")
        return kept
