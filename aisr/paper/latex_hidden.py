"""Text that LaTeX sets so that no reader sees it: in white, or smaller than any print."""

import re

SMALLEST = 2.0  # points; footnotes have 8
NUMBER = re.compile(r"\d{0,4}\.?\d{1,6}")
MIXED = re.compile(r"white!(?:9\d|100)(?:\.\d{1,3})?(?:![\w.]{1,40})?")  # of xcolor: at least nine tenths white


def is_white(model: str, said: str, known: frozenset[str] | set[str] = frozenset()) -> bool:
    r"""Whether a colour is that of the paper. model, said: as in \color[rgb]{1,1,1} or \color{white}; known: names that
    the paper gave to white."""
    said = said.strip()
    if not model:
        return said.casefold() in ("white", *known) or said in known or MIXED.fullmatch(said) is not None
    if model == "HTML":
        return said.upper() == "FFFFFF"
    values = [float(one) for one in NUMBER.findall(said)]
    whites = {"rgb": [1.0] * 3, "RGB": [255.0] * 3, "gray": [1.0], "cmyk": [0.0] * 4}
    return values == whites.get(model)


def is_tiny(size: str) -> bool:
    """Whether a font size is too small to read. size: as in \\fontsize{0.1pt}{1pt}, points where no unit is given."""
    found = NUMBER.match(size.strip())
    return found is not None and not size.strip().endswith(("cm", "mm", "in", "em")) and float(found[0]) < SMALLEST
