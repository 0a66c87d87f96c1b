"""Context24's second task: a claim and its paper; the passages that say how the claim was found out."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import dspy

from aisr.base.files import write_whole
from aisr.metrics.context24_text import KINDS, RIGHT, Grounded, rouge, snippet_match
from aisr.programs.context24_text.judge import Context24TextJudge, best_sentences
from aisr.programs.context24_text.record import Context24TextPrediction, Context24TextRecord
from aisr.programs.context24_text.sentences import Paper, locate, paper
from aisr.programs.errors import UserError
from aisr.programs.shared_evidence import claim_key, paper_keys
from aisr.programs.task import Exhibit, Task
from aisr.programs.text import alike

NAME = "context24-text"
Snippets = tuple[str, ...]
TOLD = 300  # characters of a gold snippet that an optimizer is told


def _problem(record: Context24TextRecord, answer: Snippets) -> str | None:
    if not answer:
        return "context: no snippet; the organisers' scorer stops at an empty list"
    blank = [place for place, text in enumerate(answer, start=1) if not text.strip()]
    return f"context: snippet {blank[0]} is blank; expected a passage of the paper" if blank else None


def _feedback(gold: Snippets, answer: Snippets) -> str:
    """What is wrong, in a few sentences, for an optimizer that reflects."""
    if not gold:
        return "Nothing is gold for this claim; no answer to it earns anything."
    one, two, longest = snippet_match(answer, gold, rouge, len(KINDS))
    told = f"ROUGE-L {longest:.2f}, ROUGE-1 {one:.2f}, ROUGE-2 {two:.2f}."
    if longest >= RIGHT:
        return f"{told} That is close to the gold passages."
    return f"{told} The gold passages are: {' / '.join(text[:TOLD] for text in gold[:3])}"


def _fallback(record: Context24TextRecord) -> Snippets:
    """What can be said without a model: the five best sentences by BM25, as one snippet."""
    return best_sentences(record.claim, paper(tuple(record.paragraphs)))


def _exhibits(record: Context24TextRecord, example: dspy.Example, answer: Snippets | None) -> list[Exhibit]:
    """The snippets that were given, the gold ones, and the sentences that the model chose among, with those marked that
    stand in a gold passage."""
    source: Paper = example.source
    gold = record.gold or ()
    known = {place for places in locate(source, gold) for place in places}
    given = [
        Exhibit(key=f"snippet {place}", text=text, chosen=place) for place, text in enumerate(answer or (), start=1)
    ]
    right = [Exhibit(key=f"gold {k}", text=text, shown=False, gold=True) for k, text in enumerate(gold, start=1)]
    places = {key: int(key[1:]) - 1 for key in example.shown}
    read = [Exhibit(key=key, text=source.sentences[k], gold=k in known) for key, k in places.items()]
    return [*given, *right, *read]


def _shares(record: Context24TextRecord) -> set[str]:
    named = {f"paper:{alike(record.citekey)}"} if record.citekey else set()
    return {claim_key(record.claim), *paper_keys(record.paragraphs), *named}


def _stratum(gold: Snippets) -> str:
    return "none" if not gold else "one" if len(gold) == 1 else "several"


@dataclass(frozen=True)
class ContextList:
    """A JSON list of claims with their snippets, as the organisers' scorer takes it: `id` and `context`, a list of
    texts that is not empty; `citekey` and `dataset` beside them as in the organisers' own files."""

    file: str = "context24-text.json"

    def write(self, lines: Sequence[dict[str, Any]], out: Path) -> None:
        """Raises UserError for a claim that stands there twice, and for one without a snippet or with a blank one."""
        entries = [
            {
                "id": line["id"],
                **{name: line[name] for name in ("citekey", "dataset") if line.get(name)},
                "context": line["context"],
            }
            for line in lines
        ]
        seen: set[str] = set()
        for entry in entries:
            if entry["id"] in seen:
                raise UserError(f"{entry['id']}: stands there twice; the scorer would take the last")
            seen.add(entry["id"])
            if not entry["context"] or not all(text.strip() for text in entry["context"]):
                raise UserError(f"{entry['id']}: context: no snippet, or a blank one; expected passages of the paper")
        write_whole(out, json.dumps(entries, ensure_ascii=False, indent=1) + "\n")


CONTEXT24_TEXT: Task[Context24TextRecord, Snippets, Snippets] = Task(
    name=NAME,
    record=Context24TextRecord,
    prediction=Context24TextPrediction,
    judge=Context24TextJudge,
    parts=MappingProxyType({"rouge_1": "ROUGE-1", "rouge_2": "ROUGE-2", "rouge_l": "ROUGE-L"}),
    score=Grounded.of,
    answer=lambda prediction: tuple(prediction.snippets),
    line=lambda snippets: {"context": list(snippets)},
    problem=_problem,
    feedback=_feedback,
    fallback=_fallback,
    exhibits=_exhibits,
    shares=_shares,
    rests_on=lambda record: ["\n".join(record.paragraphs)],
    text=lambda record: record.claim,
    stratum=_stratum,
    submission=ContextList(),
    beside=lambda record: {"citekey": record.citekey, "dataset": record.dataset},
    converter="aisr.programs.context24_text.convert {file} --papers fulltexts.json --out records.jsonl",
    floor=lambda example: example.floor,
)
