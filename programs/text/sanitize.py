"""Text from outside (claims, captions, papers) as it may stand in a prompt.

Such text must stay data: it must not open a field of the adapter's own format (`[[ ## label ## ]]`), pass for one of
DSPy's inline content parts, which DSPy would send to the model as a picture or file of the text's choosing, open a
message of its own where a server reads control tokens inside messages (`<|im_start|>`, `[INST]`), or begin an item of
evidence (`[P12]`, `[table 2]`). Nor may what a person does not see change what a model reads.
"""

import re
import unicodedata
from collections.abc import Callable

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
