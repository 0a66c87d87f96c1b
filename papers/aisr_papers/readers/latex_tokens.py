"""LaTeX source as tokens, each at its line."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from aisr_papers.draft import Place
from aisr_papers.readers.files import Files

Kind = Literal["command", "open", "close", "bracket", "math", "cell", "par", "parameter", "text"]
# In a line: a command with the blanks behind its letters, a special character, or text up to the next of them.
PIECE = re.compile(r"\\(?:([A-Za-z@]++)[ \t]*+|(.)|$)|([{}&~\[\]])|(\$\$?)|(#++\d?)|([^\\{}&~\[\]$#%]++|.)")
# What is read as it is typed: an address in braces, in which braces are balanced, and code between two signs.
LINKS = r"url|nolinkurl|path|href|burl|urldef|hypertarget|Url"
BALANCED = r"(?:[^{}\\]|\\.|\{(?:[^{}]|\{[^{}]*+\})*+\})*+"
IN_BRACES = rf"\{{({BALANCED})\}}"
OPTION = r"(?:\[[^\]]{0,300}+\])?"
TYPED = re.compile(rf"(?P<link>{LINKS})\*?\s*+{OPTION}\s*+{IN_BRACES}")
CODE = re.compile(
    rf"(?:url|nolinkurl|verb\*?|Verb\*?|lstinline{OPTION}|mintinline{OPTION}\{{[^{{}}]{{0,60}}+\}})[ \t]*+"
)
VERBATIM = (
    "verbatim",
    "Verbatim",
    "BVerbatim",
    "LVerbatim",
    "lstlisting",
    "minted",
    "alltt",
    "comment",
    "filecontents",
)
MOST_VERBATIM = 50
VERBATIM_DEFINED = re.compile(
    r"\\(?:lstnewenvironment|(?:Define|Recustom|Custom)VerbatimEnvironment|newtcblisting|NewTCBListing)\s*+"
    r"(?:\[[^\]]*+\]\s*+)?\{([A-Za-z]{1,40})\}"
)
PARAMETER = re.compile(r"(#\d)")
KINDS: dict[str, Kind] = {"{": "open", "}": "close", "&": "cell", "~": "text", "[": "text", "]": "text"}


class Token(NamedTuple):
    """A piece of source. text: a command without its backslash, the digits of a parameter, or the characters."""

    kind: Kind
    text: str
    place: Place

    @property
    def source(self) -> str:
        """As it is written."""
        if self.kind == "command":
            return f"\\{self.text} " if self.text[-1:].isalpha() else f"\\{self.text}"
        return f"#{self.text}" if self.kind == "parameter" else self.text


Tokens = tuple[Token, ...]


def source(tokens: Sequence[Token]) -> str:
    """Return tokens as they are written, without blanks around."""
    return "".join(token.source for token in tokens).strip()


def split_keys(text: str) -> Iterator[str]:
    """Return the keys of a list such as `a, b`."""
    return (key for part in text.split(",") if (key := part.strip(" \n{}")))


def tokenize(text: str, name: str, files: Files) -> list[Token]:
    """Return the tokens of a file.

    Braces are balanced: one without its partner ends with its paragraph, which is noted. A `[` that has its `]` in the
    paragraph is a bracket, any other is text. Comments are gone; listings and other text as it is typed are left out
    and noted.
    """
    tokens: list[Token] = []
    lines = iter(enumerate(text.split("\n"), start=1))
    files.verbatim.update(VERBATIM_DEFINED.findall(text))
    verbatim = re.compile(rf"\\begin\{{({'|'.join((*VERBATIM, *sorted(files.verbatim)[:MOST_VERBATIM]))})(\*?)\}}")
    for number, line in lines:
        place = Place(name, number)
        before = len(tokens)
        stop = _add_line(line.lstrip(), place, verbatim, tokens)
        if stop is None and len(tokens) == before:
            tokens.append(Token("par", "\n\n", place))
            continue
        while stop is not None and stop[0] != "%":
            end = f"\\end{{{stop[1]}{stop[2]}}}"
            if stop[1] not in ("comment", "filecontents"):
                files.note_unread(place, f"a listing ({stop[1]}), which is no prose")
            rest = stop.string[stop.end() :]
            while end not in rest:
                number, rest = next(lines, (0, end))
            if not number:
                files.note_unread(place, f"{stop[0]} without its end: nothing behind it in this file is read")
            stop = _add_line(rest.partition(end)[2], Place(name, number or place.line), verbatim, tokens)
        if stop is None and not (tokens and tokens[-1].kind == "command" and tokens[-1].text[-1:].isalpha()):
            tokens.append(Token("text", " ", place))
    return _balance(_pair_brackets(tokens), files)


def _find_code(line: str, begin: int) -> tuple[int, int] | None:
    """Return where the code of a command of a line begins and ends whose name begins there; None where it is no
    such."""
    match = CODE.match(line, begin)
    mark = line[match.end() : match.end() + 1] if match else ""
    if match is None or not mark or mark.isalnum() or mark.isspace():
        return None
    end = line.find("}" if mark == "{" else mark, match.end() + 1)
    return match.end() + 1, end if end >= 0 else len(line)


def _add_line(line: str, place: Place, verbatim: re.Pattern[str], tokens: list[Token]) -> re.Match[str] | None:
    """Append the tokens of a line, up to where a comment or an environment for text as it is typed begins, which is
    returned. A percent sign behind a backslash, in an address or in code begins no comment."""
    begin = 0
    while piece := PIECE.match(line, begin):
        letters, sign, special, math, parameter, text = piece.groups()
        if text == "%":
            return piece
        if letters == "begin" and (environment := verbatim.match(line, begin)):
            return environment
        typed = TYPED.match(line, begin + 1) if letters else None
        code = _find_code(line, begin + 1) if letters else None
        begin = piece.end()
        if typed is not None:
            tokens += [Token("command", typed["link"], place), Token("open", "{", place)]
            for part in PARAMETER.split(typed[2]):
                is_parameter = PARAMETER.fullmatch(part) is not None
                tokens.append(Token("parameter", part[1:], place) if is_parameter else Token("text", part, place))
            tokens.append(Token("close", "}", place))
            begin = typed.end()
        elif code is not None:
            tokens.append(Token("text", line[code[0] : code[1]], place))
            begin = code[1] + 1
        elif letters or sign or piece[0] == "\\":  # at the end of a line it is a blank
            tokens.append(Token("command", letters or sign or " ", place))
        elif special:
            tokens.append(Token(KINDS[special], "\u00a0" if special == "~" else special, place))
        elif math:
            tokens.append(Token("math", math, place))
        elif parameter and parameter[-1].isdigit():
            tokens.append(Token("parameter", parameter[1:], place))
        else:
            tokens.append(Token("text", text or parameter, place))
    return None


def _pair_brackets(tokens: list[Token]) -> list[Token]:
    open_brackets: list[list[int]] = [[]]  # by braces
    for number, token in enumerate(tokens):
        if token.kind == "open":
            open_brackets.append([])
        elif token.kind == "close":
            open_brackets.pop()
            open_brackets = open_brackets or [[]]
        elif token.kind == "par":
            open_brackets = [[]]
        elif token.kind == "text" and token.text == "[":  # but no \[, which begins a formula
            open_brackets[-1].append(number)
        elif token.kind == "text" and token.text == "]" and open_brackets[-1]:
            first = open_brackets[-1].pop()
            tokens[first] = tokens[first]._replace(kind="bracket")
    return tokens


def _balance(tokens: list[Token], files: Files) -> list[Token]:
    """Return the tokens with a closing brace where one is missing, at the end of the paragraph, and without those too
    many."""
    unclosed: list[int] = []
    surplus: set[int] = set()
    for number, token in enumerate(tokens):
        if token.kind == "open":
            unclosed.append(number)
        elif token.kind == "close" and unclosed:
            unclosed.pop()
        elif token.kind == "close":
            surplus.add(number)
    lone = set(unclosed)
    for number in sorted(surplus | lone)[:20]:
        kind = "{ without its partner ends with its paragraph" if number in lone else "} too many is left out"
        files.note_unread(tokens[number].place, f"a {kind}")
    result: list[Token] = []
    missing = 0
    for number, token in enumerate(tokens):
        if token.kind == "par" and missing:
            result += [Token("close", "}", token.place)] * missing
            missing = 0
        missing += number in lone
        if number not in surplus:
            result.append(token)
    return result + [Token("close", "}", token.place) for token in result[-1:]] * missing
