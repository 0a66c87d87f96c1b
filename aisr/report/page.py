"""Rendering the error browser: data, style and script in one HTML file that loads nothing."""

import hashlib
import json
import os
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aisr.base.files import write_whole

if TYPE_CHECKING:
    from aisr.report.records import Records


# --- What every page of ours is: one HTML file that loads nothing, with its data, style and script in it.

HERE = Path(__file__).parent


def render_page(
    template: Path, title: str, styles: Sequence[Path], scripts: Sequence[Path], data: Mapping[str, Any], **shown: Any
) -> str:
    """The page. Its policy admits this script, this style and inlined pictures, and no network.

    template: a file that fills the block `body` of `frame.html`, with `shown`; data: what the script reads, by the id
    of the element that holds it.
    """
    from jinja2 import Environment, FileSystemLoader
    from markupsafe import Markup

    style, script = ("".join(file.read_text(encoding="utf-8") for file in files) for files in (styles, scripts))
    texts = {name: script_json(content) for name, content in data.items()}
    pages = Environment(loader=FileSystemLoader([template.parent, HERE]), autoescape=True)
    return pages.get_template(template.name).render(
        title=title,
        style=Markup(style),
        style_hash=_digest(style),
        script=Markup(script),
        script_hash=_digest(script),
        data={name: Markup(text) for name, text in texts.items()},
        **shown,
    )


def script_json(content: Any) -> str:
    """JSON as it may stand in a script element: without `<`, so that no text can close it or open a comment."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _digest(text: str) -> str:
    """A script or style as the policy of a page admits it."""
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


FILE = "report.html"
STYLES = (HERE / "page.css",)
SCRIPTS = tuple(
    HERE / name for name in ("elements.js", "verdicts.js", "statements.js", "exhibits.js", "matrix.js", "page.js")
)
WEBP = "data:image/webp;base64,"
Thumbnail = Callable[[str], bytes | None]  # the path that a record gives -> a small WebP picture, or None


def no_picture(path: str) -> None:
    """For where no pictures are at hand: captions and paths are shown."""


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


def render(records: "Records", thumbnail: Thumbnail = no_picture) -> str:
    """The page."""
    content = records.model_dump(mode="json")
    return render_page(
        HERE / "page.html",
        records.about.title,
        STYLES,
        SCRIPTS,
        {
            "records": {"about": content["about"], "records": content["records"]},
            "texts": content["texts"],
            "pictures": _pictures(records, thumbnail),
        },
        about=records.about,
        count=len(records.records),
        percent=lambda value: f"{100 * value:.1f}",
    )


def write(folder: Path, records: "Records", thumbnail: Thumbnail = no_picture) -> Path:
    """Write the page into a folder; its path."""
    write_whole(folder / FILE, render(records, thumbnail))
    return folder / FILE


def _pictures(records: "Records", thumbnail: Thumbnail) -> dict[str, str]:
    """Each picture once, by the path that records give."""
    paths = {exhibit.picture for one in records.records for exhibit in one.exhibits if exhibit.picture}
    return inline_pictures(paths, thumbnail)


def inline_pictures(paths: Collection[str], thumbnail: Thumbnail) -> dict[str, str]:
    """Small copies of the pictures at these paths, as addresses that hold them; those that there are none of left
    out."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # Pillow works beside Python's lock
        small = zip(sorted(paths), pool.map(thumbnail, sorted(paths)), strict=True)
        return {path: f"{WEBP}{b64encode(content).decode()}" for path, content in small if content is not None}
