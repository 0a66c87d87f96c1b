r"""LaTeX source as tokens, each at its line: commands, braces, text, ends of paragraphs."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from aisr.paper.draft import Place
from aisr.paper.files import Files

Kind = Literal["command", "open", "close", "bracket", "math", "cell", "par", "parameter", "text"]
# In a line: a command with the blanks behind its letters, a special character, or text up to the next of them.
PIECE = re.compile(r"\\(?:([A-Za-z@]++)[ \t]*+|(.))|([{}&~\[\]])|(\$\$?)|(#++\d?)|([^\\{}&~\[\]$#]++|.)")
# What a comment begins with: a percent sign behind an even number of backslashes.
COMMENT = re.compile(r"(?<!\\)(?:\\\\)*+(%)")
VERBATIM_BEGIN = re.compile(r"\\begin\{(verbatim|Verbatim|lstlisting|minted|alltt|comment|filecontents)(\*?)\}")
MAX_DEPTH = 100  # braces within braces
KINDS: dict[str, Kind] = {"{": "open", "}": "close", "&": "cell", "~": "text", "[": "text", "]": "text"}


class Token(NamedTuple):
    """A piece of source. text: a command without its backslash, the digits of a parameter, or what stands there."""

    kind: Kind
    text: str
    place: Place

    @property
    def source(self) -> str:
        """As it is written."""
        if self.kind == "command":
            return f"\\{self.text} " if self.text[-1:].isalpha() else f"\\{self.text}"
        return f"#{self.text}" if self.kind == "parameter" else self.text


def tokens(text: str, name: str, files: Files) -> list[Token]:
    """The tokens of a file.

    Braces are balanced and of bounded depth: one without its partner ends with its paragraph, and what lies too deep is
    left out; both are noted. A `[` that has its `]` in the paragraph is a bracket, any other is text. Comments are
    gone; listings and other text as it is typed are left out and noted.
    """
    found: list[Token] = []
    lines = iter(enumerate(text.split("\n"), start=1))
    for number, line in lines:
        place = Place(name, number)
        cut = COMMENT.search(line)
        said = line[: cut.start(1)] if cut else line
        typed = VERBATIM_BEGIN.search(said)
        if typed:
            said = said[: typed.start()]
        if not said.strip() and not cut and not typed:
            found.append(Token("par", "\n\n", place))
            continue
        _line(said.lstrip(), place, found)
        if typed:
            end = f"\\end{{{typed[1]}{typed[2]}}}"
            if typed[1] not in ("comment", "filecontents"):
                files.refuse(place, f"a listing ({typed[1]}), which is no prose")
            rest = line[typed.end() :]
            while end not in rest:
                number, rest = next(lines, (0, end))
            _line(rest.partition(end)[2], Place(name, number or place.line), found)
        if not cut and not (found and found[-1].kind == "command" and found[-1].text[-1:].isalpha()):
            found.append(Token("text", " ", place))
    return _balanced(_bracketed(found), files)


def _line(said: str, place: Place, found: list[Token]) -> None:
    begin = 0
    while piece := PIECE.match(said, begin):
        begin = piece.end()
        letters, sign, special, math, parameter, text = piece.groups()
        if letters == "verb":
            mark = said[begin : begin + 1]
            end = said.find(mark, begin + 1) if mark else -1
            end = end if end >= 0 else len(said)
            found.append(Token("text", said[begin + 1 : end], place))
            begin = end + 1
        elif letters or sign:
            found.append(Token("command", letters or sign, place))
        elif special:
            found.append(Token(KINDS[special], "\u00a0" if special == "~" else special, place))
        elif math:
            found.append(Token("math", math, place))
        elif parameter and parameter[-1].isdigit():
            found.append(Token("parameter", parameter[1:], place))
        else:
            found.append(Token("text", text or parameter, place))


def _bracketed(found: list[Token]) -> list[Token]:
    opened: list[list[int]] = [[]]  # the square brackets that are open, by braces
    for number, token in enumerate(found):
        if token.kind == "open":
            opened.append([])
        elif token.kind == "close":
            opened.pop()
            opened = opened or [[]]
        elif token.kind == "par":
            opened = [[]]
        elif token.text == "[":
            opened[-1].append(number)
        elif token.text == "]" and opened[-1]:
            first = opened[-1].pop()
            found[first] = found[first]._replace(kind="bracket")
    return found


def _balanced(found: list[Token], files: Files) -> list[Token]:
    """The tokens with a closing brace where one is missing, at the end of the paragraph, and without those too many."""
    opened: list[int] = []
    lone: set[int] = set()
    for number, token in enumerate(found):
        if token.kind == "open":
            opened.append(number)
        elif token.kind == "close" and opened:
            opened.pop()
        elif token.kind == "close":
            lone.add(number)
    missing = set(opened)
    for number in sorted(lone | missing)[:20]:
        kind = "{ without its partner ends with its paragraph" if number in missing else "} too many is left out"
        files.refuse(found[number].place, f"a {kind}")
    kept: list[Token] = []
    owed = 0
    for number, token in enumerate(found):
        if token.kind == "par" and owed:
            kept += [Token("close", "}", token.place)] * owed
            owed = 0
        owed += number in missing
        if number not in lone:
            kept.append(token)
    kept += [Token("close", "}", token.place) for token in found[-1:]] * owed
    return _shallow(kept, files)


def _shallow(found: list[Token], files: Files) -> list[Token]:
    """The tokens without what lies within too many braces."""
    kept: list[Token] = []
    depth = 0
    for token in found:
        depth += (token.kind == "open") - (token.kind == "close")
        if depth < MAX_DEPTH and not (depth == MAX_DEPTH - 1 and token.kind == "close"):
            kept.append(token)
        elif depth == MAX_DEPTH and token.kind == "open":
            files.refuse(token.place, f"what lies within {MAX_DEPTH} braces is left out")
    return kept


def plain(found: Sequence[Token]) -> str:
    """Tokens as they are written, without blanks around."""
    return "".join(token.source for token in found).strip()


def split(name: str) -> Iterator[str]:
    """The keys of a list such as `a, b`."""
    return (one.strip() for one in name.split(",") if one.strip())
