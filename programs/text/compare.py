"""Whether two texts are the same, or one quotes the other, whatever they were read from.

Letters of other scripts that look like one of the 26 of English.

What looks like what is Unicode's to say (confusables.txt of UTS #39, version 15.1). Of it are here the letters of eight
scripts that most machines have a font for: Greek, Coptic, Cyrillic, Armenian, Georgian, Cherokee, Lisu, and what Latin
itself has beyond English, such as small capitals. Letters in full width and the alphabets of mathematics are not here:
their compatibility form is the letter itself. Left out are signs that look like digits, which would make numbers of
words; one sign for two (`rn` for `m`); and what looks alike within English (`I` and `l`).

Texts in the form in which they are held against each other, where it counts whether two records share one.

A stranger's copy of a text must not pass for another text by what nobody sees, nor by letters that only look alike (a
Cyrillic `а` for a Latin one; which are known, `LOOK_ALIKES` says).

Finding a quote in a text that was read from a PDF: by its letters and digits alone.

Parsers join and part words, keep hyphens of line ends, write ligatures as one sign or lose them, and turn quotation
marks and dashes into others. So texts are compared without all that is no letter or digit, and without case; what is
given back is the text's own wording.

Whether a text quotes another: runs of words that both have.
"""

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import accumulate
from typing import NamedTuple

from aisr.programs.text.sanitize import INVISIBLE, folded

LOOK_ALIKES = {
    "a": "ɑΑαАаᎪꓮ",
    "b": "ƄΒВЬᏏᏴꓐꞴ",
    "c": "ϲСсᏟᴄⲤⲥꓚꮯϹ",
    "d": "ԁᎠᏧꓒꓓ",
    "e": "ΕЕеҽᎬꓰꬲ",
    "f": "ϜքẝꓝꞘꞙꬵ",
    "g": "ƍɡԌցᏀᏳᶃꓖ",
    "h": "ΗНһհᎻᏂⲎꓧ",
    "i": "ıɩɪΙιІіᎥⲒꓲꙇꭵ",
    "j": "ͿϳЈјᎫꓙꞲ",
    "k": "ΚКᏦⲔꓗ",
    "l": "ƖǀӀӏᏞⳐꓡ",
    "m": "ΜϺМᎷⲘꓟ",
    "n": "ΝոռⲚꓠ",
    "o": "ΟοσςОоՕօჿᴏᴑⲞⲟꓳꬽ",
    "p": "ΡρРрᏢⲢⲣꓑ",
    "q": "ԛգզ",
    "r": "ƦгᎡᏒᴦⲅꓣꭇꭈꮁ",
    "s": "ƽЅѕՏᏕᏚꓢꜱꮪ",
    "t": "ΤТᎢⲦꓔ",
    "u": "ʋυՍսᴜꓴꞟꭎꭒ",
    "v": "νѴѵᏙᴠꓦꮩ",
    "w": "ɯѡԜԝաᎳᏔᴡꓪꮃ",
    "x": "ΧХхⲬꓫꞳ",
    "y": "ɣʏΥγУуҮүყᎩᎽᶌỿⲨꓬꭚ",
    "z": "ΖᏃᴢꓜꮓ",
}
ACCENTED = ((0x370, 0x530), (0x1F00, 0x2000))  # Greek and Cyrillic: letters with marks in one sign


@cache
def table() -> dict[int, str]:
    """For `str.translate`: such a letter -> the letter of English, and with accents the accented one (`ё` -> `ë`). Of a
    letter only one of whose cases looks like one, the other goes with it: capitals make no other text. (But for Greek
    `ν` and `υ`, whose capitals look like N and Y.)"""
    seen = {sign: letter for letter, signs in LOOK_ALIKES.items() for sign in signs}
    known = dict(_other_cases(seen)) | seen
    accented = {}
    for sign in (chr(code) for first, end in ACCENTED for code in range(first, end)):
        base, *marks = list(unicodedata.normalize("NFD", sign))
        if marks and base in known:
            accented[sign] = unicodedata.normalize("NFC", known[base] + "".join(marks))
    return {ord(sign): letter for sign, letter in (known | accented).items()}


def _other_cases(seen: dict[str, str]) -> Iterator[tuple[str, str]]:
    for sign, letter in seen.items():
        for other in (sign.lower(), sign.upper()):
            if len(other) == 1 and not other.isascii():
                yield other, letter


UNSEEN = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")  # what a page shows nothing of; all but blanks
OTHER = re.compile("[^\x00-\x7f]+")
PIECE = re.compile("[\x00-\x7f]?[^\x00-\x7f]+")  # with the letter that marks may stand on
WORD, NO_WORD = re.compile(r"\w+"), re.compile(r"\W+")


def alike(text: str) -> str:
    """The text but for capitals, compatibility forms (full width, ligatures), look-alikes and what is not seen: what
    Unicode calls NFKC_Casefold, in letters of English where others look like these. Only for comparing: nobody reads
    it."""
    text = UNSEEN.sub("", text)
    if text.isascii():
        return text.lower()
    seen = _in_english(INVISIBLE.sub("", text))  # before, or a `ϲ` would be a sigma; and behind, for `𝛼` and `ᾳ`
    return _composed(_in_english(_in_english(_composed(seen)).casefold()))


def words(text: str) -> list[str]:
    """The words of a text in that form."""
    return WORD.findall(alike(text))


def spaced(text: str) -> str:
    """The same with a blank between words: of a text of megabytes no list is made."""
    return NO_WORD.sub(" ", alike(text)).strip()


def _in_english(text: str) -> str:
    return OTHER.sub(lambda others: others[0].translate(table()), text)


def _composed(text: str) -> str:
    return text if unicodedata.is_normalized("NFKC", text) else PIECE.sub(lambda piece: folded(piece[0]), text)


SHORTEST = 12  # letters and digits of a quote; fewer are found by chance
PAPERS = 32  # whose letters are kept: a megabyte for a long one


class Letters(NamedTuple):
    """The letters and digits of texts one behind the other. signs: for each the place in its text of the sign that it
    is of; begins: where the letters of each text begin, ascending."""

    text: str
    signs: "array[int]"
    begins: tuple[int, ...]


def letters(text: str) -> str:
    """The letters and digits of a text, ligatures taken apart, in lower case."""
    return "".join(_folded(sign) for sign in text)


@lru_cache(maxsize=PAPERS)
def lettered(texts: tuple[str, ...]) -> Letters:
    """The letters of several texts, to look quotes up in."""
    found: list[str] = []
    signs = array("L")
    lengths = []
    for text in texts:
        before = len(signs)
        for place, sign in enumerate(text):
            folded = _folded(sign)
            found.append(folded)
            signs.extend([place] * len(folded))
        lengths.append(len(signs) - before)
    return Letters("".join(found), signs, tuple(accumulate(lengths, initial=0))[:-1])


def stretch(quote: str, texts: tuple[str, ...]) -> str | None:
    """Where a quote stands in one of the texts, in that text's own wording with single blanks; None where it does not,
    or where it is too short to tell."""
    sought = letters(quote)
    if len(sought) < SHORTEST:
        return None
    known = lettered(texts)
    begin = known.text.find(sought)
    while begin >= 0:
        end = begin + len(sought) - 1
        owner = bisect_right(known.begins, begin) - 1
        if bisect_right(known.begins, end) - 1 == owner:
            first, last = known.signs[begin], known.signs[end]
            return " ".join(texts[owner][first : _closed(texts[owner], last)].split())
        begin = known.text.find(sought, begin + 1)
    return None


def _closed(text: str, last: int) -> int:
    """The end of a stretch whose last letter stands at `last`: with the sign that ends the sentence, if there is one,
    and what closes behind it."""
    end = last + 1
    while end < len(text) and text[end] in ".!?)]\"'”’%":
        end += 1
    return end


@lru_cache(maxsize=4096)
def _folded(sign: str) -> str:
    if sign.isascii():
        return sign.lower() if sign.isalnum() else ""
    return "".join(part for part in unicodedata.normalize("NFKC", sign).casefold() if part.isalnum())


RUN = 6  # words: by chance, two texts on one subject share five now and then
WORD = re.compile(r"\w+")


@lru_cache(maxsize=16)  # an instruction is held against thousands of records
def runs(text: str) -> frozenset[tuple[str, ...]]:
    """All runs of `RUN` words in a row, in lower case; none of a shorter text."""
    words = WORD.findall(text.lower())
    return frozenset(tuple(words[k : k + RUN]) for k in range(len(words) - RUN + 1))


def quotes(text: str, source: str) -> bool:
    """Whether a text has a run of words from a source."""
    return not runs(text).isdisjoint(runs(source))
