"""Planted edits: more training records for rare labels, made by rule from Supported ones.

Each edit breaks one thing in a way that its label names (guidelines, section 1). Made records carry an id such as
"track1-000012+scope", are used in train only, and never reach dev, test or a score.
"""

import random
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from aisr.programs.decision.cues import NAME, NUMBER
from aisr.programs.labels import IN_DRAFTS, CitationLabel, ClaimLabel
from aisr.programs.records.base import Record
from aisr.programs.records.draft import DraftRecord, JudgedSentence
from aisr.programs.records.track1 import Track1Record
from aisr.programs.records.track2 import Track2Record
from aisr.programs.vision import evidence_bundle

CAUSES = (
    "because it models long-range structure better",
    "which stems from a smoother loss surface",
    "as its representations separate the rare cases more clearly",
    "owing to the regularising effect of its training signal",
    "since it suppresses noise in the early layers",
)
SCOPES = (
    "and the same holds for every dataset and setting",
    "regardless of domain, size or language",
    "in all conditions that matter in practice",
    "and this carries over to any comparable system",
)
OPPOSITES = {
    "higher": "lower", "lower": "higher", "better": "worse", "worse": "better", "best": "worst", "worst": "best",
    "increases": "decreases", "decreases": "increases", "increase": "decrease", "decrease": "increase",
    "improves": "degrades", "degrades": "improves", "outperforms": "underperforms", "above": "below", "below": "above",
    "rises": "falls", "falls": "rises", "more": "less", "less": "more", "ahead of": "behind", "behind": "ahead of",
    "largest": "smallest", "smallest": "largest", "strongest": "weakest", "weakest": "strongest",
}  # fmt: skip
STRONGER = {
    "may": "does always", "can": "always does", "might": "is certain to", "suggests": "proves", "suggest": "prove",
    "some": "all", "most": "all", "often": "always", "sometimes": "always", "partly": "entirely", "a few": "all",
    "in several": "in all", "indicates": "establishes", "on average": "without exception",
}  # fmt: skip

NEUTRAL = str(ClaimLabel.SUPPORTED)
RecordT = TypeVar("RecordT", bound=Record)
Edit = Callable[[str, str, random.Random, Sequence[str]], str | None]


def add_cause(sentence: str, known: str, draw: random.Random, names: Sequence[str]) -> str | None:
    """A causal tail that no evidence gives."""
    return _with_tail(sentence, draw.choice(CAUSES))


def widen_scope(sentence: str, known: str, draw: random.Random, names: Sequence[str]) -> str | None:
    """A claim to more cases than were tested."""
    return _with_tail(sentence, draw.choice(SCOPES))


def swap_entity(sentence: str, known: str, draw: random.Random, names: Sequence[str]) -> str | None:
    """A name of the evidence replaced by one that the evidence does not contain."""
    here = [name for name in NAME.findall(sentence) if name in known]
    foreign = [name for name in names if name not in known and name not in sentence]
    return sentence.replace(draw.choice(here), draw.choice(foreign)) if here and foreign else None


def contradict(sentence: str, known: str, draw: random.Random, names: Sequence[str]) -> str | None:
    """A direction turned round, or a number of the evidence changed by a third or more."""
    turned = _replace_word(sentence, OPPOSITES, draw)
    numbers = [match for match in NUMBER.finditer(sentence) if match.group() in known]
    if turned is not None and (not numbers or draw.random() < 0.5):
        return turned
    if not numbers:
        return turned
    old = draw.choice(numbers)
    decimals = len(old.group().partition(".")[2])
    new = f"{float(old.group()) * draw.choice((0.5, 0.65, 1.35, 1.6)) + 1:.{decimals}f}"
    return sentence[: old.start()] + new + sentence[old.end() :] if new != old.group() else None


CLAIM_EDITS: dict[str, Edit] = {
    ClaimLabel.CAUSAL: add_cause,
    ClaimLabel.ENTITY: swap_entity,
    ClaimLabel.SCOPE: widen_scope,
    ClaimLabel.CONTRADICTION: contradict,
}
SHORT = {
    ClaimLabel.CAUSAL: "causal",
    ClaimLabel.ENTITY: "entity",
    ClaimLabel.SCOPE: "scope",
    ClaimLabel.CONTRADICTION: "contradiction",
}


def plant_claims(records: Sequence[Track1Record], count: int, density: int, seed: int) -> list[Track1Record]:
    """Up to `count` made records from the Supported ones of Track 1, each kind of edit as often as the others.

    density: most edits in one paragraph, one for every three sentences: train-dev has at most one, the test phases
    more. A record that no edit fits is passed over. The same seed makes the same records.
    """
    names = sorted({name for record in records for name in NAME.findall(record.claim_text)})
    sources = [record for record in records if record.gold and all(types == [NEUTRAL] for types in record.gold)]
    return _planted(sources, count, seed, lambda source, k, draw: _edited_claim(source, density, k, draw, names))


def plant_drafts(records: Sequence[DraftRecord], count: int, density: int, seed: int) -> list[DraftRecord]:
    """The same from records of drafts whose sentences are all Supported."""
    names = sorted({name for record in records for name in NAME.findall(record.paragraph)})
    sources = [record for record in records if record.gold and all(types == [NEUTRAL] for types in record.gold)]
    return _planted(sources, count, seed, lambda source, k, draw: _edited_draft(source, density, k, draw, names))


def plant_citations(records: Sequence[Track2Record], count: int, density: int, seed: int) -> list[Track2Record]:
    """The same from the Supported ones of Track 2; a claim has room for one edit, so `density` is without effect."""
    sources = [record for record in records if record.label == CitationLabel.SUPPORTED]
    return _planted(sources, count, seed, lambda source, k, draw: _edited_citation(source, sources, k, draw))


def _planted(
    sources: list[RecordT], count: int, seed: int, edited: Callable[[RecordT, int, random.Random], RecordT | None]
) -> list[RecordT]:
    draw = random.Random(seed)
    draw.shuffle(sources)
    made: list[RecordT] = []
    for k in range(4 * count):  # some edits do not fit some records
        if len(made) == count or not sources:
            break
        found = edited(sources[k % len(sources)], k, draw)
        if found is not None:
            made.append(found.model_copy(update={"id": f"{found.id}-{len(made) + 1}"}))
    return made


def _edited_claim(
    record: Track1Record, density: int, turn: int, draw: random.Random, names: Sequence[str]
) -> Track1Record | None:
    known = evidence_bundle.render(record.evidence_bundle).text
    made = _edited_sentences(record.sentences, known, density, turn, draw, names)
    if not made:
        return None
    sentences = list(record.sentence_label)
    for place, (text, label) in made.items():
        sentences[place] = sentences[place].model_copy(update={"sentence": text, "types": [label]})
    whole = " ".join(sentence.sentence for sentence in sentences)
    kinds = "+".join(SHORT[label] for _, label in made.values())
    return record.model_copy(update={"id": f"{record.id}+{kinds}", "claim_text": whole, "sentence_label": sentences})


def _edited_draft(
    record: DraftRecord, density: int, turn: int, draw: random.Random, names: Sequence[str]
) -> DraftRecord | None:
    known = evidence_bundle.render(record.evidence_bundle).text
    made = _edited_sentences([one.sentence for one in record.sentences], known, density, turn, draw, names)
    if not made:
        return None
    sentences, paragraph = list(record.sentences), record.paragraph
    for place, (text, label) in made.items():
        paragraph = paragraph.replace(sentences[place].sentence, text)
        sentences[place] = JudgedSentence(sentence=text, label=IN_DRAFTS[label])
    kinds = "+".join(SHORT[label] for _, label in made.values())
    changed = {"id": f"{record.id}+{kinds}", "paragraph": paragraph, "sentences": sentences}
    return record.model_copy(update=changed)


def _edited_sentences(
    said: Sequence[str], known: str, density: int, turn: int, draw: random.Random, names: Sequence[str]
) -> dict[int, tuple[str, ClaimLabel]]:
    """Sentences that an edit was found for, by their places: the new text, and the label that it deserves."""
    places = draw.sample(range(len(said)), len(said))
    wanted = min(density, max(1, len(places) // 3))
    made: dict[int, tuple[str, ClaimLabel]] = {}
    for place in places:
        if len(made) == wanted:
            break
        label = list(CLAIM_EDITS)[(turn + len(made)) % len(CLAIM_EDITS)]
        text = CLAIM_EDITS[label](said[place], known, draw, names)
        if text is not None:
            made[place] = text, ClaimLabel(label)
    return made


def _edited_citation(
    record: Track2Record, sources: Sequence[Track2Record], turn: int, draw: random.Random
) -> Track2Record | None:
    """Every other one is strengthened (Overstate, same evidence), the rest cite another paper (Irrelevant, none)."""
    change: dict[str, Any]
    if turn % 2:
        claim = record.claim_text
        stronger = _replace_word(claim, STRONGER, draw) or _with_tail(claim, draw.choice(SCOPES))
        change = {"id": f"{record.id}+overstate", "claim_text": stronger, "label": CitationLabel.OVERSTATE}
        return record.model_copy(update=change) if stronger else None
    papers = [other.cited_paper_full_text for other in sources]
    others = [paper for paper in papers if paper != record.cited_paper_full_text]
    if not others:
        return None
    change = {
        "id": f"{record.id}+irrelevant",
        "cited_paper_full_text": draw.choice(others),
        "label": CitationLabel.IRRELEVANT,
        "evidence_para_ids": [],
        "evidence_texts": {},
    }
    return record.model_copy(update=change)


def _with_tail(sentence: str, tail: str) -> str | None:
    body = sentence.rstrip()
    return f"{body[:-1]}, {tail}{body[-1]}" if body.endswith((".", "!")) and len(body.split()) > 3 else None


def _replace_word(sentence: str, words: dict[str, str], draw: random.Random) -> str | None:
    here = [word for word in words if re.search(rf"\b{word}\b", sentence)]
    if not here:
        return None
    word = draw.choice(here)
    return re.sub(rf"\b{word}\b", words[word], sentence, count=1)
