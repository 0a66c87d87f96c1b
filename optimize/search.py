"""What an optimizer works on: the program, the records, the settings, and who is asked.

Which records may stand in a prompt as demos: every kind of label among them, and none too long.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from types import MappingProxyType
from typing import Any, NamedTuple

import dspy

from aisr.lm.client import OpenLM
from aisr.optimize.objective import Objective
from aisr.programs.base import Judge
from aisr.programs.demos import MARKS
from aisr.programs.errors import UserError
from aisr.programs.images import is_harmless
from aisr.programs.probabilities import is_complete
from aisr.programs.task import Task
from aisr.programs.text import length


class Candidate(NamedTuple):
    """A program that an optimizer left, and where it came from ("random-search 2")."""

    name: str
    program: Judge


@dataclass(frozen=True)
class Settings:
    """What can be set of an optimizer. demos: most few-shot examples; demo_tokens: what they may take together, about;
    candidates: how many programs it may try."""

    demos: int = 4
    demo_tokens: int = 3000
    candidates: int = 4
    seed: int = 0


@dataclass(frozen=True)
class Compilation:
    """What an optimizer works on. Examples carry `gold` beside their fields.

    baseline: makes the objective; it is called, and its LM calls are made, only if the optimizer looks at scores.
    """

    task: Task
    student: Judge
    train: Sequence[dspy.Example]
    dev: Sequence[dspy.Example]
    baseline: Callable[[], Objective]
    settings: Settings
    lm: OpenLM
    teacher: OpenLM  # what writes demos and instructions; often the LM itself
    note: Callable[[str], None]
    sources: Sequence[int] = ()  # the group of each record of train, two groups sharing no evidence; none: unknown

    @property
    def fields(self) -> list[str]:
        """The fields that a demo shows, of whichever predictor."""
        return sorted({name for predictor in self.student.predictors() for name in predictor.signature.fields})

    @property
    def pool(self) -> list[dspy.Example]:
        """The records of train that may become demos, each with the evidence that its answer names, in a seeded order
        in which the kinds of label take turns."""
        whole = [example for example in self.train if not example.get("incomplete")] or self.train
        short = affordable(whole, self.fields, self.settings.demos, self.settings.demo_tokens)
        kinds = [self.task.kinds(example.gold) for example in short]
        return balanced(short, kinds, self.settings.seed)

    @property
    def taught(self) -> list[dspy.Example]:
        """The records that the program's own answers on may become demos: as `pool`, but where a record as it stands
        would be a poor demo, cut to what teaches, so that no record is too long and none lacks its evidence."""
        cut = [(self.lesson(example), example) for example in self.train]
        whole = [lesson or example for lesson, example in cut if lesson or not example.get("incomplete")] or self.train
        short = affordable(whole, self.fields, self.settings.demos, self.settings.demo_tokens)
        return balanced(short, [self.task.kinds(example.gold) for example in short], self.settings.seed)

    @cached_property
    def objective(self) -> Objective:
        return self.baseline()

    @property
    def teaching(self) -> dict[str, Any]:
        """What DSPy's optimizers are to ask the teacher by; nothing where that is the LM itself."""
        return {} if self.teacher is self.lm else {"lm": self.teacher.lm, "adapter": self.teacher.adapter}

    def lesson(self, example: dspy.Example) -> dspy.Example | None:
        """A record that is one call, cut to what teaches; None where it teaches as it stands."""
        as_is, lessons = self.student.demo_rows(example), self.student.lessons(example)
        return lessons[0] if len(as_is) == len(lessons) == 1 and lessons[0].toDict() != as_is[0].toDict() else None


def strip(program: Judge) -> None:
    """Leave in a compiled program what it needs: no LM; of a predictor the demos that hold its answer and that can be
    loaded again, and of each the fields that the signature has."""
    program.set_lm(None)
    for _, predictor in program.named_predictors():
        fields = {*predictor.signature.fields, "augmented", *MARKS}
        rows = [{name: value for name, value in dict(demo).items() if name in fields} for demo in predictor.demos]
        outputs = predictor.signature.output_fields
        predictor.demos = [row for row in rows if is_complete(row, outputs) and is_harmless(row)]
        predictor.traces, predictor.train = [], []


def identity(program: Judge) -> str:
    """What tells a program from others: its options, instructions and demos."""
    predictors = [(name, p.signature.instructions, p.demos) for name, p in program.named_predictors()]
    return str((program.options, predictors))


# More demos are not longer ones: each may take 750 tokens. SIMBA's calls grow with the square of the candidates, which
# is what keeps "heavy" at eight.
BUDGETS: Mapping[str, Settings] = MappingProxyType(
    {
        "light": Settings(demos=4, demo_tokens=3000, candidates=2),
        "medium": Settings(demos=4, demo_tokens=3000, candidates=4),
        "heavy": Settings(demos=8, demo_tokens=6000, candidates=8),
    }
)
USUAL = "medium"


def settings(
    budget: str,
    seed: int,
    demos: int | None = None,
    demo_tokens: int | None = None,
    candidates: int | None = None,
) -> Settings:
    """The settings of a budget, but for what is said besides. Raises UserError for no budget."""
    if budget not in BUDGETS:
        raise UserError(f"--budget {budget!r}; one of: {', '.join(BUDGETS)}")
    said = {"demos": demos, "demo_tokens": demo_tokens, "candidates": candidates}
    given = {name: value for name, value in said.items() if value is not None}
    return replace(BUDGETS[budget], **given, seed=seed)


def balanced(examples: Sequence[dspy.Example], strata: Sequence[str], seed: int) -> list[dspy.Example]:
    """The examples in a seeded order in which the strata take turns, so that the first few hold rare labels too."""
    draw = random.Random(seed)
    of: dict[str, list[dspy.Example]] = {}
    for example, stratum in zip(examples, strata, strict=True):
        of.setdefault(stratum, []).append(example)
    columns = [draw.sample(of[stratum], len(of[stratum])) for stratum in draw.sample(sorted(of), len(of))]
    return [example for turn in zip_longest(*columns) for example in turn if example is not None]


def affordable(rows: Sequence[dspy.Example], fields: Sequence[str], most: int, budget: int) -> list[dspy.Example]:
    """The rows that leave room for others: at most twice an even share of `budget` tokens, where there are any such.

    fields: those that a demo shows; most: how many demos a prompt may have.
    """
    share = 2 * budget / max(most, 1)
    short = [row for row in rows if length(row, fields) <= share]
    return short or sorted(rows, key=lambda row: length(row, fields))[:most]


def covering(
    rows: Sequence[dspy.Example], labels: Sequence[set[str]], fields: Sequence[str], most: int, budget: int
) -> list[dspy.Example]:
    """The first rows that fit into `budget` tokens together, up to `most` of them, but before them such that each label
    which an affordable row has is among them: the first one with a label that is still missing, or with most of those
    where there is less room than labels.

    labels: those of each row; fields: those that a demo shows.
    """
    fitting = affordable(rows, fields, most, budget)
    known = {id(row): own for row, own in zip(rows, labels, strict=True)}
    missing = set().union(*(known[id(row)] for row in fitting))
    chosen: list[dspy.Example] = []
    left = budget
    while len(chosen) < most:
        able = [row for row in fitting if length(row, fields) <= left and not any(row is one for one in chosen)]
        if not able:
            break
        new = [len(known[id(row)] & missing) for row in able]
        scarce = len(missing) > most - len(chosen)  # else the order decides, so that other orders give other sets
        best = able[new.index(max(new))] if scarce or not any(new) else able[next(k for k, n in enumerate(new) if n)]
        chosen.append(best)
        left -= length(best, fields)
        missing -= known[id(best)]
    return chosen
