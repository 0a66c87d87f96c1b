"""Text from outside as it may stand in a prompt: made harmless, without noise, tables by rows.

Text from outside (claims, captions, papers) as it may stand in a prompt.

Such text must stay data: it must not open a field of the adapter's own format (`[[ ## label ## ]]`), pass for one of
DSPy's inline content parts, which DSPy would send to the model as a picture or file of the text's choosing, open a
message of its own where a server reads control tokens inside messages (`<|im_start|>`, `[INST]`), or begin an item of
evidence (`[P12]`, `[table 2]`). Nor may what a person does not see change what a model reads.

Noise that PDF readers leave in captions and texts, taken out only where nothing that is said can change.

Left as it is: digits spaced apart ("9 5 . 3"), since joining them could make a number that was never there, and a
control character that may have been a minus sign, of which nothing more than a space is known.

Tables that were given as text: their rows, which say nothing any more in one line.
"""

import re
import unicodedata
from collections.abc import Callable
from html import unescape

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
BRACKETED = re.compile(r"[\[\uff3b]([^\[\]\uff3b\uff3d\n]{1,82}+)[\]\uff3d]")

MARKS = 30  # one behind the other; more than any writing needs


def plain(text: str) -> str:
    """The text without invisible and control characters, with forged markers broken up by a space; other text as it is.

    A text that holds a marker only after compatibility folding (fullwidth brackets, say) is folded, then broken up: a
    tokenizer may fold as well.
    """
    text = _broken(CONTROL.sub(" ", INVISIBLE.sub("", text)))
    if text.isascii() or unicodedata.is_normalized("NFKC", text):
        return text
    compatible = folded(text)
    broken = _broken(compatible)
    return text if broken == compatible else broken


def item(text: str, is_label: Callable[[str], object] = lambda _: False) -> str:
    """The text as one item of a list that has one item a line: plain, in one line, and without labels of other items.

    is_label: whether what stands in square brackets would pass for an item's label; it gets round ones then.
    """
    line = " ".join(plain(text).split())

    def unlabelled(found: re.Match[str]) -> str:
        label = found[1].strip()
        return f"({label})" if is_label(unicodedata.normalize("NFKC", label)) else found[0]

    return BRACKETED.sub(unlabelled, line)


def folded(text: str) -> str:
    """The text in its compatibility form (NFKC), for which Python takes the square of the length of a run of marks; so
    long ones are folded piece by piece, as Unicode's stream-safe format has them (UAX 15)."""
    pieces, begin, marks = [], 0, 0
    for place, sign in enumerate(text):
        marks = marks + 1 if unicodedata.combining(sign) else 0
        if marks > MARKS:
            pieces.append(text[begin:place])
            begin, marks = place, 1
    return "".join(unicodedata.normalize("NFKC", piece) for piece in [*pieces, text[begin:]])


def _broken(text: str) -> str:
    return MARKER.sub(lambda found: f"{found[0]} ", text)


# Words that LaTeX's math fonts were given letter by letter: \\mathrm { B L E U }.
SPACED = re.compile(r"(\\(?:mathrm|mathbf|mathit|mathsf|mathtt|text|textbf|textit|operatorname)\s*\{)([^{}]*)\}")
LETTERS = re.compile(r"(?<!\S)[^\W\d_](?: [^\W\d_])+(?!\S)")
KEPT = str.maketrans("\n\t", "  ")


def clean(text: str) -> str:
    """The text without control and other invisible characters, and with letter-spaced words of LaTeX joined."""
    # Python's own look at all signs at once is a hundred times quicker, and finds nothing in most texts.
    if not text.translate(KEPT).isprintable():
        text = "".join(" " if _invisible(sign) else sign for sign in text)
    return SPACED.sub(_closed_up, text)


def _invisible(sign: str) -> bool:
    return ord(sign) not in KEPT and unicodedata.category(sign) in ("Cc", "Cs", "Co", "Cn")


def _closed_up(found: re.Match[str]) -> str:
    joined = LETTERS.sub(lambda letters: letters[0].replace(" ", ""), found[2])
    return found[0] if joined == found[2] else f"{found[1]}{joined.strip()}}}"


HTML_ROW = re.compile(r"<tr[\s>]", re.IGNORECASE)
TAG = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9]*+)[^<>]*+>")
LINE_END = re.compile(r"\r\n?|\n")  # no other: what some call an end of a line stands within cells
RULE = re.compile(r"[\s|:+=-]*")  # a line between head and body
CELL = " | "
ROW = "\n  | "  # before each row of a table: set in and led by a bar, it can begin neither an item nor a message


def rows_of(text: str) -> tuple[str, list[str]]:
    """What stands before a Markdown, HTML or tab-separated table, and its rows, with ` | ` between cells; all of the
    text and no rows where it holds no table. What stands behind a table counts as more rows.

    The text is taken as it comes: whoever shows it makes it plain, row by row.
    """
    if HTML_ROW.search(text):
        return _html(text)
    lines = LINE_END.split(text)
    table = [number for number, line in enumerate(lines) if line.count("|") > 1 or "\t" in line.strip()]
    if len(table) < 2:
        return text, []
    found = [_cells(line) for line in lines[table[0] :] if not RULE.fullmatch(line)]
    return "\n".join(lines[: table[0]]), found


def item_with_rows(text: str, is_label: Callable[[str], object] = lambda _: False) -> str:
    """A text as one item of a list, as `sanitize.item` has it, with the rows of a table on lines behind it."""
    said, rows = rows_of(text)
    return ROW.join(item(part, is_label) for part in (said, *rows))


def flat(text: str) -> str:
    """Such an item with single blanks, but its rows on their lines."""
    return ROW.join(" ".join(part.split()) for part in text.split(ROW))


def _cells(line: str) -> str:
    parts = line.strip().strip("|").split("|") if line.count("|") > 1 else line.split("\t")
    return CELL.join(part.strip() for part in parts)


def _html(text: str) -> tuple[str, list[str]]:
    """By its tags alone: the library's parser takes the square of the length of some broken texts."""
    around: list[str] = []
    rows: list[list[list[str]]] = []
    inside, begin = False, 0
    for tag in [*TAG.finditer(text), None]:
        words = unescape(text[begin : tag.start() if tag else len(text)]).split()
        if not inside:
            around += words
        elif words:
            if not rows[-1]:
                rows[-1].append([])
            rows[-1][-1] += words
        if tag is None:
            break
        begin, name = tag.end(), tag["name"].lower()
        if name == "tr":
            inside = not tag["end"]
            rows += [[]] if inside else []
        elif name == "table":
            inside = False
        elif name in ("td", "th") and inside and not tag["end"]:
            rows[-1].append([])
    return " ".join(around), [CELL.join(" ".join(cell) for cell in row) for row in rows if any(row)]
