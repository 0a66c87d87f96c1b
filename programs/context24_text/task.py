"""Context24's second task: a claim and its paper; the passages that say how the claim was established."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import dspy

from aisr.base.errors import UserError
from aisr.base.files import write_whole
from aisr.metrics.context24_text import KINDS, RIGHT, Grounded, rouge, snippet_match
from aisr.metrics.scores import Scores
from aisr.programs.context24_text.program import Context24Text, best_sentences
from aisr.programs.context24_text.record import Context24TextPrediction, Context24TextRecord
from aisr.programs.context24_text.sentences import Paper, locate, paper
from aisr.programs.shared_evidence import claim_key, paper_keys
from aisr.programs.submission import Submission
from aisr.programs.task import Exhibit, Task
from aisr.programs.text import alike

Snippets = tuple[str, ...]
SNIPPET_LENGTH = 300  # characters of a gold snippet in the feedback for an optimizer


class ContextList(Submission):
    """A JSON list of claims with their snippets, as the organisers' scorer takes it: `id` and `context`, a list of
    texts that is not empty; `citekey` and `dataset` beside them as in the organisers' own files."""

    def problem(self, record: Context24TextRecord, answer: Snippets) -> str | None:
        if not answer:
            return "context: no snippet; the organisers' scorer stops at an empty list"
        blank = [place for place, text in enumerate(answer, start=1) if not text.strip()]
        return f"context: snippet {blank[0]} is blank; expected a passage of the paper" if blank else None

    def fallback(self, record: Context24TextRecord) -> Snippets:
        """The five best sentences by BM25, as one snippet."""
        return best_sentences(record.claim, paper(tuple(record.paragraphs)))

    def fields(self, record: Context24TextRecord) -> dict[str, Any]:
        """The id, and the organisers' names of paper and collection."""
        return {"id": record.id, "citekey": record.citekey, "dataset": record.dataset}

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


class Context24TextTask(Task):
    """The second task of Context24."""

    name = "context24-text"
    record = Context24TextRecord
    prediction = Context24TextPrediction
    program = Context24Text
    parts: ClassVar = {"rouge_1": "ROUGE-1", "rouge_2": "ROUGE-2", "rouge_l": "ROUGE-L"}
    submission = ContextList("context24-text.json")

    def score(self, gold: Sequence[Snippets], answers: Sequence[Snippets | None]) -> Scores:
        return Grounded.of(gold, answers)

    def answer(self, prediction: dspy.Prediction) -> Snippets:
        return tuple(prediction.snippets)

    def text(self, record: Context24TextRecord) -> str:
        return record.claim

    def feedback(self, gold: Snippets, answer: Snippets) -> str:
        """How well the snippets match, and the gold ones."""
        if not gold:
            return "Nothing is gold for this claim; no answer to it earns anything."
        one, two, longest = snippet_match(answer, gold, rouge, len(KINDS))
        match = f"ROUGE-L {longest:.2f}, ROUGE-1 {one:.2f}, ROUGE-2 {two:.2f}."
        if longest >= RIGHT:
            return f"{match} That is close to the gold passages."
        return f"{match} The gold passages are: {' / '.join(text[:SNIPPET_LENGTH] for text in gold[:3])}"

    def shared_keys(self, record: Context24TextRecord) -> set[str]:
        citekey = {f"paper:{alike(record.citekey)}"} if record.citekey else set()
        return {claim_key(record.claim), *paper_keys(record.paragraphs), *citekey}

    def long_texts(self, record: Context24TextRecord) -> list[str]:
        return ["\n".join(record.paragraphs)]

    def stratify_by(self, gold: Snippets) -> str:
        """Whether there are none, one or several gold snippets."""
        return "none" if not gold else "one" if len(gold) == 1 else "several"

    def exhibits(self, record: Context24TextRecord, example: dspy.Example, answer: Snippets | None) -> list[Exhibit]:
        """The predicted snippets, the gold ones, and the sentences that the model chose among, with those marked that
        stand in a gold passage."""
        source: Paper = example.source
        gold = record.gold or ()
        known = {place for places in locate(source, gold) for place in places}
        places = {key: int(key[1:]) - 1 for key in example.candidates}
        return [
            *(Exhibit(key=f"snippet {k}", text=text, chosen=k) for k, text in enumerate(answer or (), start=1)),
            *(Exhibit(key=f"gold {k}", text=text, shown=False, gold=True) for k, text in enumerate(gold, start=1)),
            *(Exhibit(key=key, text=source.sentences[k], gold=k in known) for key, k in places.items()),
        ]


CONTEXT24_TEXT = Context24TextTask()
