"""The page of a checked paper: one HTML file that loads nothing, with its data, style, script and pictures in it."""

import hashlib
import io
import json
import os
from base64 import b64encode
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from aisr.text import write_whole
from aisr_papers.check.flags import LABELS, Flag, Piece
from aisr_papers.check.review import Review, dismissal_line, left_out, list_recomputed, lost_words
from aisr_papers.draft import Draft

HERE = Path(__file__).parent
FLAG = TypeAdapter(Flag)  # as a line of `paper.jsonl`


def write_page(file: Path, review: Review) -> None:
    """Write the page of a review. Its policy admits its own script, its own style and inlined pictures, and no network.
    Halves of characters, which a PDF may hold, become question marks."""
    from jinja2 import Environment, FileSystemLoader
    from markupsafe import Markup

    style, script = ((HERE / name).read_text(encoding="utf-8") for name in ("page.css", "paper.js"))
    page = Environment(loader=FileSystemLoader(HERE), autoescape=True).get_template("page.html")
    html = page.render(
        title=review.draft.title or "A paper without a title",
        style=Markup(style),
        style_hash=_digest(style),
        script=Markup(script),
        script_hash=_digest(script),
        # Without `<`, so that no text can close the script element that holds it, or open a comment.
        data=Markup(json.dumps(_content(review), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")),
        lm=review.lm,
        reliability=[*lost_words(review.draft), *review.reliability],
        left_out=[*left_out(review), *list_recomputed(review)],
        flags=bool(review.flags),
    )
    write_whole(file, html.encode("utf-8", "replace"))


def _digest(text: str) -> str:
    """A script or style as the policy of a page admits it."""
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _content(review: Review) -> dict[str, Any]:
    """What the script draws; each piece of evidence stands in it once."""
    pieces: dict[Piece, int] = {}
    return {
        "labels": {kind: list(meanings) for kind, meanings in LABELS.items()},
        "paragraphs": [
            {
                "headings": paragraph.headings,
                "sentences": [
                    {"text": one.text, "place": str(one.place), "hidden": one.hidden} for one in paragraph.sentences
                ],
            }
            for paragraph in review.draft.paragraphs
        ],
        "flags": [_page_flag(one, pieces) for one in review.flags],
        "order": review.by_doubt(),
        "pieces": [piece._asdict() for piece in pieces],
        "pictures": _inline_pictures(review),
    }


def _page_flag(flag: Flag, pieces: dict[Piece, int]) -> dict[str, Any]:
    """The line of a flag, with its place in the draft, and its evidence by the place of that."""
    line: dict[str, Any] = FLAG.dump_python(flag, mode="json")
    return {
        **line,
        "position": flag.position,
        "reasons": [{**data, "mark": one.mark} for data, one in zip(line["reasons"], flag.reasons, strict=True)],
        "meaning": flag.meaning,
        "doubtful": flag.doubtful,
        "folded": flag.folded and not flag.dismissed,
        "evidence": [pieces.setdefault(piece, len(pieces)) for piece in flag.pieces],
        "marks": flag.marks,
        "dismissal": dismissal_line(flag) if flag.label and not flag.neutral and not flag.dismissed else None,
    }


# --- Small copies of the pictures among the evidence.

MOST_BYTES, MOST_PIXELS = 20 * 2**20, 50_000_000  # of a picture that is opened
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")
SIDE, QUALITY = 480, 60  # pixels, and WebP's measure, of a small copy


def _inline_pictures(review: Review) -> Mapping[str, str]:
    """Small copies of the pictures that flags show, by their paths, as addresses that hold them; those that there are
    none of left out."""
    paths = sorted({piece.picture for flag in review.flags for piece in flag.pieces if piece.picture})
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # Pillow works beside Python's lock
        copies = zip(paths, pool.map(lambda path: _thumbnail(review.draft, path), paths), strict=True)
        return {path: f"data:image/webp;base64,{b64encode(copy).decode()}" for path, copy in copies if copy}


def _thumbnail(draft: Draft, path: str) -> bytes | None:
    """A small WebP of a picture of a draft; None for a file that lies outside of its folder, is too large or is no
    picture."""
    try:
        from PIL import Image, ImageOps

        root = draft.folder.resolve()
        file = draft.drawings.get(path) or (root / path).resolve(strict=True)
        inside = path in draft.drawings or file.is_relative_to(root)
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
