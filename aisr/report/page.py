"""Rendering the error browser: data, style and script in one HTML file that loads nothing."""

import hashlib
import json
import os
from base64 import b64decode, b64encode
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aisr.base.files import percent, write_whole

if TYPE_CHECKING:
    from aisr.report.records import Records


HERE = Path(__file__).parent
FILE = "report.html"
WEBP = "data:image/webp;base64,"
Thumbnail = Callable[[str], bytes | None]  # the path that a record gives -> a small WebP picture, or None


def no_picture(path: str) -> None:
    """For where no pictures are at hand: captions and paths are shown."""


def render(records: "Records", thumbnail: Thumbnail = no_picture) -> str:
    """Return the page. Its policy admits its own script, its style and inlined pictures, and no network."""
    from jinja2 import Environment, FileSystemLoader
    from markupsafe import Markup

    content = records.model_dump(mode="json")
    data = {
        "records": {"about": content["about"], "records": content["records"]},
        "texts": content["texts"],
        "pictures": _pictures(records, thumbnail),
    }
    style, script = (
        (HERE / "page.css").read_text("utf-8"),
        "".join((HERE / name).read_text("utf-8") for name in ("record.js", "page.js")),
    )
    return (
        Environment(loader=FileSystemLoader(HERE), autoescape=True)
        .get_template("page.html")
        .render(
            title=records.about.title,
            style=Markup(style),
            style_hash=_digest(style),
            script=Markup(script),
            script_hash=_digest(script),
            data={name: Markup(script_json(value)) for name, value in data.items()},
            about=records.about,
            count=len(records.records),
            percent=percent,
        )
    )


def script_json(content: Any) -> str:
    """JSON as it may stand in a script element: without `<`, so that no text can close it or open a comment."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _digest(text: str) -> str:
    """A script or style as the policy of a page admits it."""
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def read_thumbnails(page: Path) -> Thumbnail:
    """The pictures that a page has which was written before; none where there is no page of ours."""
    from aisr.report.records import MAX_BYTES  # loads DSPy

    if not page.is_file() or page.stat().st_size > MAX_BYTES:
        return no_picture
    text = page.read_text(encoding="utf-8", errors="replace")
    embedded = text.partition('id="pictures">')[2].partition("</script>")[0]
    try:
        pictures = json.loads(embedded) if embedded else {}
        items = pictures.items() if isinstance(pictures, dict) else ()
        small = {path: b64decode(str(url).removeprefix(WEBP), validate=True) for path, url in items}
    except (ValueError, RecursionError):
        return no_picture
    return small.get


def write(folder: Path, records: "Records", thumbnail: Thumbnail = no_picture) -> Path:
    """Write the page into a folder; its path."""
    write_whole(folder / FILE, render(records, thumbnail))
    return folder / FILE


def _pictures(records: "Records", thumbnail: Thumbnail) -> dict[str, str]:
    """Small copies of all pictures as addresses that hold them, by the path that records give; those that there are
    none of left out."""
    paths = sorted({exhibit.picture for one in records.records for exhibit in one.exhibits if exhibit.picture})
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # Pillow works beside Python's lock
        small = zip(paths, pool.map(thumbnail, paths), strict=True)
        return {path: f"{WEBP}{b64encode(content).decode()}" for path, content in small if content is not None}
