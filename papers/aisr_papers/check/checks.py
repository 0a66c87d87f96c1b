"""What of a paper is checked against what, and the tasks whose programs do it: statements against the rest of the
paper, and citing sentences against cited papers."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from aisr.base.files import digest_texts
from aisr.programs.draft.record import DraftRecord
from aisr.programs.draft.task import DRAFT
from aisr.programs.task import Task
from aisr.programs.track2.record import Track2Record
from aisr.programs.track2.task import TRACK2
from aisr_papers.check.index import PaperIndex
from aisr_papers.check.questions import Check, Place, Questions, record_id
from aisr_papers.check.statements import choose_statements
from aisr_papers.cited_claims import split_claims
from aisr_papers.draft import Draft, Sentence

CLAIMS: Task = DRAFT
CITATIONS: Task = TRACK2
Judged = Track2Record | DraftRecord
NO_EVIDENCE = "nothing else in the paper speaks of it"


def without_pictures(record: Judged) -> Judged:
    """The record away from its paper's folder: a path would lead to another picture there, or to none. Halves of
    characters, which no file of records can hold, become question marks."""
    dump = json.dumps(record.model_dump(mode="json"), ensure_ascii=False).encode("utf-8", "replace")
    fields = json.loads(dump)
    for item in fields.get("evidence_bundle", ()):
        item["img_path"] = None
    return type(record).model_validate(fields)


def statements_of(record: Judged) -> list[str]:
    """The texts that are judged."""
    return [record.claim_text] if isinstance(record, Track2Record) else record.statements


def subject_digests(record: Judged) -> list[str]:
    """For each statement a digest of its words and of all its evidence, whatever part of that a model is shown."""
    bare = without_pictures(record)
    if isinstance(bare, Track2Record):
        parts = [text for pair in bare.paragraphs.items() for text in pair]
    else:
        parts = [item.model_dump_json() for item in bare.evidence_bundle]
    evidence = digest_texts(parts)
    return [digest_texts([statement, evidence]) for statement in statements_of(bare)]


@dataclass(frozen=True)
class Checks:
    """What there is to check in a paper."""

    claims: tuple[Check, ...]  # for the program of the task draft
    citations: tuple[Check, ...]  # for that of Track 2
    skipped: Mapping[str, int]  # reason -> number of paragraphs that are not checked
    missing: Mapping[str, int]  # key of a cited work without a file -> number of sentences that cite it
    questions: Questions | None = None  # what asks again where nothing was found; None where there is no paper

    @property
    def statements(self) -> int:
        """How many sentences are held against the paper."""
        return sum(len(check.places) for check in self.claims)


def collect_checks(draft: Draft, cited: Mapping[str, Mapping[str, str]], interpretations: bool = False) -> Checks:
    """What there is to check in a draft. cited: key of a work -> its paragraphs, id -> text, where its file was read;
    interpretations: whether causes and generality without a number are judged too.

    What is hidden from a reader is never asked about. The id of a record names the file and what is in the record, not
    the line: it stays the same when something else in the paper is edited.
    """
    index = PaperIndex(draft)
    chosen = choose_statements(draft, index.tables, interpretations)
    questions = Questions(index)
    claims = questions.checks(chosen.places)
    judged = {paragraph for check in claims for paragraph, _ in check.places}
    skipped = chosen.skipped
    skipped[NO_EVIDENCE] = len(chosen.places.keys() - judged)
    missing: Counter[str] = Counter()
    taken: Counter[str] = Counter()
    citations: list[Check] = []
    for number, paragraph in enumerate(draft.paragraphs):
        for place, sentence in enumerate(paragraph.sentences):
            if not sentence.hidden and paragraph.caption_of is None:
                missing.update(key for key in sentence.work_keys if not cited.get(key))
                citations += _citation_checks(sentence, (number, place), cited, taken)
    return Checks(claims, tuple(citations), dict(+skipped), dict(missing), questions)


def _citation_checks(
    sentence: Sentence, place: Place, cited: Mapping[str, Mapping[str, str]], taken: Counter[str]
) -> Iterator[Check]:
    for key, claim in split_claims(sentence.text, sentence.work_keys):
        paper = cited.get(key)
        if not paper:
            continue
        record = Track2Record.model_validate(
            {
                "id": record_id(sentence.place.file, [key, claim, *paper.values()], taken),
                "claim_text": claim,
                "cited_paper_full_text": [{name: text} for name, text in paper.items()],
            }
        )
        yield Check(record, (place,), key)
