"""Formulas in one line of text, of Word's OMML and of MathML: fractions with a stroke, a mark before what is raised or
lowered, and blanks where two numbers would run together."""

import re
from collections.abc import Callable, Iterable
from xml.etree.ElementTree import Element

from aisr_papers.readers.xml_tree import child, is_on, local_name, value

# Around a fraction, and behind what is raised or lowered: where the next number has to stand apart.
FRACTION, SCRIPT = "\0", "\1"
NEAR = re.compile(rf"(?<=[\w)\]]){FRACTION}[{FRACTION}{SCRIPT}]*(?=[\w(√])|(?<=[\w)]){SCRIPT}+(?=\d)")
MARKS = re.compile(f"[{FRACTION}{SCRIPT}\u2061\u200b]+")
# What is printed without its mark: F_1, also alone, as in F$_1$; behind an exponent (the group) the mark stays.
SUBSCRIPT = re.compile(r"(\^[^\W_]+_)|(?:(?<=[^\W\d_])|^)_(?=\d)")
PLAIN = re.compile(r"[-−+]?[\w.]*")
INVISIBLE = {"\u2062": SCRIPT, "\u2063": ",", "\u2064": FRACTION}  # a product, a comma, the sum of a mixed number


def in_line(text: str) -> str:
    """Return a formula that is put together, as it is printed."""
    return without_marks(bare_indices(text))


def bare_indices(text: str) -> str:
    """Return a formula with its marks: "F_1" as "F1"."""
    return SUBSCRIPT.sub(r"\1", " ".join(text.split()))


def without_marks(text: str) -> str:
    """Return a text with blanks in the place of the marks where two numbers would run together."""
    return MARKS.sub("", NEAR.sub(" ", text))


def script_mark(name: str, before: str) -> str:
    """Return the mark before something raised (`sup`), also of an isotope as ^2H, or lowered (`sub`) behind a digit."""
    return "^" if name == "sup" else "_" * before[-1:].isdigit()


def fraction(above: str, below: str) -> str:
    return f"{FRACTION}{_in_brackets(above)}/{_in_brackets(below)}{FRACTION}"


def _in_brackets(text: str) -> str:
    text = text.strip()
    return text if len(text) == 1 or PLAIN.fullmatch(MARKS.sub("", text)) else f"({text})"


def _script(mark: str, text: str) -> str:
    return f"{mark}{_in_brackets(text)}{SCRIPT}" if text.strip() else ""


def root(text: str, degree: str = "") -> str:
    return f"√{f'[{degree}]' if degree.strip() else ''}({text.strip()})"


def _fenced(parts: Iterable[str], opening: str, closing: str, between: str) -> str:
    return f"{opening}{(f'{between} ' if between in (',', ';') else between).join(parts)}{closing}"


# --- OMML, of Word.


def omml(element: Element) -> str:
    """Return what an element of a Word formula prints; see `in_line`."""
    name = local_name(element)
    if name == "t":
        return element.text or ""
    if name.endswith("Pr") or _is_hidden(element, name):
        return ""
    return OMML.get(name, _children)(element)


def _is_hidden(element: Element, name: str) -> bool:
    """Return whether it takes room and prints nothing."""
    show = child(element, "phantPr", "show") if name == "phant" else None
    return (show is not None and not is_on(show)) or (name == "r" and is_on(child(element, "rPr", "vanish")))


def _children(element: Element) -> str:
    return "".join(map(omml, element))


def _part(element: Element, name: str) -> str:
    part = child(element, name)
    return _children(part) if part is not None else ""


def _look(element: Element, name: str, default: str) -> str:
    """Return a sign that the properties of an element name."""
    look = child(element, f"{local_name(element)}Pr", name)
    return default if look is None else value(look)


def _omml_fraction(element: Element) -> str:
    above, below = _part(element, "num"), _part(element, "den")
    is_bare = _look(element, "type", "bar") == "noBar"
    return f"({above} over {below})" if is_bare else fraction(above, below)


def _omml_scripts(element: Element) -> str:
    return _part(element, "e") + _script("_", _part(element, "sub")) + _script("^", _part(element, "sup"))


def _omml_rows(element: Element) -> str:
    rows = [one for one in element if local_name(one) in ("mr", "e")]
    return "; ".join(" ".join(map(omml, row)) if local_name(row) == "mr" else _children(row) for row in rows)


def _omml_sum(element: Element) -> str:
    around = _script("_", _part(element, "sub")) + _script("^", _part(element, "sup"))
    return f"{_look(element, 'chr', '∫')}{around} {_part(element, 'e')}"


def _omml_accent(element: Element) -> str:
    text = _part(element, "e")
    return text + _look(element, "chr", "\u0302") if len(text) == 1 else text


OMML: dict[str, Callable[[Element], str]] = {
    "f": _omml_fraction,
    **dict.fromkeys(("sSup", "sSub", "sSubSup"), _omml_scripts),
    "sPre": lambda one: _script("^", _part(one, "sup")) + _script("_", _part(one, "sub")) + _part(one, "e"),
    "d": lambda one: _fenced(
        (_children(part) for part in one if local_name(part) == "e"),
        _look(one, "begChr", "("), _look(one, "endChr", ")"), _look(one, "sepChr", "|"),
    ),
    "rad": lambda one: root(_part(one, "e"), _part(one, "deg")),
    "nary": _omml_sum,
    "func": lambda one: f"{_part(one, 'fName')} {_part(one, 'e')}",
    "limLow": lambda one: _part(one, "e") + _script("_", _part(one, "lim")),
    "limUpp": lambda one: _part(one, "e") + _script("^", _part(one, "lim")),
    "acc": _omml_accent,
    **dict.fromkeys(("m", "eqArr"), _omml_rows),
}  # fmt: skip


# --- MathML, of JATS.


def mathml(element: Element) -> str:
    """Return what an element of MathML prints; see `in_line`."""
    name = local_name(element)
    if name in ("mphantom", "annotation", "annotation-xml", ""):
        return ""
    if name in ("mi", "mn", "mo", "mtext", "ms"):
        text = "".join(element.itertext()).strip()
        return INVISIBLE.get(text, text) if name != "mtext" else "".join(element.itertext())
    if name == "mspace":
        return " "
    parts = [mathml(one) for one in element if local_name(one)]
    form = MATHML.get(name)
    return form(element, [*parts, "", "", ""]) if form else "".join(parts)


def _math_fraction(element: Element, parts: list[str]) -> str:
    is_bare = element.get("linethickness", "")[:1] == "0"
    return f"({parts[0]} over {parts[1]})" if is_bare else fraction(parts[0], parts[1])


def _over(element: Element, parts: list[str]) -> str:
    """Return what stands over a letter: an accent, or the end of a sum."""
    above = parts[1].strip()
    return parts[0] + (above if len(above) == 1 and not above.isalnum() else _script("^", above))


def _multiscripts(element: Element, parts: list[str]) -> str:
    """Indices and powers in pairs, behind a base and then before it."""
    names = [local_name(one) for one in element if local_name(one)]
    middle = names.index("mprescripts") if "mprescripts" in names else len(names)

    def scripts(pairs: list[str]) -> str:
        return "".join(
            _script("^", above) + _script("_", below) for below, above in zip(pairs[::2], pairs[1::2], strict=False)
        )

    return scripts(parts[middle + 1 : len(names)]) + parts[0] + scripts(parts[1:middle])


MATHML: dict[str, Callable[[Element, list[str]], str]] = {
    "mfrac": _math_fraction,
    "msqrt": lambda _, parts: root("".join(parts)),
    "mroot": lambda _, parts: root(parts[0], parts[1]),
    "msup": lambda _, parts: parts[0] + _script("^", parts[1]),
    **dict.fromkeys(("msub", "munder"), lambda _, parts: parts[0] + _script("_", parts[1])),
    **dict.fromkeys(
        ("msubsup", "munderover"), lambda _, parts: parts[0] + _script("_", parts[1]) + _script("^", parts[2])
    ),
    "mover": _over,
    "mmultiscripts": _multiscripts,
    "mfenced": lambda one, parts: _fenced(
        parts[:-3], one.get("open", "("), one.get("close", ")"), one.get("separators", ",").strip()[:1]
    ),
    "mtable": lambda _, parts: "; ".join(filter(None, parts)),
    **dict.fromkeys(("mtr", "mlabeledtr"), lambda _, parts: " ".join(filter(None, parts))),
    **dict.fromkeys(("semantics", "maction"), lambda _, parts: parts[0]),
}
