"""A program prepared for use with an LM: its pictures, and whether the LM can run it."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from aisr.base.errors import UserError
from aisr.base.files import digest_text
from aisr.lm.client import OpenLM
from aisr.lm.config import LMUnavailable
from aisr.programs.pictures import ImageFolder
from aisr.programs.program import Program
from aisr.programs.task import Task

ProgramT = TypeVar("ProgramT", bound=Program)
CAPTION = "caption"  # the form of evidence that shows no pictures
IMAGES = "images"  # the folder that the official archives are extracted to


# --- Pictures


def find_image_folder(image_root: Path | None, data: Path) -> ImageFolder | None:
    """The pictures of a data file: those below `image_root`, or the folder of the file or one of the two above it that
    has a folder `images`.

    None where neither exists; a program that needs pictures then raises. Raises UserError for a root that is no folder.
    """
    folder = data.resolve().parent
    around = (place for place in (folder, *folder.parents[:2]) if (place / IMAGES).is_dir())
    root = image_root or next(around, None)
    return open_images(root) if root else None


def open_images(root: Path, drawn: Mapping[str, Path] = MappingProxyType({})) -> ImageFolder:
    """The pictures below a folder, and those drawn from drawings there. Raises UserError for no folder."""
    if not root.is_dir():
        raise UserError(f"--image-root {root}: no such folder; expected the one that holds {IMAGES}/")
    return ImageFolder(root, drawn)


def picture_digest(program: Program, paths: Iterable[str]) -> dict[str, str]:
    """The part of a run's identity that is its pictures: one digest of their contents, whichever folder they are in.
    Empty for a program that shows none. paths: as records name them."""
    folder = program.image_folder
    if folder is None or program.picture_mode == CAPTION:
        return {}
    return {"pictures": digest_text("\n".join(f"{path} {folder.digest(path)}" for path in sorted({*paths})))}


# --- An LM


def attach(program: ProgramT, lm: OpenLM, image_folder: ImageFolder | None) -> ProgramT:
    """The program, ready to be used with an LM: with the folder of its records' pictures. Raises `LMUnavailable` where
    it shows pictures and the LM takes none."""
    if program.picture_mode == "image" and lm.supports_vision is False:
        raise LMUnavailable(
            f"--lm {lm.spec} takes no pictures, and this program shows them; compile with -T evidence=ocr"
        )
    program.image_folder = image_folder
    return program


def with_confidence(task: Task, options: Mapping[str, Any], lm: OpenLM) -> dict[str, Any]:
    """The options of a task's program, with verbalized label probabilities where nobody said otherwise and the LM gives
    no log-probabilities, or is at a server of one's own, where only its first answer shows whether it does."""
    chosen = dict(options)
    unsure = not lm.gives_logprobs or lm.endpoint is not None
    if unsure and "verbalized_confidence" in task.program.Options.model_fields:
        chosen.setdefault("verbalized_confidence", True)
    return chosen
