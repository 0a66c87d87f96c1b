"""What of a PDF no reader sees, and what of it is not read."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from aisr.paper.draft import Paragraph, Place, Sentence, Unread
from aisr.paper.pdf_blocks import Block, Kind
from aisr.paper.pdf_process import Box, Page, Pages, Word
from aisr.paper.pdf_regions import Regions, within
from aisr.programs.text.sentences import sentences

LONGEST_EXCERPT = 80  # characters
FEW = 4  # words of a label
BESIDE = 30.0  # points between a drawing and its labels


def hidden(file: str, pages: Sequence[Page]) -> tuple[list[Paragraph], list[Unread]]:
    """What no reader sees: a paragraph and a note for each run of words that are hidden in one place for one reason."""
    found: list[Paragraph] = []
    notes: list[Unread] = []
    for page in pages:
        place = Place(file, page=page.number)
        runs: list[list[Word]] = []
        for word in page.words:
            if word.hidden in ("", "turned"):
                continue
            last = runs[-1][-1] if runs else word
            if not runs or last.hidden != word.hidden or abs(last.baseline - word.baseline) > 2 * word.size + 2:
                runs.append([])
            runs[-1].append(word)
        for run in runs:
            text = _said(run)
            found.append(Paragraph(tuple(Sentence(one, place, hidden=True) for one in sentences(text))))
            what = f"{len(run)} hidden words ({run[0].hidden}), kept out of what is checked"
            notes.append(Unread(place, f"{what}: “{text[:LONGEST_EXCERPT]}”"))
    return found, notes


def left_out(file: str, found: Pages, seen: Mapping[int, Regions], text: Sequence[Block]) -> Iterator[Unread]:
    for number, why in found.unread.items():
        yield Unread(Place(file, page=number), why)
    formulas = Counter(
        block.lines[min(behind, len(block.lines)) - 1].page for block in text for behind in block.formulas
    )
    for page in found.pages:
        place = Place(file, page=page.number)
        upright = [word for word in page.words if not word.hidden]
        turned = [word for word in page.words if word.hidden == "turned"]
        turned = [word for word in turned if not any(within(word.box, box) for box in seen[page.number].figures)]
        if not upright:
            yield Unread(place, "no text on this page that a reader sees")
        if turned:
            yield Unread(place, f"{len(turned)} words that stand sideways: “{_said(turned)[:LONGEST_EXCERPT]}”")
        if formulas[page.number]:
            yield Unread(place, f"displayed formulas, for which [formula] stands: {formulas[page.number]}")


def _said(words: Sequence[Word]) -> str:
    return "".join(word.text if word.glued else f" {word.text}" for word in words).strip()


def without_labels(found: Sequence[Block], seen: Mapping[int, Regions]) -> list[Block]:
    """Blocks without the labels of axes and the like, which stand beside a drawing and are a few words each."""
    return [block for block in found if not (_few_words(block) and _at_drawing(block, seen))]


def _few_words(block: Block) -> bool:
    return (
        block.kind in (Kind.PARAGRAPH, Kind.FORMULA)
        and len(block.text.split()) <= FEW
        and block.text[-1] not in ".:;?!"
    )


def _at_drawing(block: Block, seen: Mapping[int, Regions]) -> bool:
    first = block.lines[0]
    return any(
        within(first.box, Box(box.left - BESIDE, box.top - BESIDE, box.right + BESIDE, box.bottom + BESIDE))
        for box in seen[first.page].figures
    )
