r"""LaTeX papers: sections, paragraphs, sentences, figures, tables, references and citations, each at its file:line.

Nothing of a paper is run: commands are read by name, its own macros are expanded within limits, and what is not
understood is listed. Formulas, symbols and accents become text by pylatexenc; bibtexparser reads bibliographies.
"""

from collections.abc import Iterable
from pathlib import Path

from aisr.paper.citations import by_author_year, citation, find_marks, lettered
from aisr.paper.draft import Draft, Float, Paragraph, Work
from aisr.paper.passages import Piece, build_paragraph, keys_by_name, lay_out, mark_bold
from aisr.paper.readers.files import Files, find_main_file
from aisr.paper.readers.latex_body import Body
from aisr.paper.readers.latex_floats import (
    Citation,
    Item,
    Parts,
    Reference,
    Table,
    finished,
    key_of,
    words,
)
from aisr.paper.readers.latex_run import Target
from aisr.paper.readers.latex_tokens import TABULARS, TEXTUAL
from aisr.programs.errors import UserError

NAMED = (
    "autoref",
    "cref",
    "Cref",
    "labelcref",
    "vref",
    "Vref",
    "fref",
    "Fref",
    "tref",
    "Tref",
    "crefrange",
    "Crefrange",
)
SILENT = ("hyperref", "cpageref")  # these show words of their own, or a page


def read(path: Path, root: Path | None = None) -> Draft:
    """A paper from its main file, or from the folder that holds one. root: the folder that files are read below; that
    of the main file where none is given. Raises UserError where there is no main file, or no words in it."""
    file = find_main_file(path).resolve()
    body = Body(Files(file.parent, root), file)
    body.read()
    draft = _Paper(body).draft()
    if not draft.paragraphs and draft.unread:
        raise UserError(f"{path}: no words could be read of this paper: {draft.unread[0].reason}")
    if not draft.paragraphs:
        raise UserError(f"{path}: no words in this paper; expected LaTeX with text between its commands")
    return draft


class _Paper:
    """What was read, with the words of references and citations put in."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self.floats: dict[str, Float] = {}
        self.keys: dict[str, str] = {}  # label -> key of the float that bears it
        self.targets = dict(body.labels)

    def draft(self) -> Draft:
        body = self.body
        said = [items for items, _, _ in body.blocks]
        said += [items for parts in body.floats for items in (*parts.captions, parts.notes)]
        body.works = lettered(body.works, [key for items in said for key in _cited(items)])
        captioned = [parts for parts in body.floats if self._counts(parts)]
        for parts in captioned:
            self._named(parts)
        for parts in captioned:
            for one in (parts, *parts.within):
                self._add(one)
        named, works_named = keys_by_name(self.floats), by_author_year(body.works)

        def cited(text: str) -> tuple[str, ...]:
            """What is cited in words, not by a command."""
            found = (works_named.find(one) for mark in find_marks(text) for one in mark.people)
            return tuple(key for key in found if key)

        found = [
            _unseen(said) if hidden and said is not None else said
            for items, headings, hidden in body.blocks
            for said in (build_paragraph(self.pieces(items), headings, named, cited),)
        ]
        paragraphs = tuple(one for one in found if one is not None)
        title = words(self.pieces(body.title))
        works = self._works(paragraphs)
        return Draft(body.files.folder, title, paragraphs, self.floats, works, tuple(body.files.unread))

    def pieces(self, items: Iterable[Item]) -> list[Piece]:
        """References as "Table 2", citations as "(Obi, 2022)"."""
        found = []
        for item in items:
            if isinstance(item, Reference):
                item = self._reference(item)
            elif isinstance(item, Citation):
                item = self._citation(item)
            elif any(
                key not in self.floats for key in item.float_keys
            ):  # a tabular here that turned out to be no table
                continue
            found.append(item)
        return found

    def _counts(self, parts: Parts) -> bool:
        """Whether a figure or table has a number or a label, or is read without: others cannot be referred to."""
        if parts.number or parts.labels:
            return True
        if parts.environment in TABULARS and any(_is_data(table) for table in parts.tables):
            return True  # one between two sentences, which has no number
        if parts.pictures or parts.tables or parts.captions or parts.within:
            self.body.files.refuse(parts.place, f"a {parts.kind} without a numbered caption: nothing can refer to it")
        return False

    def _named(self, parts: Parts) -> None:
        """Give the labels of a float, and of those within it, their targets."""
        for number, one in enumerate(parts.within):
            one.number = f"{parts.number}{chr(ord('a') + min(number, 25))}"
        for one in (parts, *parts.within):
            key = key_of(one, self.keys)
            for label in (*one.labels, key):
                self.keys.setdefault(label, key)
                self.targets.setdefault(label, Target(one.kind.capitalize(), one.number))

    def _add(self, parts: Parts) -> None:
        key = next((self.keys[label] for label in (*parts.labels, parts.name) if label in self.keys), parts.name)
        caption = [item for said in parts.captions for item in (*said, Piece(" ", parts.place))]
        rows = [
            [(mark_bold(words(self.pieces(cell.items)), cell.bold), cell.columns, cell.rows) for cell in row]
            for table in parts.tables
            for row in table.rows
        ]
        said, notes = (words(self.pieces(items)) for items in (caption, parts.notes))
        self.floats.setdefault(key, finished(parts, key, said, lay_out(rows), notes))

    def _reference(self, item: Reference) -> Piece:
        targets = [self.targets.get(label) for label in item.labels]
        if None in targets and item.command not in SILENT:
            lost = item.labels[targets.index(None)]
            self.body.files.refuse(item.place, f"\\{item.command}{{{ascii(lost[:60])[1:-1]}}}: no such label")
        known = [target for target in targets if target is not None]
        refers = tuple(dict.fromkeys(self.keys[label] for label in item.labels if label in self.keys))
        said = ", ".join(target.number or "??" for target in known) or "??"
        if item.command in SILENT:
            said = ""
        elif item.command == "eqref":
            said = f"({said})"
        elif item.command == "pageref":
            said, refers = "??", ()
        elif item.command in NAMED and known:
            said = _by_name(known, "–" if item.command.endswith("range") else " and ")
        return Piece(said, item.place, refers)

    def _citation(self, item: Citation) -> Piece:
        before, after = (words(self.pieces(one)) for one in (item.before, item.after))
        textual = item.command in TEXTUAL
        said = citation(item.keys, self.body.works, before, after, textual)
        if textual and item.command in ("citeauthor", "Citeauthor", "citetitle"):
            said = said.partition(" (")[0]
        return Piece(said, item.place, (), item.keys, item.close)

    def _works(self, paragraphs: Iterable[Paragraph]) -> dict[str, Work]:
        """The works that are cited; one that no bibliography holds is noted."""
        found: dict[str, Work] = {}
        for sentence in (sentence for one in paragraphs for sentence in one.sentences):
            for key in sentence.work_keys:
                if key not in found and key not in self.body.works:
                    self.body.files.refuse(sentence.place, f"{ascii(key[:60])[1:-1]}: cited, but in no bibliography")
                found.setdefault(key, self.body.works[key].work if key in self.body.works else Work(key))
        return found


def _cited(items: Iterable[Item]) -> list[str]:
    return [key for item in items if isinstance(item, Citation) for key in item.keys]


def _is_data(table: Table) -> bool:
    """Whether a tabular holds data, and is no way to set two things side by side."""
    rows = [
        [one for one in row if any(isinstance(item, Piece) and item.text.strip() for item in one.items)]
        for row in table.rows
    ]
    return sum(len(row) > 1 for row in rows) > 1


def _unseen(said: Paragraph) -> Paragraph:
    return said._replace(sentences=tuple(one._replace(hidden=True) for one in said.sentences))


def _by_name(targets: list[Target], last: str) -> str:
    """`Table 2`, `Figures 2 and 3`, `Section 4 and Tables 1, 2 and 3`."""
    kinds: dict[str, list[str]] = {}
    for target in targets:
        kinds.setdefault(target.kind, []).append(target.number or "??")
    said = []
    for kind, numbers in kinds.items():
        many = ", ".join(numbers[:-1]) + last + numbers[-1] if len(numbers) > 1 else numbers[0]
        said.append(f"{kind}{'s' if len(numbers) > 1 else ''} {many}")
    return " and ".join(said)
