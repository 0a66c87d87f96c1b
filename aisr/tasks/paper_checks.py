"""What of a paper is checked against what: paragraphs against their floats, citing sentences against cited papers."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from aisr.arithmetic.hints import by_sentence, hint
from aisr.arithmetic.recompute import recomputed
from aisr.base.digests import of_text
from aisr.paper.citations import marks
from aisr.paper.cited_claims import claims
from aisr.paper.draft import Draft, Float, Paragraph, Sentence
from aisr.programs.records.track1 import Track1Record
from aisr.programs.records.track2 import Track2Record

RESULTS = re.compile(
    r"\b(?:results?|experiments?|experimental|evaluations?|findings|analys[ie]s|ablations?|performance|comparisons?)\b",
    re.IGNORECASE,
)
# Numbers that only say where something stands: "Table 3", "Sections 3 and 4.1", "Eq. (2)".
POINTER = re.compile(
    r"\b(?:fig(?:ure)?|tab(?:le)?|tbl|sec(?:tion)?|eq(?:uation)?|appendix|chapter|algorithm)(?:s|ses|ces)?\b\.?\s?"
    r"\(?[A-Z]?\d[\w.]{0,9}\)?(?:(?:\s?[-–,&/]\s?|\s(?:and|to)\s)\(?\d[\w.]{0,9}\)?)*+",
    re.IGNORECASE,
)
CLAIM = re.compile(
    r"\d|%|\b(?:more|less|fewer|higher|lower|better|worse|best|worst|larg(?:er|est)|small(?:er|est)|fast(?:er|est)"
    r"|slow(?:er|est)|most|least|than|ahead|behind|against|versus|equal(?:ly|s)?|same|similar(?:ly)?|all|every|always"
    r"|never|none|no|any|outperform\w*+|exceed\w*+|surpass\w*+|beat(?:s|en)?|improv\w*+|increas\w*+|decreas\w*+|reduc\w*+"
    r"|gain\w*+|drop\w*+|falls?|fell|rises?|rose|compar\w*+|achiev\w*+|reach\w*+|obtain\w*+|yield\w*+|perform\w*+|show\w*+"
    r"|demonstrat\w*+|indicat\w*+|suggest\w*+|confirm\w*+|significan\w*+|correlat\w*+|consistent\w*+|robust\w*+"
    r"|because|due|caus\w*+|leads?|help\w*+|hurt\w*+|we (?:find|found|observe|see|report|conclude))\b",
    re.IGNORECASE,
)
PART = re.compile(r"(?i:figure|table) \S{0,12}\d(?P<letter>[a-h])")
HIDDEN = "hidden from a reader"
NO_CLAIM = "no number, comparison or claim about results"
NO_EVIDENCE = "refers to no figure or table, and stands in no results section that has one"


class Check(NamedTuple):
    """One record for a judge, and the sentences of the draft that it stands for.

    paragraph: its position in the draft; sentences: their positions in the paragraph, one for each sentence of a
    Track1Record, a single one for a Track2Record; works: the key of the cited work for a Track2Record.
    """

    record: Track1Record | Track2Record
    paragraph: int
    sentences: tuple[int, ...]
    work: str | None = None


@dataclass(frozen=True)
class Checks:
    """claims: for the Track 1 program; citations: for that of Track 2; skipped: reason -> number of paragraphs that
    are not checked; missing: key of a cited work without a file -> number of sentences that cite it."""

    claims: tuple[Check, ...]
    citations: tuple[Check, ...]
    skipped: Mapping[str, int]
    missing: Mapping[str, int]


def checks(draft: Draft, cited: Mapping[str, Mapping[str, str]]) -> Checks:
    """What there is to check in a draft. cited: key of a work -> its paragraphs, id -> text, where its file was read.

    What is hidden from a reader is never asked about. The id of a record names the file and what is said in the record,
    not the line: it stays the same when something else in the paper is edited.
    """
    skipped: Counter[str] = Counter()
    missing: Counter[str] = Counter()
    taken: Counter[str] = Counter()
    against_floats: list[Check] = []
    against_works: list[Check] = []
    facts = by_sentence(recomputed(draft))
    for number, paragraph in enumerate(draft.paragraphs):
        shown = [(place, one) for place, one in enumerate(paragraph.sentences) if not one.hidden]
        keys = bundle(draft, paragraph)
        reason = _reason([one for _, one in shown], keys)
        if reason is None:
            places = tuple(place for place, _ in shown)
            told = hint(facts.get(number, {}), places)
            record = _claim_record(draft, shown[0][1].place.file, [one.text for _, one in shown], keys, told, taken)
            against_floats.append(Check(record, number, places))
        else:
            skipped[reason] += 1
        for place, sentence in shown:
            missing.update(key for key in sentence.cites if not cited.get(key))
            against_works += _citations(sentence, number, place, cited, taken)
    return Checks(tuple(against_floats), tuple(against_works), dict(skipped), dict(missing))


def bundle(draft: Draft, paragraph: Paragraph) -> tuple[str, ...]:
    """The keys of the floats that a paragraph is checked against: those that it refers to, a part of a figure with the
    whole and the whole with its parts; in a results section, where it refers to none, those of the section."""
    named = [key for one in paragraph.sentences if not one.hidden for key in one.refers if key in draft.floats]
    return tuple(dict.fromkeys(related for key in named for related in _related(draft, key))) or _of_section(
        draft, paragraph.headings
    )


def _related(draft: Draft, key: str) -> Iterator[str]:
    name = draft.floats[key].name
    part = PART.fullmatch(name)
    whole = name[:-1] if part else name
    for other, one in draft.floats.items():
        if one.name == name or one.name == whole or (not part and _part_of(one, name)):
            yield other


def _part_of(one: Float, name: str) -> bool:
    return len(one.name) == len(name) + 1 and one.name.startswith(name) and one.name[-1].isalpha()


def _of_section(draft: Draft, headings: tuple[str, ...]) -> tuple[str, ...]:
    """The floats of the innermost section around, up to the results section."""
    outermost = next((level for level, title in enumerate(headings, start=1) if RESULTS.search(title)), None)
    if outermost is None:
        return ()
    for level in range(len(headings), outermost - 1, -1):
        found = tuple(key for key, one in draft.floats.items() if one.headings[:level] == headings[:level])
        if found:
            return found
    return ()


def _reason(shown: Sequence[Sentence], keys: tuple[str, ...]) -> str | None:
    """Why a paragraph is not checked; None where it is."""
    if not shown:
        return HIDDEN
    if not any(_claims_something(one) for one in shown):
        return NO_CLAIM
    return None if keys else NO_EVIDENCE


def _claims_something(sentence: Sentence) -> bool:
    text = sentence.text
    for mark in reversed(marks(text)):
        text = f"{text[: mark.start]} {text[mark.end :]}"
    return CLAIM.search(POINTER.sub(" ", text)) is not None


def _claim_record(
    draft: Draft, file: str, said: list[str], keys: tuple[str, ...], told: str, taken: Counter[str]
) -> Track1Record:
    """A paragraph with its floats and, where something was recomputed, that as one more item of evidence."""
    items = [item for key in keys for item in _items(draft.folder, draft.floats[key])]
    items += [{"type": "text", "text": told}] if told else []
    return Track1Record.model_validate(
        {
            "id": _id(file, [*said, *map(str, items)], taken),
            "claim_text": " ".join(said),
            "evidence_bundle": items,
            "sentence_label": [{"sentence": sentence} for sentence in said],
        }
    )


def _items(folder: Path, one: Float) -> Iterator[dict[str, Any]]:
    """A float as items of evidence, its pictures by their paths from the folder; each picture behind the first is an
    item of its own."""
    said = " ".join(part for part in (one.caption, one.notes) if part)
    caption = f"{one.name}: {said}" if said else one.name
    paths = [picture.path(folder) for picture in one.pictures if picture.file.is_relative_to(folder)]
    kind = (
        {"type": "table", "table_caption": [caption]}
        if one.kind == "table"
        else {"type": "image", "image_caption": [caption]}
    )
    yield {**kind, "text": one.rows, "img_path": paths[0] if paths else None}
    for number, path in enumerate(paths[1:], start=2):
        shown = f"{one.name} ({number} of {len(paths)})"
        yield {"type": "image", "image_caption": [shown], "img_path": path}


def _citations(
    sentence: Sentence, number: int, place: int, cited: Mapping[str, Mapping[str, str]], taken: Counter[str]
) -> Iterator[Check]:
    for key, claim in claims(sentence.text, sentence.cites):
        paper = cited.get(key)
        if not paper:
            continue
        record = Track2Record.model_validate(
            {
                "id": _id(sentence.place.file, [key, claim, *paper.values()], taken),
                "claim_text": claim,
                "cited_paper_full_text": [{name: text} for name, text in paper.items()],
            }
        )
        yield Check(record, number, (place,), key)


def _id(file: str, said: Sequence[str], taken: Counter[str]) -> str:
    """File and digest of what is said; a second record of the same content gets a number."""
    found = f"{file}:{of_text(chr(0).join(said))}"
    taken[found] += 1
    return found if taken[found] == 1 else f"{found}-{taken[found]}"
