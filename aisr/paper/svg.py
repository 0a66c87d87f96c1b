"""SVG figures to points, by resvg: no scripts, no network. Runs in `figure_child` alone.

resvg loads pictures that an SVG names by path, wherever they are. So only what stands in the file itself is let
through: names of its own parts, and pictures of points as `data:`. What was looked at is what is drawn.
"""

import re
from importlib.util import find_spec
from pathlib import Path
from xml.etree.ElementTree import Element, tostring

from defusedxml.ElementTree import fromstring

DATA = re.compile(r"data:image/(?:png|jpe?g|gif|webp);base64,[A-Za-z0-9+/=\s]*+", re.IGNORECASE)
SVG = "{http://www.w3.org/2000/svg}"
FOREIGN = ("script", "foreignObject")
MAX_ELEMENTS = 200_000
MAX_DEPTH = 200


class Refused(Exception):
    """Why a figure is not drawn, in some words."""


def svg_as_png(content: bytes, pixels: int) -> bytes:
    """An SVG on white, as PNG of at most that many pixels. Raises Refused."""
    try:
        import resvg_py
    except ImportError as error:
        raise Refused("drawing an SVG needs the package resvg-py; save it as PDF or PNG beside it") from error
    try:
        root = fromstring(content)
    except Exception as error:  # whatever XML of a stranger is: broken, with entities of its own, in an odd encoding
        raise Refused(f"no SVG that can be read ({type(error).__name__})") from error
    _clean(root)
    side = int(pixels**0.5)
    try:
        # Both sides are given: it is then fitted between them, whatever size it states.
        return bytes(
            resvg_py.svg_to_bytes(
                svg_string=tostring(root, encoding="unicode"),
                background="white",
                width=side,
                height=side,
                skip_system_fonts=True,
                font_dirs=_fonts(),
                font_family="DejaVu Sans",
                sans_serif_family="DejaVu Sans",
                serif_family="DejaVu Serif",
                monospace_family="DejaVu Sans Mono",
            )
        )
    except ValueError as error:
        raise Refused(f"no SVG that can be drawn ({ascii(str(error))[1:80]})") from error


def _clean(root: Element) -> None:
    """Take out what is not drawn here. Raises Refused for what names other files, and for what is far too much."""
    if root.tag != f"{SVG}svg":
        raise Refused("no SVG")
    level, count = [root], 0
    for _ in range(MAX_DEPTH):
        for parent in level:
            for child in list(parent):
                if not isinstance(child.tag, str) or child.tag.removeprefix(SVG) in FOREIGN:
                    parent.remove(child)
            _named(parent)
        count += len(level)
        level = [child for parent in level for child in parent]
        if not level:
            return
        if count + len(level) > MAX_ELEMENTS:
            raise Refused(f"more than {MAX_ELEMENTS:,} elements in it")
    raise Refused(f"elements within more than {MAX_DEPTH} others")


def _named(one: Element) -> None:
    for name, value in one.attrib.items():
        is_link = name.rpartition("}")[2] == "href" and one.tag != f"{SVG}a"
        if is_link and not (value.startswith("#") or DATA.fullmatch(value)):
            raise Refused("it names another file, which is not read")


def _fonts() -> list[str]:
    """The fonts that come with matplotlib: the same text on every machine."""
    found = find_spec("matplotlib")
    return [str(Path(found.origin).parent / "mpl-data/fonts/ttf")] if found and found.origin else []
