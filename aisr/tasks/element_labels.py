"""Labels of figures and tables as people typed them, and names of files, in the one spelling that records have."""

import re

from aisr.programs.records.context24_figures import LABEL, LONGEST, UNFIT, place_of, tidy

STRAY = re.compile(r"[\"“”'‘’`´\[\]]+")
APART = re.compile(r"(?:(?<!\s)\s++)?[,;&]\s*+|\sand\s", re.IGNORECASE)
PANEL = re.compile(r"[A-Za-z]")
SPELLED = re.compile(
    r"(?P<supplement>(?:SUPP(?:L(?:EMENT(?:ARY|AL)?)?)?|EXTENDED DATA)\.?)?\s{0,2}"
    r"(?:(?P<kind>FIG(?:URE)?S?|TAB(?:LE)?S?)\b\.?|(?P<glued>FIG|TAB)(?=S?\d))"
)
GAP = re.compile(r"(?<=\d) (?=\(?[A-Z]\)?$)|[()]|(?<=[A-Z] S) (?=\d)|(?<![.:])[.:]++$")


def cleaned(typed: str) -> list[str]:
    """The labels in what somebody typed where one belongs: none, one, or the several of `FIG 2A, FIG 2B`.

    Quotes, line ends, doubled blanks and dots at the end are left out; `Figure 2 a`, `FIG2A` and `Fig. 2(A)` become
    `FIG 2A`; a letter alone is a panel of the figure before it. What still cannot be read as a label stays in its own
    words, as long as it can stand in a line.
    """
    found: list[str] = []
    figure = ""
    for part in APART.split(STRAY.sub("", typed)):
        label = _cleaned(part)
        if figure and PANEL.fullmatch(label):
            found = [one for one in found if one != figure]  # FIG 2, A and B: its panels, not all of it
            found.append(figure + label.upper())
        else:
            place = place_of(label)
            figure = label.removesuffix(place.panel) if place else ""
            found.append(label)
    return list(dict.fromkeys(label for label in found if label and len(label) <= LONGEST and not UNFIT.search(label)))


def squeezed(label: str) -> str:
    """Letters, digits and dashes of a label, by which file names know it: `CAPTION FIG1S1` is about `FIG 1S1`."""
    return re.sub(r"[^A-Z0-9-]", "", label.upper())


def _cleaned(part: str) -> str:
    flat = " ".join(part.split())
    if LABEL.fullmatch(flat):
        return flat
    told = SPELLED.sub(_spelled, tidy(flat), count=1)
    told = GAP.sub("", " ".join(told.split()))
    return told if LABEL.fullmatch(told) else flat


def _spelled(found: re.Match[str]) -> str:
    kind = (found["kind"] or found["glued"])[:3]
    return f"{'SUPP ' if found['supplement'] else ''}{kind} "
