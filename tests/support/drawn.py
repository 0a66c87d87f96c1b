"""Pictures made for a test."""

from pathlib import Path
from typing import Any

from PIL import Image


def picture(path: Path, size: tuple[int, int] = (60, 40), color: str = "red", **how: Any) -> Path:
    """A plain picture in the format of its suffix."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(how.pop("mode", "RGB"), size, color).save(path, **how)
    return path
