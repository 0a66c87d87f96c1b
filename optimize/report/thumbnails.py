"""Small copies of the pictures that records name. The paths and the files come from outside: both are checked."""

import io
from pathlib import Path

from PIL import Image

LONGEST = 480  # pixels of the longer side
QUALITY = 60
MAX_BYTES = 20 * 2**20
MAX_PIXELS = 50_000_000
FORMATS = ("JPEG", "PNG", "WEBP", "GIF")


class Thumbnails:
    """Pictures below a root folder; whatever lies outside of it, is too large or is no picture is None."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()

    def __call__(self, path: str) -> bytes | None:
        """A WebP of at most 480 pixels a side, without the metadata of the original."""
        try:
            file = (self.root / path).resolve()
            if not file.is_relative_to(self.root) or not file.is_file() or file.stat().st_size > MAX_BYTES:
                return None
            with Image.open(file, formats=FORMATS) as picture:
                if picture.width * picture.height > MAX_PIXELS:
                    return None
                picture.draft("RGB", (LONGEST, LONGEST))
                small = picture.convert("RGBA")  # on white: transparent parts would come out black
                small.thumbnail((LONGEST, LONGEST))
                small = Image.alpha_composite(Image.new("RGBA", small.size, "white"), small).convert("RGB")
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
            return None
        out = io.BytesIO()
        small.save(out, "WEBP", quality=QUALITY)
        return out.getvalue()
