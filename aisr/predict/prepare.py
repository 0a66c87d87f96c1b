"""A program made ready for an LM: its pictures, its embeddings, and whether the LM can do what it asks.

Where a command finds the pictures of its records, and whether its LM can see them.

Giving programs what asks the embedding models of their retrievers.

What suits an LM: whether it can do what a program asks of it, and what a new program asks of it.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from aisr.base.files import cache_folder, digest_text
from aisr.lm.client import OpenLM
from aisr.lm.decide import check_writes
from aisr.lm.embeddings import Embeddings
from aisr.programs.averitec.documents import PAGES
from aisr.programs.base import Judge
from aisr.programs.errors import UserError
from aisr.programs.vision.images import Gallery

if TYPE_CHECKING:
    from aisr.lm.client import OpenLM

ProgramT = TypeVar("ProgramT", bound=Judge)
CAPTION = "caption"  # the form of evidence that shows no pictures
IMAGES = "images"  # the folder that the official archives are extracted to


def find_gallery(image_root: Path | None, data: Path, artifacts: Path) -> Gallery | None:
    """The pictures of a data file: those below `image_root`, or where `nearest_images` finds them.

    None where neither is there; a program that wants pictures then says so. Raises UserError for a root that is no
    folder.
    """
    root = image_root or nearest_images(data)
    return open_gallery(root, artifacts) if root else None


def open_gallery(root: Path, artifacts: Path, drawn: Mapping[str, Path] = MappingProxyType({})) -> Gallery:
    """The pictures below a folder, and what was drawn of drawings there; what is read in them is kept below
    `artifacts`. Raises UserError for no folder."""
    if not root.is_dir():
        raise UserError(f"--image-root {root}: no such folder; expected the one that holds {IMAGES}/")
    return Gallery(root, _reader(cache_folder(artifacts) / "ocr"), drawn)


def nearest_images(data: Path) -> Path | None:
    """The folder of a data file, or one of the two above it, that has a folder `images`, or one `pages`."""
    folder = data.resolve().parent
    near = (folder, *folder.parents[:2])
    return next((place for place in near if any((place / name).is_dir() for name in (IMAGES, PAGES))), None)


def attach_gallery(program: ProgramT, gallery: Gallery | None) -> ProgramT:
    """The program, with the gallery that its records' pictures are in."""
    program.gallery = gallery
    return program


def digest_shown(program: Judge, gallery: Gallery | None, paths: Iterable[str]) -> dict[str, str]:
    """What tells the pictures that a program shows from others, as a part of what makes a run this run: one digest of
    their contents, whichever folder they are in. Empty for a program that shows none. paths: as records name them."""
    if gallery is None or program.form == CAPTION:
        return {}
    return {"pictures": digest_text("\n".join(f"{path} {gallery.digest(path)}" for path in sorted({*paths})))}


def form_of_evidence(evidence: str, lm: "OpenLM") -> str:
    """`auto` as what it comes to with an LM: pixels where it is known to take pictures, else OCR."""
    return ("image" if lm.sees else "ocr") if evidence == "auto" else evidence


def _reader(cache: Path) -> Callable[[str], list[str]]:
    """What reads the text in pictures; it is opened when the first is read."""

    @lru_cache(maxsize=1)
    def opened() -> Callable[[str], list[str]]:
        from aisr.programs.vision.ocr import Reader

        return Reader(cache)

    return lambda file: opened()(file)


def attach_embeddings(program: ProgramT, embeddings: Embeddings) -> ProgramT:
    """The program, with what asks the embedding models of its retrievers."""
    if program.embedding_model:
        program.embed = embeddings.of(program.embedding_model)
    return program


def check_suits(program: Judge, lm: OpenLM) -> None:
    """Raises UserError where a program shows pictures to a model that takes none, or has text written by one that
    writes none."""
    if program.form == "image" and lm.sees is False:
        raise UserError(f"--lm {lm.spec} takes no pictures, and this program shows them; compile with -T evidence=ocr")
    for predictor in program.predictors():
        check_writes(predictor.signature, lm)


def states_for(lm: OpenLM) -> bool:
    """Whether an LM should be asked to state how likely its labels are: where it gives no log-probabilities, and at an
    address of one's own, where only its first answer shows whether it does."""
    return not lm.lm.gives_logprobs or (lm.endpoint is not None and not lm.decides)
