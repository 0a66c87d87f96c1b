"""A session of checking for an agent: one budget for all of it, files below named folders, flags to ask about again.

What no tool call can change is set once, at the start: the language model, the programs, the limits, the folders.
Without a model, nothing that needs one is imported.
"""

import stat
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from aisr import UserError
from aisr.files import cache_folder, digest_texts
from aisr_papers.check.answers import (
    Checked,
    Estimated,
    Explained,
    Sentence,
    Spent,
    Words,
    clean,
    meanings,
    quote_text,
)
from aisr_papers.check.dismissed import mark_dismissed
from aisr_papers.check.exact import add_exact_flags, read_paper, without_lm
from aisr_papers.check.flags import Flag, Review, reason_words, sort_flags
from aisr_papers.draft import Draft, Paragraph, Place
from aisr_papers.draft import Sentence as DraftSentence

if TYPE_CHECKING:
    from aisr import LanguageModel
    from aisr_papers.check.checks import Checks
    from aisr_papers.check.judging import Checker, Programs


class Refused(UserError):
    """A call that the checker refuses, in its own words alone: no text of a paper, a model or a server is in them."""


# --- The folders that an agent may name files in: those of the server's start, and nothing that a link leads out to.


def resolve_path(folders: Sequence[Path], name: str, *, folder: bool = False) -> Path:
    """The regular file, or folder, that a tool call names: below one of the folders, after links are followed; a
    relative path is below the first of them that has it. Raises `Refused` otherwise, and says the same of what lies
    outside and of what does not exist, so that nobody can probe for files."""
    for above in folders:
        try:
            path = (above / name).resolve(strict=True)
            mode = path.stat().st_mode
        except (OSError, ValueError, RuntimeError):
            continue
        right = stat.S_ISDIR(mode) if folder else stat.S_ISREG(mode)
        if right and any(path.is_relative_to(one) for one in folders):
            return path
    names = ", ".join(map(str, folders))
    raise Refused(f"path: no such {'folder' if folder else 'file'} below the folders of this session: {names}")


# --- The session.

REMEMBERED = 20_000  # flags, the oldest are forgotten
MOST_SENTENCES, MOST_PIECES, MOST_CHARACTERS = 200, 2_000, 2_000_000  # of one call


class Cancelled(Exception):
    """The agent wants no more of it."""


class Paper(NamedTuple):
    """A paper and what there is to check in it."""

    draft: Draft
    checks: "Checks | None"  # None where no language model is asked
    works: Mapping[str, Mapping[str, str]]  # the cited papers by key: paragraph id -> text

    @property
    def questions(self) -> int:
        """How many the language model is asked."""
        return len(self.checks.claims) + len(self.checks.citations) if self.checks else 0


@dataclass(frozen=True)
class Settings:
    """What a session is opened with."""

    folders: Sequence[Path]
    artifacts: Path
    programs: "Programs | None" = None  # the compiled ones; None: the uncompiled ones judge
    evidence: str | None = None  # what an uncompiled program shows of a picture, see `make_checkers`
    dismissed: Set[str] = frozenset()  # the digests of flags that a reader dismissed
    max_usd: float | None = None  # the limits of its LM
    max_calls: int | None = None


class Session:
    """Checks for one agent, on any number of threads. lm: None where nothing is asked of a model."""

    def __init__(self, settings: Settings, lm: "LanguageModel | None") -> None:
        self.settings, self.lm = settings, lm
        self._lock = threading.Lock()
        self._flags: OrderedDict[str, Explained] = OrderedDict()
        self._checkers = self._make_checkers(None, lm) if lm else ()

    def spent(self) -> Spent | None:
        """What all calls of the session came to so far."""
        if self.lm is None:
            return None
        spend, most_usd, most_calls = self.lm.spend, self.settings.max_usd, self.settings.max_calls
        calls, usd = int(spend["calls"] or 0), spend["usd"]
        return Spent(
            calls=calls,
            usd=usd,
            calls_left=None if most_calls is None else max(0, most_calls - calls),
            usd_left=None if most_usd is None else max(0.0, most_usd - (usd or 0.0)),
        )

    def judge(self, draft: Draft, checks: "Checks") -> Checked:
        """The flags on what was sent without a file."""
        from aisr_papers.check.judging import review_draft

        lm, spent = self._lm(), self.spent
        review = review_draft(draft, checks, self._checkers, lm)
        flags = [one.brief() for one in self.sentences(review, range(len(review.flags)))]
        return Checked(verdicts=flags, meanings=meanings(review), spent=spent() or Spent(calls=0))

    def cost(self, draft: Draft | None, checks: "Checks") -> Estimated:
        """What checking would come to by a dry run; nothing is sent. draft: None for what comes without a file."""
        from aisr_papers.check.judging import review_draft

        lm = self._lm().estimating()
        review_draft(draft or _draft([]), checks, self._make_checkers(draft, lm), lm)
        calls, tokens = (int(lm.spend[name] or 0) for name in ("calls", "prompt_tokens"))
        return Estimated(asks=lm.spec, calls=calls, prompt_tokens=tokens, usd=lm.spend["usd"])

    def paper(self, path: str, papers: str | None, root: str | None = None, interpretations: bool = False) -> Paper:
        """A paper below the folders, and what there is to check in it. Raises `Refused`."""
        folders = self.settings.folders
        file = resolve_path(folders, path)
        cited = None if papers is None else resolve_path(folders, papers, folder=True)
        above = None if root is None else resolve_path(folders, root, folder=True)
        figures = cache_folder(self.settings.artifacts) / "figures" if self.lm else None
        draft, works = read_paper(file, above, cited, figures)
        checks = None
        if self.lm:
            from aisr_papers.check.checks import collect_checks

            checks = collect_checks(draft, works, interpretations)
        return Paper(draft, checks, works)

    def exact_review(self, paper: Paper) -> Review:
        """A paper with what is known of it at once, without a language model."""
        exact = without_lm(paper.draft, paper.works)
        return replace(exact, labels={**exact.labels, **{by.kind: by.labels for by in self._checkers}})

    def review_so_far(self, paper: Paper, exact: Review, flags: Sequence[Flag]) -> Review:
        """A paper with what is known of it at once, and these flags of a model beside it."""
        review = replace(exact, flags=sort_flags([*exact.flags, *flags]))
        return mark_dismissed(review, self.settings.dismissed)

    def review(self, paper: Paper, done: Callable[[Sequence[Flag]], None]) -> Review:
        """A whole paper with its flags; `done` gets those of each question, and may raise `Cancelled`."""
        from aisr_papers.check.judging import review_draft

        lm = self._lm()
        if paper.checks is None:
            raise Refused("the paper was read without a language model")
        review = review_draft(paper.draft, paper.checks, self._make_checkers(paper.draft, lm), lm, done)
        return mark_dismissed(add_exact_flags(review, paper.works), self.settings.dismissed)

    def explain(self, name: str) -> Explained:
        """What a flag of this session rests on. Raises `Refused` for an unknown one."""
        with self._lock:
            flag = self._flags.get(name)
        if flag is None:
            raise Refused("id: no verdict of this session has it (the oldest are forgotten)")
        return flag

    def sentences(self, review: Review, places: Sequence[int]) -> list[Sentence]:
        """The flags at these positions as an agent gets them, remembered for `explain`."""
        ids = self._ids(review)
        sentences = [self._sentence(review, review.flags[place], ids[place]) for place in places]
        with self._lock:
            for place, sentence in zip(places, sentences, strict=True):
                flag = review.flags[place]
                self._flags.pop(sentence.id, None)
                self._flags[sentence.id] = _explained(sentence, flag, review.meaning(flag))
            while len(self._flags) > REMEMBERED:
                self._flags.popitem(last=False)
        return sentences

    def _sentence(self, review: Review, flag: Flag, name: str) -> Sentence:
        place = review.place(flag)
        texts = {
            "instead": reason_words(flag) or None,
            "file": self._path(review.draft, place),
            "paragraph": place.paragraph or None,
            "work": flag.work,
            "failed": flag.failure,
        }
        words = {key: clean(text) for key, text in texts.items() if text is not None}
        return Sentence(
            id=name,
            label=flag.label,
            level=None if flag.neutral or flag.dismissed else flag.level,
            dismissed=flag.dismissed or None,
            confidence=None if flag.confidence is None else round(flag.confidence, 2),
            line=place.line,
            page=place.page,
            quote=Words(text=clean(review.sentence(flag).text), **words),
        )

    def _ids(self, review: Review) -> list[str]:
        """The ids of the flags of a review: of what they are about, wherever it stands in its file. Without a file,
        the evidence that came with a sentence belongs to it."""
        repeats: Counter[str] = Counter()
        ids = []
        for one in review.flags:
            sentence, file = review.sentence(one), self._path(review.draft, review.place(one))
            where = [file] if file else [line for piece in one.evidence for line in piece.lines]
            name = digest_texts([one.kind, one.work or "", sentence.text, one.statement, *where])[:10]
            repeats[name] += 1
            ids.append(name if repeats[name] == 1 else f"{name}-{repeats[name]}")
        return ids

    def _path(self, draft: Draft, place: Place) -> str | None:
        """The file of a place from the session's folder that it lies in, as tools take it; None without a file."""
        if draft.folder == Path():
            return None
        file = (draft.folder / place.file).resolve()
        above = next((one for one in self.settings.folders if file.is_relative_to(one)), None)
        return file.relative_to(above).as_posix() if above else place.file

    def _lm(self) -> "LanguageModel":
        if self.lm is None:
            raise Refused("this session has no language model (--lm none)")
        return self.lm

    def _make_checkers(self, draft: Draft | None, lm: "LanguageModel") -> "Sequence[Checker]":
        from aisr_papers.check.judging import Programs, make_checkers

        settings = self.settings
        programs = settings.programs or Programs()
        folder, drawings = (settings.folders[0], {}) if draft is None else (draft.folder, draft.drawings)
        return make_checkers(programs, lm, folder, drawings, settings.artifacts, settings.evidence)


def claim_check(sentences: Sequence[str], evidence: Sequence[str]) -> "tuple[Draft, Checks]":
    """Sentences against evidence, as a paper that has nothing else. Raises `Refused` for too much, or nothing."""
    from aisr_papers.check.checks import Checks
    from aisr_papers.check.questions import Check
    from aisr_papers.draft_record import DraftRecord

    texts = [" ".join(one.split()) for one in sentences]
    if not any(texts) or not any(one.strip() for one in evidence):
        raise Refused("give at least one sentence, and at least one piece of evidence")
    _check_size([*texts, *evidence], len(texts))
    record = DraftRecord.model_validate(
        {
            "id": "draft",
            "paragraph": " ".join(texts),
            "sentences": [{"sentence": one} for one in texts],
            "evidence_bundle": [{"type": "text", "text": one} for one in evidence if one.strip()],
        }
    )
    check = Check(record, tuple((0, number) for number in range(len(texts))))
    return _draft(texts), Checks((check,), (), {}, {})


def citation_check(claim: str, paragraphs: Sequence[str]) -> "tuple[Draft, Checks]":
    """A claim against the paragraphs of a paper. Raises `Refused` for too much, or nothing."""
    from aisr_papers.check.checks import Checks
    from aisr_papers.check.questions import Check, citation_record

    text, texts = " ".join(claim.split()), [" ".join(one.split()) for one in paragraphs if one.strip()]
    if not text or not texts:
        raise Refused("give a claim, and a paper that has some text")
    _check_size([text, *texts], 1)
    paper = {f"P{number}": one for number, one in enumerate(texts, start=1)}
    check = Check(citation_record("draft", text, paper), ((0, 0),))
    return _draft([text]), Checks((), (check,), {}, {})


def _check_size(texts: Sequence[str], sentences: int) -> None:
    if sentences > MOST_SENTENCES or len(texts) > MOST_PIECES or sum(map(len, texts)) > MOST_CHARACTERS:
        raise Refused(
            f"at most {MOST_SENTENCES} sentences, {MOST_PIECES:,} pieces of evidence or paragraphs with them, and "
            f"{MOST_CHARACTERS:,} characters a call; ask again"
        )
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        raise Refused("a text holds half of a surrogate pair, which is no character; send it as UTF-8") from None


def _draft(texts: Sequence[str]) -> Draft:
    """A draft of one paragraph."""
    place = Place("draft")
    return Draft(Path(), "", (Paragraph(tuple(DraftSentence(text, place) for text in texts)),), {}, {})


def _explained(sentence: Sentence, flag: Flag, meaning: str) -> Explained:
    named = {mark.piece: mark.place for mark in flag.marks if mark.place}
    pieces = [quote_text(piece.key, "\n".join(piece.lines)) for piece in flag.evidence]
    first = [pieces[k] for k in sorted(named, key=named.__getitem__)]
    shown = [one for k, one in enumerate(pieces) if k not in named]
    return Explained(verdict=sentence, meaning=meaning, named=first, shown=shown)
