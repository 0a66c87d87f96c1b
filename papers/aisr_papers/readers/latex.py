r"""LaTeX papers: sections, paragraphs, sentences, figures, tables, references and citations, each at its file:line.

Nothing of a paper is run: commands are read by name, its own macros are expanded within limits, and what is not
understood is listed. Formulas, symbols and accents become text by pylatexenc; bibtexparser reads bibliographies.
"""

from collections.abc import Iterable
from pathlib import Path

from aisr import UserError
from aisr_papers.citations import cited_works, natbib_text
from aisr_papers.draft import Draft, Float, Picture, Place
from aisr_papers.passages import (
    Cells,
    Piece,
    build_paragraphs,
    fill_upwards,
    join_columns,
    lay_out,
    mark_bold,
    split_bold,
)
from aisr_papers.readers.coverage import latex_lines, measure
from aisr_papers.readers.files import Files, find_main_file
from aisr_papers.readers.latex_body import Body
from aisr_papers.readers.latex_commands import REFERENCES, TABULARS, TEXTUAL, name_set
from aisr_papers.readers.latex_run import Citation, FloatParts, Item, Reference, Table, Target, join_words

WITH_KIND = name_set("autoref cref Cref labelcref vref Vref")


def read(path: Path, root: Path | None = None) -> Draft:
    """A paper from its main file, or from the folder that holds one. root: the folder that files are read below; by
    default that of the main file. Raises UserError where there is no main file, or no words in it."""
    file = find_main_file(path).resolve()
    body = Body(Files(file.parent, root), file)
    body.read()
    draft = _Paper(body).draft()
    if not draft.paragraphs and draft.unread:
        raise UserError(f"{path}: no words could be read of this paper: {draft.unread[0].reason}")
    if not draft.paragraphs:
        raise UserError(f"{path}: no words in this paper; expected LaTeX with text between its commands")
    macros = body.stream.macros.items()
    discarding = {name for name, one in macros if one.arguments and all(part.kind != "parameter" for part in one.body)}
    return measure(draft, latex_lines(file, body.files, discarding))


class _Paper:
    """Puts in the words of references and citations."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self.floats: dict[str, Float] = {}
        self.keys: dict[str, str] = {}  # label -> key of the float that bears it
        self.targets = dict(body.labels)

    def draft(self) -> Draft:
        body = self.body
        floats = [parts for parts in body.floats if self._counts(parts)]
        for parts in floats:
            self._add_labels(parts)
        for parts in floats:
            for one in (parts, *parts.all(FloatParts)):
                self._add_float(one)
        blocks = ((self._pieces(one.items), one.headings, False) for one in body.blocks)
        paragraphs = build_paragraphs(blocks, self.floats, body.works)
        title = join_words(self._pieces(body.title))
        works = cited_works(paragraphs, body.works, body.files)
        return Draft(body.files.folder, title, paragraphs, self.floats, works, tuple(body.files.unread))

    def _pieces(self, items: Iterable[Item]) -> list[Piece]:
        """References as "Table 2", citations as "(Obi, 2022)"."""
        pieces = []
        for item in items:
            if isinstance(item, Reference):
                pieces.append(self._reference(item))
            elif isinstance(item, Citation):
                pieces.append(self._citation(item))
            elif all(key in self.floats for key in item.float_keys):  # else of a tabular that is no table
                pieces.append(item)
        return pieces

    def _counts(self, parts: FloatParts) -> bool:
        """Whether a figure or table has a number or a label, or is read without: others cannot be referred to."""
        if parts.number or parts.labels:
            return True
        if parts.environment in TABULARS and any(map(_is_data, parts.all(Table))):
            return True  # one between two sentences, which has no number
        if parts.captions or any(not isinstance(one, Place) for one in parts.content):
            why = f"a {parts.kind} without a numbered caption: nothing can refer to it"
            self.body.files.note_unread(parts.place, why)
        return False

    def _add_labels(self, parts: FloatParts) -> None:
        """The targets of the labels of a float, and of those within it."""
        for number, one in enumerate(parts.all(FloatParts)):
            one.number = f"{parts.number}{chr(ord('a') + min(number, 25))}"
        for one in (parts, *parts.all(FloatParts)):
            # Its label, or its name where it has none or another has it already.
            key = next((label for label in one.labels if label not in self.keys), one.name)
            for label in (*one.labels, key):
                self.keys.setdefault(label, key)
                self.targets.setdefault(label, Target(one.kind.capitalize(), one.number))

    def _add_float(self, parts: FloatParts) -> None:
        key = next((self.keys[label] for label in (*parts.labels, parts.name) if label in self.keys), parts.name)
        caption = [item for items in parts.captions for item in (*items, Piece(" ", parts.place))]
        rows = [row for table in parts.all(Table) for row in join_columns(self._cells(table), table.joints)]
        cells, bold = split_bold(lay_out(fill_upwards(rows)))
        one = Float(
            key,
            parts.name,
            parts.kind,
            join_words(self._pieces(caption)),
            parts.place,
            cells,
            tuple(parts.all(Picture)),
            parts.headings,
            join_words(self._pieces(parts.notes)),
            tuple(parts.all(Place)),
            bold,
            _begin(item for items in parts.captions for item in items),
            _begin(parts.notes),
        )
        self.floats.setdefault(key, one)

    def _cells(self, table: Table) -> list[Cells]:
        return [
            [(mark_bold(join_words(self._pieces(cell.items)), cell.bold), cell.columns, cell.rows) for cell in row]
            for row in table.rows
        ]

    def _reference(self, item: Reference) -> Piece:
        targets = [self.targets.get(label) for label in item.labels]
        if None in targets:
            label = ascii(item.labels[targets.index(None)][:60])[1:-1]
            self.body.files.note_unread(item.place, f"\\{item.command}{{{label}}}: no such label")
        known = [target for target in targets if target is not None]
        keys = tuple(dict.fromkeys(self.keys[label] for label in item.labels if label in self.keys))
        text = ", ".join(target.number or "??" for target in known) or "??"
        if item.command == "eqref":
            text = f"({text})"
        elif item.command.endswith("pageref"):
            text, keys = "??", ()
        elif known and (item.command in WITH_KIND or item.command not in REFERENCES):  # a style's own, as \figref
            text = _with_kinds(known)
        return Piece(text, item.place, keys)

    def _citation(self, item: Citation) -> Piece:
        before, after = (join_words(self._pieces(one)) for one in (item.before, item.after))
        textual = item.command in TEXTUAL
        text = natbib_text(item.keys, self.body.works, before, after, textual)
        if textual and item.command in ("citeauthor", "Citeauthor", "citetitle"):
            text = text.partition(" (")[0]
        return Piece(text, item.place, (), item.keys, item.close)


def _begin(items: Iterable[Item]) -> Place | None:
    """Where some text begins."""
    return next((one.place for one in items if not isinstance(one, Piece) or one.text.strip()), None)


def _is_data(table: Table) -> bool:
    """Whether a tabular holds data, and is no way to set two things side by side."""
    rows = [
        [one for one in row if any(isinstance(item, Piece) and item.text.strip() for item in one.items)]
        for row in table.rows
    ]
    return sum(len(row) > 1 for row in rows) > 1


def _with_kinds(targets: list[Target]) -> str:
    """`Table 2`, `Figures 2 and 3`, `Section 4 and Tables 1, 2 and 3`."""
    kinds: dict[str, list[str]] = {}
    for target in targets:
        kinds.setdefault(target.kind, []).append(target.number or "??")
    texts = []
    for kind, numbers in kinds.items():
        many = ", ".join(numbers[:-1]) + " and " + numbers[-1] if len(numbers) > 1 else numbers[0]
        texts.append(f"{kind}{'s' if len(numbers) > 1 else ''} {many}")
    return " and ".join(texts)
