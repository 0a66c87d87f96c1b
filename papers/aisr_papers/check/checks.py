"""What of a paper is checked against what: statements against the rest of the paper, and citing sentences against cited
papers."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from aisr.files import digest_texts
from aisr.text import valid_text
from aisr_papers.check.index import PaperIndex
from aisr_papers.check.questions import Check, Place, Questions, citation_record, record_id
from aisr_papers.check.statements import choose_statements
from aisr_papers.cited_claims import split_claims
from aisr_papers.draft import Draft, Sentence
from aisr_papers.draft_record import DraftRecord

NO_EVIDENCE = "nothing else in the paper speaks of it"


def without_pictures(record: DraftRecord) -> DraftRecord:
    """The record away from its paper's folder: a path would lead to another picture there, or to none. Halves of
    characters, which no file of records can hold, become question marks."""
    fields = json.loads(valid_text(json.dumps(record.model_dump(mode="json"), ensure_ascii=False)))
    for item in fields["evidence_bundle"]:
        item["img_path"] = None
    return DraftRecord.model_validate(fields)


def subject_digests(check: Check) -> list[str]:
    """For each statement a digest of its words and of all its evidence, whatever part of that a model is shown."""
    if isinstance(check.record, DraftRecord):
        bare = without_pictures(check.record)
        statements, parts = bare.statements, [item.model_dump_json() for item in bare.evidence_bundle]
    else:
        statements = [valid_text(one) for one in check.statements]
        paper = check.record["cited_paper_full_text"]
        parts = [valid_text(text) for paragraph in paper for pair in paragraph.items() for text in pair]
    evidence = digest_texts(parts)
    return [digest_texts([statement, evidence]) for statement in statements]


@dataclass(frozen=True)
class Checks:
    """What there is to check in a paper."""

    claims: tuple[Check, ...]  # for the program of the task draft
    citations: tuple[Check, ...]  # for that of Track 2
    skipped: Mapping[str, int]  # reason -> number of sentences that are not held against the paper
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
    skipped = chosen.skipped
    skipped[NO_EVIDENCE] = sum(map(len, chosen.places.values())) - sum(len(check.places) for check in claims)
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
        name = record_id(sentence.place.file, [key, claim, *paper.values()], taken)
        yield Check(citation_record(name, claim, paper), (place,), key)
