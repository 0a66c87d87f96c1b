"""Where a command finds the pictures of its records, and whether its LM can see them."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import dspy

from programs.ensemble import Ensemble
from programs.pictures import Gallery

if TYPE_CHECKING:
    from optimize.lm import OpenLM

IMAGES = "images"  # the folder that the official archives are extracted to


def open_gallery(image_root: Path | None, data: Path, artifacts: Path) -> Gallery | None:
    """The pictures of a data file: those below `image_root`, or where `nearest_images` finds them.

    None where neither is there; a program that wants pictures then says so. What is read in them is kept below
    `artifacts`. Raises ValueError for a root that is no folder.
    """
    root = image_root or nearest_images(data)
    if root is None:
        return None
    if not root.is_dir():
        raise ValueError(f"--image-root {root}: no such folder; expected the one that holds {IMAGES}/")
    return Gallery(root, _reader(artifacts.resolve() / ".cache" / "ocr"))


def nearest_images(data: Path) -> Path | None:
    """The folder of a data file, or one of the two above it, that has a folder `images`."""
    folder = data.resolve().parent
    return next((place for place in (folder, *folder.parents[:2]) if (place / IMAGES).is_dir()), None)


def hang(program: dspy.Module, gallery: Gallery | None) -> dspy.Module:
    """The program, with the gallery that its records' pictures are in."""
    for member in members(program):
        member.gallery = gallery
    return program


def check_sees(program: dspy.Module, lm: "OpenLM") -> None:
    """Raises ValueError where a program shows pictures to a model that takes none."""
    shows = any(member.options.get("evidence") in ("image", "transcript") for member in members(program))
    if shows and lm.sees is False:
        raise ValueError(f"--lm {lm.spec} takes no pictures, and this program shows them; compile with --evidence ocr")


def form_of_evidence(evidence: str, lm: "OpenLM") -> str:
    """`auto` as what it comes to with an LM: pixels where it is known to take pictures, else OCR."""
    return ("image" if lm.sees else "ocr") if evidence == "auto" else evidence


def members(program: dspy.Module) -> list[dspy.Module]:
    """The programs that prepare and judge records: an ensemble's members, or the program itself."""
    return list(program.members.values()) if isinstance(program, Ensemble) else [program]


def _reader(cache: Path) -> Callable[[str], list[str]]:
    """What reads the text in pictures; it is opened when the first is read."""

    @lru_cache(maxsize=1)
    def opened() -> Callable[[str], list[str]]:
        from programs.ocr import Reader

        return Reader(cache)

    return lambda file: opened()(file)
