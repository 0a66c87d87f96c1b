"""A copy of a paper with faults in its source, and nothing else changed: it is read again to see to that."""

import random
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from aisr import UserError
from aisr_papers.draft import Draft, Sentence
from aisr_papers.open import read_draft
from aisr_papers.readers.files import find_main_file
from benchmarks.injected_errors.errors import Fault, Kind, faults

BEYOND = 12  # lines that the last sentence of a paragraph may take
TOKEN = re.compile(r"\\[A-Za-z]+|[^\W\d_]+|\d+(?:[.,]\d+)*")
LINE_END = re.compile(r"\r\n|\r|\n")
NO_PROSE = re.compile(r"\n[ \t]*\r?\n|\\(?:begin|end|section|subsection|par)\b")
STOP = re.compile(r"\.(?=[\s}\\%]|$)")
MOST_WORDS = 4_000  # of a paragraph
MOST_PAIRS = 20_000  # of equal words, one of a paragraph and one of its source: what repeats itself is aligned slowly


class Edit(NamedTuple):
    """A change of a source: its file, named as places name it, and what of its text goes for what."""

    file: str
    start: int
    end: int
    words: str


class _Source(NamedTuple):
    """A file's text, and where its lines begin, and it ends."""

    text: str
    starts: Sequence[int]

    @classmethod
    def of(cls, text: str) -> "_Source":
        return cls(text, [0, *(one.end() for one in LINE_END.finditer(text)), len(text)])


class _Words(NamedTuple):
    """A paragraph's words and those of its source. begins: of the sentences in what is said; begin: where the part of
    the source begins; at: for each of our words the one in the source."""

    begins: Sequence[int]
    text: str
    begin: int
    source: str
    ours: Sequence[re.Match[str]]
    at: Sequence[re.Match[str] | None]


class InjectedPaper(NamedTuple):
    """A paper with faults. paper: its main file, in a folder that may be deleted; faults: what was planted."""

    paper: Path
    draft: Draft
    faults: tuple[Fault, ...]


def possible_errors(draft: Draft, seed: int) -> dict[Fault, Edit]:
    """The errors that can be injected into a draft's source, each with its edit. Raises UserError for a PDF."""
    if not any(one.place.line for paragraph in draft.paragraphs for one in paragraph.sentences):
        raise UserError(f"{draft.folder}: errors are injected into LaTeX or Markdown, whose lines are known")
    source = cache(lambda file: _Source.of(_text(draft.folder / file)))
    words = cache(lambda paragraph, file: _words(draft.paragraphs[paragraph].sentences, file, source(file)))
    edits = {}
    for fault in faults(draft, seed):
        file = draft.paragraphs[fault.paragraph].sentences[fault.sentence].place.file
        beside = words(fault.paragraph, file)
        span = beside and _place(beside, fault)
        if span:
            edits[fault] = Edit(file, *span, fault.words)
    return edits


def choose_errors(possible: Iterable[Fault], count: int, seed: int) -> list[Fault]:
    """Up to `count` faults, each kind as often as the others as far as there are any, no two in one sentence."""
    draw = random.Random(seed)
    left = {kind: [one for one in possible if one.kind == kind] for kind in Kind}
    for each in left.values():
        draw.shuffle(each)
    taken: dict[tuple[int, int], Fault] = {}
    while len(taken) < count and any(left.values()):
        for kind in sorted(left, key=lambda one: len(left[one])):  # the scarcest first, or others take its sentences
            free = [one for one in left[kind] if (one.paragraph, one.sentence) not in taken]
            left[kind] = free[1:]
            if free and len(taken) < count:
                taken[free[0].paragraph, free[0].sentence] = free[0]
    return sorted(taken.values(), key=lambda one: (one.paragraph, one.sentence))


def inject_errors(
    paper: Path, draft: Draft, edits: Mapping[Fault, Edit], wanted: Sequence[Fault], folder: Path
) -> InjectedPaper:
    """A copy of a paper in a folder, with the wanted faults; those after which the paper does not read as it should are
    left out. Raises UserError where it does not read as it should with any."""
    file = find_main_file(paper) if paper.is_dir() else paper
    copy = folder / file.resolve().relative_to(draft.folder)
    shutil.copytree(draft.folder, folder, ignore=shutil.ignore_patterns(".*"), dirs_exist_ok=True)
    sources = {edits[one].file: _text(draft.folder / edits[one].file) for one in wanted}

    def reads(some: Sequence[Fault]) -> Draft | None:
        for name, source in sources.items():
            changed = _applied(source, [edits[one] for one in some if edits[one].file == name])
            (folder / name).write_bytes(changed.encode("utf-8", "surrogateescape"))
        reread = read_draft(copy, folder)
        return reread if _as_it_should(draft, reread, some) else None

    kept = list(wanted)
    again = reads(kept)
    if again is None:
        kept = [one for one in wanted if reads([one]) is not None]
        again = reads(kept)
    if again is None:
        raise UserError(f"{paper}: with faults in it, it does not read as it should")
    return InjectedPaper(copy, again, tuple(kept))


def _words(sentences: Sequence[Sentence], file: str, source: _Source) -> _Words | None:
    """The words of a paragraph, found in the source; None for one that is too long or repeats itself too often."""
    same = [one.place.line for one in sentences if one.place.file == file and one.place.line]
    starts = source.starts
    begin = starts[min(min(same), len(starts) - 1) - 1]
    last, beyond = (starts[min(max(same) - 1 + more, len(starts) - 1)] for more in (0, BEYOND))
    end_of_it = NO_PROSE.search(source.text, last, beyond)
    stop = end_of_it.start() if end_of_it else beyond
    text = " ".join(one.text for one in sentences)
    ours, theirs = (list(TOKEN.finditer(text)) for text in (text, source.text[begin:stop]))
    here, there = ([one[0] for one in some] for some in (ours, theirs))
    often = Counter(there)
    if max(len(ours), len(theirs)) > MOST_WORDS or sum(often[one] for one in here) > MOST_PAIRS:
        return None
    matched = _matched(here, there)
    at = [theirs[place] if (place := _at(k, matched, theirs)) is not None else None for k in range(len(ours))]
    begins = [0, *accumulate(len(one.text) + 1 for one in sentences)]
    return _Words(begins, text, begin, source.text[begin:stop], ours, at)


def _place(paragraph: _Words, fault: Fault) -> tuple[int, int] | None:
    """Where in the source the words of a fault are; of none before a full stop, the place before that."""
    before = paragraph.begins[fault.sentence]
    start, end = before + fault.start, before + fault.end
    words = list(zip(paragraph.ours, paragraph.at, strict=True))
    if start == end:
        left = next((there for here, there in reversed(words) if here.end() <= start and there), None)
        right = next((there for here, there in words if here.start() >= start and there), None)
        if left is None:
            return None
        stop = STOP.search(paragraph.source[left.end() : right.start() if right else len(paragraph.source)])
        return None if stop is None else (paragraph.begin + left.end() + stop.start(),) * 2
    at = [there for here, there in words if start <= here.start() and here.end() <= end]
    if not at or at[0] is None or at[-1] is None:
        return None
    first, last = at[0].start(), at[-1].end()
    command = len(at) == 1 and paragraph.source[first] == "\\"  # the paper's own, for a number or a name
    if command or " ".join(paragraph.source[first:last].split()) == paragraph.text[start:end]:
        return paragraph.begin + first, paragraph.begin + last
    return None


def _at(word: int, matched: Mapping[int, int], theirs: Sequence[re.Match[str]]) -> int | None:
    """The word of the source that a word of the text is, or the command that alone stands between its neighbours."""
    if word in matched:
        return matched[word]
    place = matched.get(word - 1, -2) + 1
    alone = 0 < place < len(theirs) and matched.get(word + 1, len(theirs)) == place + 1
    return place if alone and theirs[place][0].startswith("\\") else None


def _matched(ours: Sequence[str], theirs: Sequence[str]) -> dict[int, int]:
    blocks = SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks()
    return {one.a + k: one.b + k for one in blocks for k in range(one.size)}


def _applied(source: str, edits: Sequence[Edit]) -> str:
    for one in sorted(edits, key=lambda edit: -edit.start):
        source = source[: one.start] + one.words + source[one.end :]
    return source


def _as_it_should(was: Draft, changed: Draft, some: Sequence[Fault]) -> bool:
    """Whether a paper reads as before but for its faults."""
    wanted = {(one.paragraph, one.sentence): one for one in some}
    expected = [
        [
            wanted[number, place].changed(one.text) if (number, place) in wanted else one.text
            for place, one in enumerate(paragraph.sentences)
        ]
        for number, paragraph in enumerate(was.paragraphs)
    ]
    texts = [[one.text for one in paragraph.sentences] for paragraph in changed.paragraphs]
    return texts == expected and _shown(was) == _shown(changed)


def _shown(draft: Draft) -> list[tuple[str, str, str, str]]:
    return [(one.name, one.caption, one.rows, one.notes) for one in draft.floats.values()]


def _text(file: Path) -> str:
    """A source as it is, every byte of it."""
    return file.read_bytes().decode("utf-8", "surrogateescape")
