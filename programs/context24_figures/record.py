"""Records of Context24's first task: a claim, the paper that it is about, and the figures and tables of that paper, of
which some evidence the claim.

Format: the organisers' files (`id`, `claim`, `citekey`, `findings`), with the paper beside the claim.
"""

import re
from collections import Counter
from typing import Annotated, Any, ClassVar, NamedTuple, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from aisr.base.errors import UserError
from aisr.programs.records import PicturePath, Prediction, Record, Text

MOST = 10  # elements of a ranking that the score looks at
LABEL = re.compile(
    r"(?P<supplement>SUPP )?(?P<kind>FIG|TAB) (?P<number>S?\d{1,6}(?:[S-]\d{1,6})?)(?P<panel>[A-Z][A-Z0-9-]{0,9})?"
)
# Labels are joined by commas in a CSV file, and stand in brackets in prompts.
UNFIT = re.compile(r'[,"\[\]\x00-\x1f\x7f]')
LONGEST = 80  # characters of a label


class Figure(NamedTuple):
    """A whole figure or table: kind ("FIG" or "TAB"), number ("3", "S2", "1S1"), and whether it is
    supplementary."""

    kind: str
    number: str
    supplement: bool


class Place(NamedTuple):
    """What a label names: a figure or table, and the panel of it ("" for all of it)."""

    figure: Figure
    panel: str


def tidy(label: str) -> str:
    """Return a label in one spelling: capitals, single blanks, none around it."""
    return " ".join(label.upper().split())


def place_of(label: str) -> Place | None:
    """Return what a label names; None for one that is not of the form `SUPP FIG S1A`, `TAB 2`."""
    parts = LABEL.fullmatch(tidy(label))
    if parts is None:
        return None
    return Place(Figure(parts["kind"], parts["number"], bool(parts["supplement"])), parts["panel"] or "")


def _fit(label: str) -> str:
    if not label.strip() or len(label) > LONGEST or UNFIT.search(label):
        raise UserError(
            f"{label[:LONGEST]!r} is no label; expected one line of at most {LONGEST} characters without commas, "
            "quotes and square brackets, such as FIG 2A"
        )
    return " ".join(label.split())


Label = Annotated[str, AfterValidator(_fit)]


class Element(BaseModel):
    """A figure, a panel of one, or a table: a candidate. Where its picture is, as a path below the image root."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    label: Label
    caption: str = ""
    img_path: PicturePath = None


class FigureGold(NamedTuple):
    """The gold of a claim: the labels of its evidence, and those of all elements that the paper has."""

    findings: tuple[str, ...]
    candidates: tuple[str, ...]


Ranking = tuple[str, ...]  # labels of elements, best first, at most `MOST`


class Context24FiguresRecord(Record):
    """A claim and the paper that it is about: its text, and its figures and tables. citekey: the organisers' name
    of the paper; findings: the labels that evidence the claim, which need not be among the elements."""

    converter: ClassVar[str] = (
        "aisr.programs.context24_figures.convert {file} --papers fulltexts.json --captions extracted_captions "
        "--figures figures-tables --out records.jsonl"
    )
    claim: Text
    citekey: str | None = None
    paragraphs: list[str]
    elements: Annotated[list[Element], Field(min_length=1)]
    findings: list[Label] | None = None

    @model_validator(mode="after")
    def _labels_are_unique(self) -> Self:
        names = Counter(tidy(element.label) for element in self.elements)
        twice, count = names.most_common(1)[0]
        if count > 1:
            raise UserError(f"elements: {twice!r} stands there more than once; expected each figure and table once")
        return self

    @property
    def img_paths(self) -> list[str]:
        """The pictures of the elements, as paths below the image root."""
        return [element.img_path for element in self.elements if element.img_path]

    @property
    def gold(self) -> FigureGold | None:
        """The gold elements; None where they are withheld, or there are none, which the score passes over."""
        if not self.findings:
            return None
        return FigureGold(tuple(self.findings), tuple(element.label for element in self.elements))


class Context24FiguresPrediction(Prediction):
    """A line of predictions: elements, best first."""

    ranking: list[str]

    @property
    def answer(self) -> Ranking:
        return tuple(self.ranking)

    @staticmethod
    def line(answer: Ranking | FigureGold) -> dict[str, Any]:
        return {"ranking": list(answer)}
