"""A record as a program takes it: what a compile, an evaluation and an optimizer work on."""

from dataclasses import dataclass
from typing import Any

import dspy

from aisr.programs.evidence import NO_EVIDENCE, Evidence


@dataclass(frozen=True)
class Case:
    """A record as a program takes it, made by `Program.prepare`; the fields below `is_complete` are those of labelled
    records that were read together (see `aisr.optimize.leakage.prepare_all`). The record itself is not held."""

    example: dspy.Example  # `id`, the inputs of the program and, where the record is labelled, the right outputs
    gold: Any = None  # the gold answer, in the form that the task's score takes; None where it is withheld
    evidence: Evidence = NO_EVIDENCE  # of a task whose evidence is a bundle
    demo: dspy.Example | None = None  # it as a demo, with what the answer rests on; None where it would teach nothing
    is_complete: bool = True  # whether the example shows the evidence that its answer names
    group: int | None = None  # cases that were read together and share something have the same
    baseline: Any = None  # the answer of the no-LM baseline
    weight: float = 1.0  # how much it counts in scores, above 0; 1 on average over a split

    @property
    def id(self) -> str:
        """The id of the record."""
        return str(self.example.id)

    def for_metric(self) -> dspy.Example:
        """Return the example as an optimizer of DSPy gets it: with `gold` beside its fields where the record is
        labelled, and a `weight` other than 1, where a metric reads them."""
        gold = {} if self.gold is None else {"gold": self.gold}
        weight = {} if self.weight == 1 else {"weight": self.weight}
        return self.example.copy(**gold, **weight)

    @classmethod
    def from_metric(cls, example: dspy.Example) -> "Case":
        """Return the case behind an example that `for_metric` made."""
        return cls(example, example.gold, weight=example.get("weight", 1.0))
