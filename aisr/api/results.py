"""What became of a record."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Verdict:
    """What is thought of one statement: a sentence of Track 1, the claim of Track 2.

    probabilities: of each label of the task, summing to 1; source: where they come from: the decision layer, or without
    one, best first, what a decision model gives for each option, the log-probabilities of the LM, what it states beside
    its labels, or the vote of an answer alone, of which the probabilities know next to nothing.
    """

    label: str
    probabilities: Mapping[str, float]
    source: Literal["options", "logprobs", "stated", "vote", "layer"]


@dataclass(frozen=True)
class Judged:
    """One record, judged or failed: of `answer` and `failure` exactly one is None. A failure is never a label.

    answer: the fields of its line in a predictions file (`labels`; or `label` and `evidence_para_ids`); failure: the
    reason in one line; verdicts: one a statement, none where the record failed or the task has no labels.
    """

    id: str
    answer: Mapping[str, Any] | None
    failure: str | None
    verdicts: tuple[Verdict, ...] = ()

    @property
    def line(self) -> dict[str, Any]:
        """The record as a line of a predictions file."""
        return {"id": self.id, "failed": self.failure} if self.answer is None else {"id": self.id, **self.answer}
