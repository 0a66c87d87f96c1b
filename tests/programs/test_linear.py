"""Hostile text costs time in proportion to its length: what a server, a paper or a caption can be made to hold must not
stop the process."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from aisr.base import redact
from aisr.base.files import digest_texts
from aisr.programs import drafts
from aisr.programs.images import LABEL
from aisr.programs.text import alike, clean, item, lettered, plain, sentences
from aisr.tracking.store import reason
from support.growth import Expression, attacks, expressions, slow
from support.paths import ROOT

KNOWN = Path(__file__).with_name("linear_expressions.txt")  # digests of those that were probed; `python` writes it


def digest(expression: Expression) -> str:
    pattern = expression.pattern
    return digest_texts([pattern.pattern, str(pattern.flags), str(expression.whole)])


def test_no_regular_expression_tries_all_ways_to_split_a_text() -> None:
    """Probing all takes minutes: those are probed that the file does not know. `PYTHONPATH=.:tests python FILE` adds
    them to it once they have passed."""
    known = set(KNOWN.read_text(encoding="utf-8").split())
    by_digest = {digest(one): one for one in expressions(ROOT, ["programs", "metrics", "optimize", "aisr"])}
    assert hangs(Expression("one that does", re.compile("(?:a+)+b"), True))
    assert {one.name: message for key, one in by_digest.items() if key not in known and (message := hangs(one))} == {}


def hangs(expression: Expression) -> str | None:
    return next((message for attack in attacks(expression) if (message := slow(expression.ask, attack))), None)


READERS: dict[str, tuple[Callable[[str], object], str, str]] = {
    "a marker that does not end": (plain, "<<", " "),
    "marks in no order": (plain, "e", "\u0316\u0300"),
    "marks in what is compared": (alike, "e", "\u0316\u0300"),
    "a bracket that does not close": (lambda text: item(text, LABEL.fullmatch), "[", " a"),
    "letters of LaTeX": (clean, "", "\\mathrm { a"),
    "pictures": (drafts.items_of, "![a](", " "),
    "pictures in pictures": (drafts.items_of, "", "![a]("),
    "ends of sentences": (sentences, "", "A. "),
    "the cause of an error": (lambda text: reason(Exception(text)), "Caused by E(", ": "),
    "addresses": (redact.addresses, "", "http://a"),
    "letters of a paper": (lambda text: lettered.__wrapped__((text,)), "e", "\u0316\u0300"),
}


@pytest.mark.parametrize("name", READERS)
def test_no_reader_of_text_hangs(name: str) -> None:
    read, head, piece = READERS[name]
    assert slow(read, lambda length: head + piece * (length // len(piece))) is None


if __name__ == "__main__":
    test_no_regular_expression_tries_all_ways_to_split_a_text()
    now = sorted({digest(one) for one in expressions(ROOT, ["programs", "metrics", "optimize", "aisr"])})
    KNOWN.write_text("\n".join(now) + "\n", encoding="utf-8")
