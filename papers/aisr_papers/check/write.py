"""The files that a checked paper leaves (the page, SARIF, JSON Lines), and a line a flag for terminals."""

import json
from pathlib import Path
from typing import Any

from aisr.text import printable, write_whole
from aisr_papers.check.flags import NOT_JUDGED, Flag, file_path, label_words
from aisr_papers.check.page import FLAG, write_page
from aisr_papers.check.review import Review, lost_words, shorten
from aisr_papers.check.sarif import as_sarif


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
    where = flag.file
    if flag.line is not None:
        where += f":{flag.line}"
    elif flag.within:
        where += f": {flag.within}"
    work = f" [{flag.work}]" if flag.work else ""
    why = f" ({flag.why})" if flag.why else ""
    words = f"{where}: {label_words(flag) or NOT_JUDGED}{work}{why}: {flag.sentence}"
    return printable(" ".join(words.split()))


def as_jsonl(review: Review) -> str:
    """Return every flag, a line each, in the paper's order; then, of kind "recomputed", what was without a fault.
    Where much of the paper could not be read, the first line says so."""
    lost, coverage = lost_words(review.draft), review.draft.coverage
    rows: list[dict[str, Any]] = []
    if lost and coverage:
        rows.append({"kind": "coverage", "share": round(coverage.share, 4), "why": lost})
    rows += [FLAG.dump_python(one, mode="json") for one in review.flags]
    for one in review.recomputed:
        if not one.fact.wrong:
            sentence = review.draft.paragraphs[one.paragraph].sentences[one.sentence]
            place = sentence.place
            row = {
                "kind": "recomputed",
                "file": file_path(review.draft.folder, place),
                "line": place.line,
                "page": place.page,
                "paragraph": place.paragraph or None,
                "statement": shorten(sentence.text),
                "label": one.fact.outcome,
                "why": one.fact.computed,
            }
            rows.append(row)
    return "".join(json.dumps(row) + "\n" for row in rows)
