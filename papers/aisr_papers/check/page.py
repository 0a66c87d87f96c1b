"""The page's frame: one HTML file that loads nothing, with its data, style, script and pictures in it."""

import hashlib
import io
import json
import os
from base64 import b64encode
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
WEBP = "data:image/webp;base64,"
Thumbnail = Callable[[str], bytes | None]  # the path of a picture below the paper's folder -> a small WebP, or None


def no_picture(path: str) -> None:
    """For where no pictures are at hand: captions and paths are shown."""


MOST_BYTES, MOST_PIXELS = 20 * 2**20, 50_000_000  # of a picture that is opened
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")
SIDE, QUALITY = 480, 60  # pixels, and WebP's measure, of a small copy


def thumbnails(folder: Path, drawings: Mapping[str, Path]) -> Thumbnail:
    """Return what makes small copies of the pictures below a folder; None for a file that lies outside of it, is too
    large or is no picture. drawings: of figures there that are no raster images, the path of one by theirs."""
    root = folder.resolve()

    def small(path: str) -> bytes | None:
        try:
            from PIL import Image, ImageOps

            file = drawings.get(path) or (root / path).resolve(strict=True)
            inside = path in drawings or file.is_relative_to(root)
            if not inside or not file.is_file() or file.stat().st_size > MOST_BYTES:
                return None
            with Image.open(file, formats=FORMATS) as picture:
                if picture.width * picture.height > MOST_PIXELS:
                    return None
                upright = ImageOps.exif_transpose(picture).convert("RGBA")
            page = Image.new("RGBA", upright.size, "white")  # what is transparent is white, as on the page
            flat = Image.alpha_composite(page, upright).convert("RGB")
            flat.thumbnail((SIDE, SIDE))
            out = io.BytesIO()
            flat.save(out, "WEBP", quality=QUALITY, method=2)  # half the time of the default, and 4 % more bytes
            return out.getvalue()
        except Exception:  # whatever a decoder makes of a broken or hostile file
            return None

    return small


def render_page(title: str, data: Mapping[str, Any], **shown: Any) -> str:
    """Render `page.html`. Its policy admits its own script, its own style and inlined pictures, and no network.

    data: what the script reads, by the id of the element that holds it; shown: what else the template names.
    """
    from jinja2 import Environment, FileSystemLoader
    from markupsafe import Markup

    style, script = ((HERE / name).read_text(encoding="utf-8") for name in ("page.css", "paper.js"))
    pages = Environment(loader=FileSystemLoader(HERE), autoescape=True)
    return pages.get_template("page.html").render(
        title=title,
        style=Markup(style),
        style_hash=_digest(style),
        script=Markup(script),
        script_hash=_digest(script),
        data={name: Markup(_script_json(content)) for name, content in data.items()},
        **shown,
    )


def _script_json(content: Any) -> str:
    """JSON as it may stand in a script element: without `<`, so that no text can close it or open a comment."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _digest(text: str) -> str:
    """A script or style as the policy of a page admits it."""
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def inline_pictures(paths: Collection[str], thumbnail: Thumbnail) -> dict[str, str]:
    """Return small copies of the pictures at these paths, as addresses that hold them; those that there are none of
    left out."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # Pillow works beside Python's lock
        small = zip(sorted(paths), pool.map(thumbnail, sorted(paths)), strict=True)
        return {path: f"{WEBP}{b64encode(content).decode()}" for path, content in small if content is not None}
