"""Flags that a reader dismissed, by their digests in a text file: they do not come back until their sentence or their
evidence changes."""

import re
import stat
from collections.abc import Set
from dataclasses import replace
from functools import cache
from pathlib import Path

from aisr import UserError
from aisr.files import digest_file, digest_texts
from aisr_papers.check.flags import EXACT, Flag, merge_flags
from aisr_papers.check.review import Review, shorten
from aisr_papers.readers.figures import Limits

DIGEST_LENGTH = 16
DIGEST = re.compile(rf"[0-9a-f]{{{DIGEST_LENGTH}}}")
MOST_BYTES = 4 * 2**20  # of the file, some 40,000 flags
MOST_WORDS = 80  # characters of a sentence beside its digest
MOST_PICTURE_BYTES = Limits().bytes  # no picture that is larger is shown to a model


def read_dismissed(file: Path | None) -> frozenset[str]:
    """Return the digests in a file: the first word of each line. The rest of a line, empty lines and lines that begin
    with `#` are for people. None: no digests. Raises UserError for what is no such file."""
    if file is None:
        return frozenset()
    if not file.is_file():
        raise UserError(f"--dismissed {file}: no such file; expected a text file with a digest a line, as pages show")
    if file.stat().st_size > MOST_BYTES:
        raise UserError(f"--dismissed {file}: larger than {MOST_BYTES >> 20} MiB; expected a digest a line")
    lines = file.read_text(encoding="utf-8-sig", errors="replace").split("\n")
    words = [(number, line.split()[0]) for number, line in enumerate(lines, start=1) if line.strip()]
    digests = [(number, word) for number, word in words if not word.startswith("#")]
    for number, word in digests:
        if not DIGEST.fullmatch(word):
            raise UserError(
                f"{file}:{number}: {word[:40]!r} is no digest of a flag; expected {DIGEST_LENGTH} hexadecimal digits, "
                "as the page of the paper shows them"
            )
    return frozenset(word for _, word in digests)


def dismissal_line(flag: Flag) -> str:
    """Return the line by which a flag is dismissed: its digest, and what a person knows it by."""
    return f"{flag.digest} {flag.label}: {shorten(flag.sentence, MOST_WORDS)}"


def mark_dismissed(review: Review, dismissed: Set[str]) -> Review:
    """Return the review with one flag a sentence (see `merge_flags`), the digest of each that finds fault, and a mark
    on those that were dismissed: a sentence is, by a flag of any check. dismissed: these digests.

    Of the pictures those are read that a flag shows, also where nothing is dismissed yet: a flag is dismissed by the
    digest that the page of its first review has.
    """
    names = {piece.picture for one in review.flags if _is_fault(one) for piece in one.pieces if piece.picture}
    files = {
        path: picture.file
        for one in review.draft.floats.values()
        for picture in one.pictures
        # A part of a PDF page or a Word file is one of the paper itself, of which any edit changes the file.
        if picture.box is None and not picture.member and picture.file.is_relative_to(review.draft.folder)
        if (path := picture.path(review.draft.folder)) in names
    }
    pictures = {path: digest_file(file) for path, file in files.items() if _is_readable(file)}
    digest_piece = cache(lambda piece: digest_texts([piece.key, *piece.lines]))  # one table may be evidence for many

    def mark(flag: Flag) -> Flag:
        if not _is_fault(flag):
            return flag
        # Of what was recomputed, the statement is a few numbers, which another sentence may repeat.
        what = [flag.subject] if flag.kind not in EXACT and flag.subject else map(digest_piece, flag.pieces)
        shown = [pictures.get(piece.picture, "") for piece in flag.pieces if piece.picture]
        digest = digest_texts([flag.kind, flag.work or "", flag.sentence, *what, *shown])
        return replace(flag, digest=digest, dismissed=digest in dismissed)

    return replace(review, flags=merge_flags(map(mark, review.flags)))


def _is_fault(flag: Flag) -> bool:
    return not flag.neutral and flag.label is not None


def _is_readable(file: Path) -> bool:
    """Whether it is a file, and one that could be a figure by its size."""
    try:
        status = file.stat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size <= MOST_PICTURE_BYTES
