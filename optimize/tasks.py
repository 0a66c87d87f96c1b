"""A task is one value: everything in `optimize/` is written against `Task` and knows no track."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import dspy

from metrics import official
from metrics.official import Tally
from optimize import exhibits
from optimize.exhibits import Exhibit
from programs import labels
from programs.citation import CitationJudge
from programs.claim import ClaimJudge
from programs.fusion import complete
from programs.records import (
    Citation,
    CitationPrediction,
    CitationRecord,
    ClaimPrediction,
    ClaimRecord,
    Record,
)
from programs.retrieval import rank

Answer = Any  # list[str] for Track 1, Citation for Track 2
Options = Mapping[str, Any]


@dataclass(frozen=True)
class Task:
    """What one task consists of.

    answer: what a program's prediction says, in the form that `tally` and `line` take;
    problem: what the official evaluator would refuse in an answer to a record, or None;
    allowed: the gold labels of each judgement (a sentence of Track 1, the claim of Track 2), the first of them first;
    statements and grounds: the text of each judgement of an example, and the evidence that all are held against;
    exhibits: the pieces of evidence of a record, as a person is shown them beside an answer (None: it failed);
    evidence_right: whether evidence ids are right, where the label is; None for a task that names none;
    fallback: the track's commonest answer, for whoever asks to have a failed record filled in;
    option_types: the options of its program and their types.
    """

    name: str
    labels: tuple[str, ...]
    record: type[Record]
    prediction: type[ClaimPrediction] | type[CitationPrediction]
    program: Callable[..., dspy.Module]
    option_types: Mapping[str, type]
    answer: Callable[[dspy.Prediction], Answer]
    tally: Callable[[Sequence[Any], Sequence[Answer | None]], Tally]
    line: Callable[[Answer], dict[str, Any]]
    problem: Callable[[Any, Answer], str | None]
    feedback: Callable[[Any, Answer], str]
    allowed: Callable[[Any], Sequence[Sequence[str]]]
    statements: Callable[[dspy.Example], list[str]]
    grounds: Callable[[dspy.Example], str]
    exhibits: Callable[[Any, dspy.Example, Answer | None], list[Exhibit]]
    evidence_right: Callable[[Any, Sequence[str]], bool] | None
    fallback: Callable[[Any], Answer]
    submission_file: str

    def said(self, gold: Any) -> list[str]:
        """The first gold label of each judgement of a record."""
        return [types[0] for types in self.allowed(gold)]

    def build(self, options: Options) -> dspy.Module:
        """The uncompiled program. Raises ValueError for an option that it does not have."""
        unknown = set(options) - set(self.option_types)
        if unknown:
            raise ValueError(f"{self.name} has no option {sorted(unknown)[0]!r}; it has {', '.join(self.option_types)}")
        for name, value in options.items():
            wanted = self.option_types[name]
            if not isinstance(value, wanted):
                raise ValueError(f"option {name} is {value!r}; expected {wanted.__name__}")
        return self.program(**options)


def _claim_answer(prediction: dspy.Prediction) -> list[str]:
    return [str(label) for label in prediction.sentence_labels]


def _citation_answer(prediction: dspy.Prediction) -> Citation:
    return Citation(str(prediction.label), list(prediction.evidence_para_ids), prediction.get("quotes") or {})


def _citation_line(answer: Citation) -> dict[str, Any]:
    quotes = {"evidence_quotes": dict(answer.quotes)} if answer.quotes else {}
    return {"label": answer.label, "evidence_para_ids": list(answer.evidence_para_ids), **quotes}


def _claim_problem(record: ClaimRecord, answer: list[str]) -> str | None:
    wanted = len(record.sentences)
    return None if len(answer) == wanted else f"{len(answer)} labels for {wanted} sentences; one label a sentence"


def _citation_problem(record: CitationRecord, answer: Citation) -> str | None:
    unknown = [key for key in answer.evidence_para_ids if key not in record.paragraphs]
    return f"evidence_para_ids: {unknown[0]!r} is no paragraph of the cited paper" if unknown else None


def _citation_fallback(record: CitationRecord) -> Citation:
    label = str(labels.CitationLabel.SUPPORTED)
    return Citation(label, complete(label, [[]], rank(record.claim_text, record.paragraphs)))


def _claim_feedback(gold: Sequence[Sequence[str]], answer: Sequence[str]) -> str:
    """One sentence for each wrong label, for an optimizer that reflects."""
    wrong = [
        f"Sentence {k}: said {label}; right is {' or '.join(types)} ({labels.CLAIM_DEFINITIONS[types[0]]})."
        for k, (types, label) in enumerate(zip(gold, answer, strict=True), start=1)
        if label not in types
    ]
    return " ".join(wrong) or "Every sentence is labelled right."


def _citation_feedback(gold: Citation, answer: Citation) -> str:
    if answer.label != gold.label:
        return f"Said {answer.label}; right is {gold.label} ({labels.CITATION_DEFINITIONS[gold.label]})."
    if gold.evidence_para_ids and not set(gold.evidence_para_ids) & set(answer.evidence_para_ids):
        return f"The label is right, but the deciding paragraphs are {', '.join(gold.evidence_para_ids)}."
    if not gold.evidence_para_ids and answer.evidence_para_ids:
        return "The label is right, but no paragraph is evidence here: the list should be empty."
    return "Label and evidence are right."


TRACK1 = Task(
    name="track1",
    labels=labels.CLAIM_LABELS,
    record=ClaimRecord,
    prediction=ClaimPrediction,
    program=ClaimJudge,
    option_types=MappingProxyType({"unit": str, "evidence": str, "checks": bool, "samples": int, "nearest": int}),
    answer=_claim_answer,
    tally=official.tally_claims,
    line=lambda answer: {"labels": list(answer)},
    problem=_claim_problem,
    feedback=_claim_feedback,
    allowed=lambda gold: gold,
    statements=lambda example: list(example.sentences),
    grounds=lambda example: str(example.evidence),
    exhibits=exhibits.of_claim,
    evidence_right=None,
    fallback=lambda record: [str(labels.ClaimLabel.SUPPORTED)] * len(record.sentences),
    submission_file="track1_pred.jsonl",
)
TRACK2 = Task(
    name="track2",
    labels=labels.CITATION_LABELS,
    record=CitationRecord,
    prediction=CitationPrediction,
    program=CitationJudge,
    option_types=MappingProxyType(
        {"context_tokens": int, "retriever": str, "rerank": int, "quotes": bool, "samples": int, "nearest": int}
    ),
    answer=_citation_answer,
    tally=official.tally_citations,
    line=_citation_line,
    problem=_citation_problem,
    feedback=_citation_feedback,
    allowed=lambda gold: [[gold.label]],
    statements=lambda example: [str(example.claim)],
    grounds=lambda example: str(example.passages),
    exhibits=exhibits.of_citation,
    evidence_right=lambda gold, ids: official.evidence_found(gold.evidence_para_ids, ids),
    fallback=_citation_fallback,
    submission_file="track2_pred.jsonl",
)
TASKS: Mapping[str, Task] = MappingProxyType({task.name: task for task in (TRACK1, TRACK2)})
