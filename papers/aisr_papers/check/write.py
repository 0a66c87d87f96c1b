"""The files that a checked paper leaves, and its lines in the terminal: the page, SARIF, JSON Lines."""

import json
import re
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from aisr.files import digest_text, write_whole
from aisr.text import pluralize, printable, valid_text
from aisr_papers.check.dismissed import dismissal_line
from aisr_papers.check.flags import (
    EXACT,
    HIDDEN,
    HIDDEN_MEANS,
    NOT_JUDGED,
    Flag,
    Kind,
    Piece,
    Review,
    file_path,
    label_words,
    level,
    lost_words,
    reason_place,
    reason_words,
    reasons_as_data,
)
from aisr_papers.check.page import Thumbnail, inline_pictures, no_picture, render_page, thumbnails
from aisr_papers.draft import Place, Sentence
from aisr_papers.recompute.facts import Outcome
from aisr_papers.recompute.recompute import PlacedFact

PAGE, SARIF, JSONL = "paper.html", "paper.sarif", "paper.jsonl"
LONGEST = 240  # characters of a sentence in a list


def write_files(folder: Path, review: Review) -> list[Path]:
    """Write them into a folder, over those of an earlier run; their paths, the page first."""
    small = thumbnails(review.draft.folder, review.draft.drawings)
    files = [write_page(folder, review, small), folder / SARIF, folder / JSONL]
    write_whole(folder / SARIF, as_sarif(review))
    write_whole(folder / JSONL, as_jsonl(review))
    return files


# --- The page: one HTML file that loads nothing, the error browser's look, in the paper's own order.


def write_page(folder: Path, review: Review, thumbnail: Thumbnail = no_picture) -> Path:
    """Write the page into a folder; its path. thumbnail: the path of a picture below the draft's folder -> a small
    copy. Halves of characters, which a PDF may hold, become question marks."""
    paths = {piece.picture for flag in review.flags for piece in flag.evidence if piece.picture}
    page = render_page(
        review.draft.title or "A paper without a title",
        {"review": _content(review), "pictures": inline_pictures(paths, thumbnail)},
        lm=review.lm,
        reliability=[*lost_words(review.draft), *review.reliability],
        details=review.details,
        left_out=[*left_out(review), *list_recomputed(review)],
        flags=bool(review.flags),
    )
    write_whole(folder / PAGE, page.encode("utf-8", "replace"))
    return folder / PAGE


def left_out(review: Review) -> list[dict[str, Any]]:
    """What is not among the flags and why, in groups: title and items."""
    works = review.draft.works
    titles = {key: f" ({works[key].title})" for key in review.missing if key in works and works[key].title}
    missing = [f"{key}{titles.get(key, '')}: {pluralize(count, 'sentence')}" for key, count in review.missing.items()]
    lost = lost_words(review.draft)
    groups = [
        (lost[0] if lost else "", lost[1:]),
        ("judging was stopped", [review.stopped] if review.stopped else []),
        (f"not read: {len(review.draft.unread)}", [f"{one.place}: {one.reason}" for one in review.draft.unread]),
        (f"cited works without a file: {len(missing)}", missing),
        (
            f"sentences not held against the paper: {sum(review.skipped.values())}",
            [f"{why}: {pluralize(count, 'sentence')}" for why, count in review.skipped.items()],
        ),
        (f"pictures not shown: {len(review.pictures)}", [f"{path}: {why}" for path, why in review.pictures.items()]),
    ]
    return [{"title": title, "items": items} for title, items in groups if items]


def list_recomputed(review: Review) -> list[dict[str, Any]]:
    """What was recomputed and holds, and what could not be decided, in groups: title and items, a sentence each. The
    title counts recomputations."""
    groups = []
    for outcome, title in ((Outcome.HOLDS, "recomputed and right"), (Outcome.UNDECIDED, "not decided")):
        computed: dict[str, list[str]] = {}
        for one in review.recomputed:
            if one.fact.outcome is outcome:
                sentence = _sentence(review, one)
                computed.setdefault(f"{sentence.place}: “{_bounded(sentence.text)}”", []).append(one.fact.computed)
        items = [printable(f"{words}: {'; '.join(each)}") for words, each in computed.items()]
        groups.append({"title": f"{title}: {sum(map(len, computed.values()))}", "items": items})
    return [one for one in groups if one["items"]]


def _bounded(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rpartition(' ')[0]} …"


def _sentence(review: Review, one: PlacedFact) -> Sentence:
    """The sentence of a statement that was recomputed."""
    return review.draft.paragraphs[one.paragraph].sentences[one.sentence]


def _content(review: Review) -> dict[str, Any]:
    """What the script draws; each piece of evidence and each bundle of them stands in it once."""
    pieces: dict[Piece, int] = {}
    bundles: dict[tuple[int, ...], int] = {}
    flags = [_page_flag(review, one, pieces, bundles) for one in review.flags]
    return {
        "labels": {
            kind: {"neutral": one.neutral, "meanings": dict(one.meanings)} for kind, one in review.labels.items()
        },
        "paragraphs": [
            {
                "headings": paragraph.headings,
                "sentences": [
                    {"text": one.text, "place": str(one.place), "hidden": one.hidden} for one in paragraph.sentences
                ],
            }
            for paragraph in review.draft.paragraphs
        ],
        "verdicts": flags,
        "order": review.by_doubt(),
        "bundles": list(bundles),
        "pieces": [{"key": one.key, "lines": one.lines, "picture": one.picture} for one in pieces],
    }


def _page_flag(
    review: Review,
    flag: Flag,
    pieces: dict[Piece, int],
    bundles: dict[tuple[int, ...], int],
) -> dict[str, Any]:
    """A flag with its evidence by its place."""
    bundle = tuple(pieces.setdefault(piece, len(pieces)) for piece in flag.evidence)
    return {
        **flag._asdict(),
        "reasons": [{**data, "mark": one.mark} for data, one in zip(reasons_as_data(flag), flag.reasons, strict=True)],
        "meaning": HIDDEN_MEANS if flag.kind == "hidden" else review.meaning(flag),
        "doubtful": flag.doubtful,
        "folded": flag.folded and not flag.dismissed,
        "level": flag.level,
        "confidence": None if flag.confidence is None else round(min(flag.confidence, 1.0), 4),
        "evidence": bundles.setdefault(bundle, len(bundles)),
        "dismissal": dismissal_line(review, flag) if flag.digest and not flag.dismissed else None,
    }


# --- Flags as lines: `file:line: label: sentence` for editors and terminals, and JSON Lines for programs.


def format_line(review: Review, flag: Flag) -> str:
    """One line, as compilers write theirs: `main.tex:12: Contradicted 83 %: The sentence.`. Of a PDF the page stands
    behind the file: `paper.pdf: page 3: …`."""
    place = review.place(flag)
    where = review.file(flag)
    if place.line is not None:
        where += f":{place.line}"
    elif place.within:
        where += f": {place.within}"
    work = f" [{flag.work}]" if flag.work else ""
    why = f" ({reasons})" if (reasons := reason_words(flag)) else ""
    words = f"{where}: {label_words(flag) or NOT_JUDGED}{work}{why}: {review.sentence(flag).text}"
    return printable(" ".join(words.split()))


def as_jsonl(review: Review) -> str:
    """Every flag, a line each, in the paper's order; then, of kind "recomputed", what was without a fault.
    Where much of the paper could not be read, the first line says so."""
    lost, coverage = lost_words(review.draft), review.draft.coverage
    rows = [{"kind": "coverage", "share": round(coverage.share, 4), "why": lost}] if lost and coverage else []
    rows += [_object(review, one) for one in review.flags]
    for one in review.recomputed:
        if not one.fact.wrong:
            sentence, fact = _sentence(review, one), one.fact
            row = _where(review, sentence.place) | {
                "kind": "recomputed",
                "statement": _bounded(sentence.text),
                "label": fact.outcome,
                "why": fact.computed,
            }
            rows.append(row)
    return "".join(json.dumps(row) + "\n" for row in rows)


def _where(review: Review, place: Place) -> dict[str, Any]:
    file = file_path(review.draft.folder, place)
    return {"file": file, "line": place.line, "page": place.page, "paragraph": place.paragraph or None}


def _object(review: Review, flag: Flag) -> dict[str, Any]:
    return {
        **_where(review, review.place(flag)),
        "kind": flag.kind,
        "sentence": review.sentence(flag).text,
        "statement": flag.statement,
        "work": flag.work,
        "label": flag.label,
        "confidence": None if flag.confidence is None else round(flag.confidence, 4),
        "failed": flag.failure,
        "reasons": reasons_as_data(flag),
        "level": None if flag.neutral else flag.level,
        "dismissed": flag.dismissed,
        "evidence": [
            {"key": piece.key, "text": piece.lines[mark.line], "named": mark.place or None}
            for mark in flag.marks
            for piece in [flag.evidence[mark.piece]]
        ],
    }


# --- Flags as SARIF 2.1.0 (OASIS), which code hosts and editors show at the lines that they are about.
#
# Only what a reader should look at becomes a result. The ids of rules stay: `claim-contradicted`, `citation-overstate`,
# `hidden-text`, `claim-not-judged`; suppressions and filters of others rest on them.

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
UNJUDGED = "not-judged"
FINGERPRINT = "sentence/v1"
NOT_WORD = re.compile(r"[^a-z0-9]+")

BRACKETS = re.compile(r"[\\\[\]]")
PLACEHOLDER = re.compile(r"\{\d+\}")


def _rule_id(flag: Flag) -> str:
    """The id of the rule that a flag is a result of."""
    return _slug(HIDDEN) if flag.kind == "hidden" else _id(flag.kind, flag.label or UNJUDGED)


def as_sarif(review: Review) -> str:
    """The whole file."""
    rules = _rules(review)
    places = {rule["id"]: number for number, rule in enumerate(rules)}
    results = [_result(review, one, places) for one in review.flags if not one.neutral]
    driver = {"name": "check-paper", "version": version("aisr-papers"), "rules": rules}
    reasons = [*lost_words(review.draft), *(f"not read: {one.place}: {one.reason}" for one in review.draft.unread)]
    unread = [{"level": "warning", "message": {"text": _as_it_stands(one)}} for one in reasons]
    invocation = {
        "executionSuccessful": not review.unjudged and review.stopped is None,
        "toolExecutionNotifications": unread,
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": results,
        "properties": {"lm": review.lm, "worth": list(review.reliability)},
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _rules(review: Review) -> list[dict[str, Any]]:
    """One for each label that finds fault, for what was not judged, and for hidden text; whether met or not, in a fixed
    order."""
    rules = []
    for kind, labels in review.labels.items():
        rules += [
            _rule(_id(kind, label), label, meaning, level(kind, label))
            for label, meaning in labels.meanings.items()
            if label != labels.neutral
        ]
        if kind not in EXACT:
            rules.append(_rule(f"{kind}-{UNJUDGED}", "Not judged", "no verdict could be had", "note"))
    return [*rules, _rule(_slug(HIDDEN), HIDDEN, HIDDEN_MEANS, "warning")]


def _id(kind: Kind, label: str) -> str:
    """`claim-contradicted`; `quote-not-found`, not `quote-quote-not-found`."""
    return f"{kind}-{_slug(label).removeprefix(f'{kind}-')}"


def _rule(name: str, label: str, meaning: str, level: str) -> dict[str, Any]:
    return {
        "id": name,
        "name": "".join(word.capitalize() for word in label.split()),
        "shortDescription": {"text": f"{label}: {meaning}."},
        "defaultConfiguration": {"level": level},
    }


def _result(review: Review, flag: Flag, rules: Mapping[str, int]) -> dict[str, Any]:
    place, rule = review.place(flag), _rule_id(flag)
    sure = "" if flag.confidence is None else f" ({flag.confidence:.0%})".replace("%", " %")
    within = f"{place.within[0].upper()}{place.within[1:]}: " if place.within else ""
    work = f" [{flag.work}]" if flag.work else ""
    words = reason_words(flag) or (flag.failure if flag.label is None else "")
    why = f" ({words})" if words else ""
    text = f"{within}{flag.label or 'Not judged'}{sure}{work}{why}: {review.sentence(flag).text}"
    result: dict[str, Any] = {
        "ruleId": rule,
        "ruleIndex": rules[rule],
        "level": flag.level,
        "message": {"text": _as_it_stands(text)},
        "locations": [_location(review, place)],
        "partialFingerprints": {FINGERPRINT: _fingerprint(rule, flag, review.sentence(flag).text)},
        "properties": {
            **({"page": place.page} if place.page is not None else {}),
            **({"reasons": reasons} if (reasons := reasons_as_data(flag)) else {}),
        },
    }
    if flag.dismissed:
        result["suppressions"] = [{"kind": "external", "status": "accepted"}]
    if flag.confidence is not None:
        result["rank"] = round(100 * min(flag.confidence, 1.0), 2)
    if related := _related(review, flag):
        result["relatedLocations"] = [
            {**_location(review, where), "id": number, "message": {"text": _as_it_stands(what)}}
            for number, (what, where) in enumerate(related.items())
        ]
    return result


def _related(review: Review, flag: Flag) -> dict[str, Place]:
    """The floats that reasons of a flag stand in, with row and column, then the others that its sentence refers to,
    and where each begins."""
    starts = {one.name: one.place for one in review.draft.floats.values()}
    known = [reason_place(flag, reason) for reason in flag.reasons]
    related = {str(one): starts[one.name] for one in known if one and one.name in starts}
    names = {one.name for one in known if one}
    keys = [key for key in review.sentence(flag).float_keys if key in review.draft.floats]
    others = [review.draft.floats[key] for key in keys]
    return related | {one.name: one.place for one in others if one.name not in names}


def _as_it_stands(text: str) -> str:
    """A message in which nothing of a sentence is a link or a placeholder (SARIF 2.1.0, sections 3.11.5 and 3.11.6),
    and no half of a character."""
    text = valid_text(text)
    if "](" in text:
        text = BRACKETS.sub(r"\\\g<0>", text)
    return PLACEHOLDER.sub(r"{\g<0>}", text)


def _fingerprint(rule: str, flag: Flag, sentence: str) -> str:
    """The same for the same sentence wherever it stands, so that an edit above it does not make it a new result. The
    statement alone may be a few numbers, which other sentences repeat."""
    text = f"{rule}\n{flag.work or ''}\n{flag.statement}\n{sentence}"
    return digest_text(text.encode("utf-8", "replace").decode())


def _location(review: Review, place: Place) -> dict[str, Any]:
    # A relative reference, byte by byte: file names need not be text.
    uri = quote(file_path(review.draft.folder, place), errors="surrogateescape")
    location: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if place.line is not None:
        location["region"] = {"startLine": place.line}
    return {"physicalLocation": location}


def _slug(label: str) -> str:
    return NOT_WORD.sub("-", label.lower()).strip("-")
