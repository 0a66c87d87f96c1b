"""Texts: sentences, words and tokens; as they may stand in a prompt; and whether two are the same.

Text from outside (claims, captions, papers) must stay data in a prompt: it must not open a field of the adapter's own
format (`[[ ## label ## ]]`), pass for one of DSPy's inline content parts, which DSPy would send to the model as a
picture or file of the text's choosing, open a message of its own where a server reads control tokens inside messages
(`<|im_start|>`, `[INST]`), or begin an item of evidence (`[P12]`, `[table 2]`). Nor may what a person does not see
change what a model reads. Noise that PDF readers leave is taken out only where no meaning can change: digits spaced
apart ("9 5 . 3") stay, since joining them could make a number that was never there, and so does a control character
that may have been a minus sign, of which nothing more than a space is known.
"""

import math
import re
import unicodedata
from array import array
from collections.abc import Callable, Sequence
from functools import lru_cache
from html import unescape
from typing import Any

# A sentence ends at . ! or ? before a space and what can begin another, but not behind an abbreviation or an initial.
SENTENCE_END = re.compile(r"(?<=[.!?])[\"”')\]]*\s+(?=[A-Z0-9\"“'(\[])")
ABBREVIATION = re.compile(
    r"(?:\b(?i:figs?|tabs?|eqs?|secs?|refs?|al|e\.g|i\.e|vs|cf|approx|resp|dr|prof|ca|vol)|\b[A-Z])\.$"
)
LONGEST_WORD = 500  # characters of a word; a longer one is none, but a picture in letters or the like
LONGEST_SHORT = 12  # characters at the end of a sentence that tell an abbreviation


def sentences(text: str) -> list[str]:
    """Return the sentences of a paragraph, in order; their words are those of the text, but for white space."""
    result: list[str] = []
    begin = 0
    line = " ".join(text.split())
    for end in SENTENCE_END.finditer(line):
        if not ABBREVIATION.search(line[max(begin, end.start() - LONGEST_SHORT) : end.start()]):
            result.append(line[begin : end.start()] + end[0].rstrip())
            begin = end.end()
    return [*result, line[begin:]] if line[begin:] else result


def words(text: str) -> list[str]:
    """Return what stands between white space; words are cut at `LONGEST_WORD` characters, so that a number of words
    bounds a text."""
    return re.findall(rf"\S{{1,{LONGEST_WORD}}}", text)


def pieces(text: str, most: int) -> list[str]:
    """Return a text in pieces of whole sentences, `most` words at most; a longer sentence is cut."""
    parts: list[list[str]] = []
    for sentence in sentences(text):
        split = words(sentence)
        for begin in range(0, len(split), most):
            more = split[begin : begin + most]
            if parts and len(parts[-1]) + len(more) <= most:
                parts[-1] += more
            else:
                parts.append(more)
    return [" ".join(part) for part in parts]


def length(row: Any, fields: Sequence[str]) -> int:
    """Estimate how many tokens a row takes as a demo."""
    return sum(tokens(str(row[name])) for name in fields if name in row)


BYTES_PER_TOKEN = 4  # the usual rule of thumb for English text; only a budget is kept with it, no price is made of it


def tokens(text: str) -> int:
    """Estimate how many tokens a text has."""
    size = len(text) if text.isascii() else len(text.encode())  # Python knows of a text whether it is ASCII
    return math.ceil(size / BYTES_PER_TOKEN)


# Not seen, but read: soft hyphen, joiners, fillers, marks of direction, variation selectors, tags. Unicode's
# Default_Ignorable_Code_Point (DerivedCoreProperties.txt) and the marks of annotations. Taken out first, or they would
# hide a marker from the search for it.
INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# All but tab and newline; and the empty pattern of Braille, which shows as a blank.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u2800\ud800-\udfff]")
# What begins or ends a marker, up to where a space breaks it.
MARKER = re.compile(
    r"\[(?=\[\s*+\#\#) | \#\#\s*+\](?=\])"  # DSPy's fields
    r"| <(?=<\s*+(?:/\s*+)?(?:CUSTOM-TYPE|SYS))"  # its content parts; Llama 2's system message
    r"| <(?=[|\uff5c]) | [|\uff5c](?=>)"  # <|im_start|> and its kind, in most chat formats
    r"| \[(?=\|) | \|(?=\])"  # [|system|], EXAONE's
    r"| \](?=~!?b[\[\]]) | \[(?=e~\[)"  # ]~b] and [e~[, MiniMax's
    r"| <(?=/?(?:s|bos|eos|unk|pad|sep|cls|mask|think|image|img|video|audio)>)"
    r"| <(?=/?[a-z0-9]++[_:][a-z0-9_:]*+>)"  # <start_of_turn>, <start_of_image>, <tool_call>, <seed:bos>, <extra_id_0>
    r"| \[(?=/?(?:INST|SYSTEM_PROMPT|MODEL_SETTINGS|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|CALL_ID|ARGS"
    r"|THINK|IMG|IMG_BREAK|IMG_END|AUDIO|BEGIN_AUDIO|PREFIX|MIDDLE|SUFFIX)\])",  # Mistral's
    re.IGNORECASE | re.VERBOSE,
)
IN_BRACKETS = re.compile(r"[\[\uff3b]([^\[\]\uff3b\uff3d\n]{1,82}+)[\]\uff3d]")

MOST_MARKS = 30  # one behind the other; more than any writing needs
NON_ASCII = re.compile("[\x00-\x7f]?[^\x00-\x7f]+")  # with the letter that marks may stand on


def plain(text: str) -> str:
    """Return a text without invisible and control characters, with forged markers broken up by a space; other text as
    it is. A text that holds a marker only after compatibility folding (fullwidth brackets, say) is folded, then broken
    up: a tokenizer may fold as well."""
    text = _broken(CONTROL.sub(" ", INVISIBLE.sub("", text)))
    compatible = folded(text)
    if compatible == text:
        return text
    broken = _broken(compatible)
    return text if broken == compatible else broken


def item(text: str, is_label: Callable[[str], object] = lambda _: False) -> str:
    """Return a text as one item of a list with one item a line: plain, in one line, without labels of other items.
    is_label: whether what stands in square brackets would pass for an item's label; it gets round ones then."""
    line = " ".join(plain(text).split())

    def unlabelled(match: re.Match[str]) -> str:
        label = match[1].strip()
        if is_label(unicodedata.normalize("NFKC", label)):
            return f"({label})"
        return match[0]

    return IN_BRACKETS.sub(unlabelled, line)


def folded(text: str) -> str:
    """Return a text in its compatibility form (NFKC), for which Python takes the square of the length of a run of
    marks; so long ones are folded piece by piece, as Unicode's stream-safe format has them (UAX 15)."""
    if text.isascii() or unicodedata.is_normalized("NFKC", text):
        return text
    return NON_ASCII.sub(_folded_piece, text)


def _folded_piece(match: re.Match[str]) -> str:
    pieces, begin, marks = [], 0, 0
    for place, sign in enumerate(match[0]):
        marks = marks + 1 if unicodedata.combining(sign) else 0
        if marks > MOST_MARKS:
            pieces.append(match[0][begin:place])
            begin, marks = place, 1
    return "".join(unicodedata.normalize("NFKC", piece) for piece in [*pieces, match[0][begin:]])


def _broken(text: str) -> str:
    return MARKER.sub(lambda marker: f"{marker[0]} ", text)


# Words that stand letter by letter in LaTeX's math fonts: \\mathrm { B L E U }.
SPACED = re.compile(r"(\\(?:mathrm|mathbf|mathit|mathsf|mathtt|text|textbf|textit|operatorname)\s*\{)([^{}]*)\}")
SPACED_LETTERS = re.compile(r"(?<!\S)[^\W\d_](?: [^\W\d_])+(?!\S)")
KEPT = str.maketrans("\n\t", "  ")


def clean(text: str) -> str:
    """Return a text without control and other invisible characters, and with letter-spaced words of LaTeX joined."""
    # Python's own look at all signs at once is a hundred times quicker, and finds nothing in most texts.
    if not text.translate(KEPT).isprintable():
        invisible = [sign for sign in set(text) if unicodedata.category(sign) in ("Cc", "Cs", "Co", "Cn")]
        text = text.translate({ord(sign): " " for sign in invisible if ord(sign) not in KEPT})
    return SPACED.sub(_closed_up, text)


def _closed_up(command: re.Match[str]) -> str:
    joined = SPACED_LETTERS.sub(lambda letters: letters[0].replace(" ", ""), command[2])
    if joined == command[2]:
        return command[0]
    return f"{command[1]}{joined.strip()}}}"


HTML_ROW = re.compile(r"<tr(?:\s[^<>]*+)?>", re.IGNORECASE)
HTML_ROW_END = re.compile(r"</?(?:tr|table)\b[^<>]*+>", re.IGNORECASE)
HTML_CELL = re.compile(r"<t[dh]\b[^<>]*+>", re.IGNORECASE)
TAG = re.compile(r"</?[A-Za-z][^<>]*+>")
LINE_END = re.compile(r"\r\n?|\n")  # no other: what some call an end of a line stands within cells
TABLE_RULE = re.compile(r"[\s|:+=-]*")  # a line between head and body
CELL = " | "
ROW = "\n  | "  # before each row of a table: set in and led by a bar, it can begin neither an item nor a message


def rows_of(text: str) -> tuple[str, list[str]]:
    """Return what stands before a Markdown, HTML or tab-separated table, and its rows, with ` | ` between cells; all of
    the text and no rows where it holds no table. What stands behind a table counts as rows. Nothing is made
    plain: whoever shows it makes it plain, row by row."""
    if HTML_ROW.search(text):
        return _html(text)
    lines = LINE_END.split(text)
    table = [number for number, line in enumerate(lines) if line.count("|") > 1 or "\t" in line.strip()]
    if len(table) < 2:
        return text, []
    rows = [_cells(line) for line in lines[table[0] :] if not TABLE_RULE.fullmatch(line)]
    return "\n".join(lines[: table[0]]), rows


def item_with_rows(text: str, is_label: Callable[[str], object] = lambda _: False) -> str:
    """Return a text as one item of a list, as `item` has it, with the rows of a table on lines behind it."""
    before, rows = rows_of(text)
    return ROW.join(item(part, is_label) for part in (before, *rows))


def flat(text: str) -> str:
    """Return such an item with single blanks, but its rows on their lines."""
    return ROW.join(" ".join(part.split()) for part in text.split(ROW))


def _cells(line: str) -> str:
    parts = line.strip().strip("|").split("|") if line.count("|") > 1 else line.split("\t")
    return CELL.join(part.strip() for part in parts)


def _html(text: str) -> tuple[str, list[str]]:
    """Return what `rows_of` does, by tags alone: the library's parser takes quadratic time for some broken texts."""
    before, *parts = HTML_ROW.split(text)
    around = [before]
    rows: list[list[str]] = []
    for part in parts:
        row, *behind = HTML_ROW_END.split(part, maxsplit=1)
        first, *cells = map(_untagged, HTML_CELL.split(row))
        rows.append([first, *cells] if first else cells)
        around += behind
    return _untagged(" ".join(around)), [CELL.join(row) for row in rows if any(row)]


def _untagged(html: str) -> str:
    return " ".join(unescape(TAG.sub(" ", html)).split())


UNSEEN = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")  # what a page shows nothing of; all but blanks
WORD = re.compile(r"\w+")


def alike(text: str) -> str:
    """Return a text in Unicode's NFKC_Casefold and without what is not seen. Only for comparing: nobody reads it."""
    return folded(folded(INVISIBLE.sub("", UNSEEN.sub("", text))).casefold())


def alike_words(text: str) -> list[str]:
    """Return the words of a text in that form."""
    return WORD.findall(alike(text))


SHORTEST_QUOTE = 12  # letters and digits of a quote; fewer match by chance


def letters(text: str) -> str:
    """Return the letters and digits of a text, ligatures taken apart, in lower case."""
    return "".join(map(_letters_of, text))


def stretch(quote: str, texts: Sequence[str]) -> str | None:
    """Return where a quote stands in one of the texts, but for case, blanks and punctuation: in that text's own wording
    with single blanks, with the signs that end the sentence. None where it does not, or is too short to tell."""
    wanted = letters(quote)
    if len(wanted) < SHORTEST_QUOTE:
        return None
    for text in texts:
        known, places = _lettered(text)
        begin = known.find(wanted)
        if begin >= 0:
            last = places[begin + len(wanted) - 1] + 1
            while last < len(text) and text[last] in ".!?)]\"'”’%":
                last += 1
            return " ".join(text[places[begin] : last].split())
    return None


@lru_cache(maxsize=8192)  # the paragraphs of some papers
def _lettered(text: str) -> tuple[str, Sequence[int]]:
    """Return the letters of a text, and for each the place in the text of the sign that it is of."""
    parts = [_letters_of(sign) for sign in text]
    return "".join(parts), array("L", [place for place, part in enumerate(parts) for _ in part])


@lru_cache(maxsize=4096)
def _letters_of(sign: str) -> str:
    known = unicodedata.normalize("NFKC", sign).casefold()
    return "".join(part for part in known if part.isalnum())


RUN = 6  # words: by chance, two texts on one subject share five now and then


@lru_cache(maxsize=16)  # an instruction is held against thousands of records
def runs(text: str) -> frozenset[tuple[str, ...]]:
    """Return all runs of `RUN` words in a row, in lower case; none of a shorter text."""
    each = WORD.findall(text.lower())
    return frozenset(tuple(each[k : k + RUN]) for k in range(len(each) - RUN + 1))
