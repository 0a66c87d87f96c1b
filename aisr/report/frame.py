"""What every page of ours is: one HTML file that loads nothing, with its data, style and script in it."""

import hashlib
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aisr.base.digests import of_text

HERE = Path(__file__).parent


def framed(
    template: Path, title: str, styles: Sequence[Path], scripts: Sequence[Path], data: Mapping[str, Any], **shown: Any
) -> str:
    """The page. Its policy admits this script, this style and inlined pictures, and no network.

    template: a file that fills the block `body` of `frame.html`, with `shown`; data: what the script reads, by the id
    of the element that holds it. What people say on the page is kept under the digest of the first.
    """
    from jinja2 import Environment, FileSystemLoader
    from markupsafe import Markup

    style, script = ("".join(file.read_text(encoding="utf-8") for file in files) for files in (styles, scripts))
    texts = {name: embedded(content) for name, content in data.items()}
    pages = Environment(loader=FileSystemLoader([template.parent, HERE]), autoescape=True)
    return pages.get_template(template.name).render(
        title=title,
        page=of_text(next(iter(texts.values())).encode("utf-8", "replace").decode()),
        style=Markup(style),
        style_hash=_digest(style),
        script=Markup(script),
        script_hash=_digest(script),
        data={name: Markup(text) for name, text in texts.items()},
        **shown,
    )


def embedded(content: Any) -> str:
    """JSON as it may stand in a script element: without `<`, so that no text can close it or open a comment."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _digest(text: str) -> str:
    """A script or style as the policy of a page admits it."""
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
