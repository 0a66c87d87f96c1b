"""What recomputing a statement of a paper gives."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class Label(StrEnum):
    """What can be wrong with a statement that was recomputed; shown to people, and part of SARIF's rule ids."""

    PERCENTAGE = "Wrong percentage"
    TEST = "Inconsistent test"


MEANINGS: Mapping[Label, str] = {
    Label.PERCENTAGE: "the counts give another percentage",
    Label.TEST: "statistic, degrees of freedom and p do not fit together (as statcheck tells it)",
}


class Outcome(StrEnum):
    """What recomputing a statement gives."""

    HOLDS = "holds"
    WRONG = "wrong"
    UNDECIDED = "not decided"  # it does not fit, but the sentence may mean something else


class Fact(NamedTuple):
    """One recomputation."""

    label: Label  # its kind, named by what would be wrong
    statement: str  # the words that were recomputed
    computed: str  # what they come to, and from what
    outcome: Outcome

    @property
    def wrong(self) -> bool:
        """Whether they disagree, whatever the statement may mean."""
        return self.outcome is Outcome.WRONG
