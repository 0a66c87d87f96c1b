"""What a checked paper leaves: the page, JSON Lines, SARIF, which code hosts and editors show at the lines that results
are about, and a line a flag for terminals."""

import json
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from aisr.text import digest_text, printable, valid_text, write_whole
from aisr_papers.check.flags import JUDGED, LABELS, NEUTRAL, NOT_JUDGED, Flag, Kind, file_path, label_words, level
from aisr_papers.check.page import FLAG, write_page
from aisr_papers.check.review import Review, lost_words, shorten


def write_files(folder: Path, review: Review) -> list[Path]:
    """Write them into a folder, over those of an earlier run; return their paths, the page first."""
    page, sarif, jsonl = folder / "paper.html", folder / "paper.sarif", folder / "paper.jsonl"
    write_page(page, review)
    write_whole(sarif, as_sarif(review))
    write_whole(jsonl, as_jsonl(review))
    return [page, sarif, jsonl]


def format_line(flag: Flag) -> str:
    """Return one line, as compilers write theirs: `main.tex:12: Contradicted 83 %: The sentence.`. Of a PDF the page
    stands behind the file: `paper.pdf: page 3: …`."""
    where = f"{flag.file}:{flag.line}" if flag.line is not None else flag.file
    within = f"{flag.within}: " if flag.within else ""
    return printable(" ".join(f"{where}: {within}{_describe(flag, flag.why)}".split()))


def _describe(flag: Flag, why: str) -> str:
    """Return the label of a flag, what it cites, why, and the sentence."""
    work = f" [{flag.work}]" if flag.work else ""
    return f"{label_words(flag)}{work}{f' ({why})' if why else ''}: {flag.sentence}"


def as_jsonl(review: Review) -> str:
    """Return every flag, a line each, in the paper's order; then, of kind "recomputed", what was without a fault.
    Where much of the paper could not be read, the first line says so."""
    lost, coverage = lost_words(review.draft), review.draft.coverage
    rows: list[dict[str, Any]] = []
    if lost and coverage:
        rows.append({"kind": "coverage", "share": round(coverage.share, 4), "why": lost})
    rows += [FLAG.dump_python(one, mode="json") for one in review.flags]
    for position, fact in review.recomputed:
        if not fact.wrong:
            sentence = review.draft.sentence(position)
            place = sentence.place
            row = {
                "kind": "recomputed",
                "file": file_path(review.draft.folder, place),
                "line": place.line,
                "page": place.page,
                "paragraph": place.paragraph or None,
                "statement": shorten(sentence.text),
                "label": fact.outcome,
                "why": fact.computed,
            }
            rows.append(row)
    return "".join(json.dumps(row) + "\n" for row in rows)


# --- SARIF 2.1.0 (OASIS). Only what a reader should look at becomes a result. The ids of rules stay, such as
# `claim-contradicted`, `hidden-text` and `claim-not-judged`; suppressions and filters of others rest on them.

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "sentence/v1"
NOT_WORD = re.compile(r"[^a-z0-9]+")

BRACKETS = re.compile(r"[\\\[\]]")
PLACEHOLDER = re.compile(r"\{\d+\}")


def _id(kind: Kind, label: str) -> str:
    """Return the id of a rule: `claim-contradicted`; `quote-not-found`, not `quote-quote-not-found`."""
    return f"{kind}-{NOT_WORD.sub('-', label.lower()).strip('-').removeprefix(f'{kind}-')}"


def _rules() -> list[dict[str, Any]]:
    """One for each label that finds fault, and for what was not judged; whether met or not, in a fixed order."""
    labels = {(kind, label): meaning for kind, meanings in LABELS.items() for label, meaning in meanings.items()}
    labels |= {(kind, NOT_JUDGED): "no label could be had" for kind in JUDGED}
    return [
        {
            "id": _id(kind, label),
            "name": "".join(word.capitalize() for word in label.split()),
            "shortDescription": {"text": f"{label[0].upper()}{label[1:]}: {meaning}."},
            "defaultConfiguration": {"level": level(kind, None if label == NOT_JUDGED else label)},
        }
        for (kind, label), meaning in labels.items()
        if label != NEUTRAL
    ]


RULES = _rules()
PLACES = {rule["id"]: number for number, rule in enumerate(RULES)}


def as_sarif(review: Review) -> str:
    """Return the whole file."""
    reasons = [*lost_words(review.draft), *(f"not read: {one.place}: {one.reason}" for one in review.draft.unread)]
    run = {
        "tool": {"driver": {"name": "check-paper", "version": version("aisr-papers"), "rules": RULES}},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not review.unjudged and review.stopped is None,
                "toolExecutionNotifications": [
                    {"level": "warning", "message": {"text": _as_it_stands(one)}} for one in reasons
                ],
            }
        ],
        "results": [_result(one) for one in review.flags if not one.neutral],
        "properties": {"lm": review.lm, "worth": list(review.reliability)},
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _result(flag: Flag) -> dict[str, Any]:
    rule = _id(flag.kind, flag.label or NOT_JUDGED)
    within = f"{flag.within[0].upper()}{flag.within[1:]}: " if flag.within else ""
    text = within + _describe(flag, flag.why or (flag.failed or "" if flag.label is None else ""))
    # The same for the same sentence wherever it stands, so that an edit above it does not make it a new result. The
    # statement alone may be a few numbers, which other sentences repeat.
    known_by = f"{rule}\n{flag.work or ''}\n{flag.statement}\n{flag.sentence}"
    # A relative reference, byte by byte: file names need not be text.
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(flag.file, errors="surrogateescape")}}
    if flag.line is not None:
        place["region"] = {"startLine": flag.line}
    result: dict[str, Any] = {
        "ruleId": rule,
        "ruleIndex": PLACES[rule],
        "level": flag.level,
        "message": {"text": _as_it_stands(text)},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {FINGERPRINT: digest_text(known_by.encode("utf-8", "replace").decode())},
        "properties": {"page": flag.page, "reasons": FLAG.dump_python(flag, mode="json")["reasons"]},
    }
    if flag.dismissed:
        result["suppressions"] = [{"kind": "external", "status": "accepted"}]
    if flag.confidence is not None:
        result["rank"] = round(100 * flag.confidence, 2)
    return result


def _as_it_stands(text: str) -> str:
    """Return a message in which nothing of a sentence is a link or a placeholder (SARIF 2.1.0, sections 3.11.5 and
    3.11.6), and no half of a character."""
    text = valid_text(text)
    if "](" in text:
        text = BRACKETS.sub(r"\\\g<0>", text)
    return PLACEHOLDER.sub(r"{\g<0>}", text)
