"""Pages: one HTML file that loads nothing, with its data, style and script in it."""

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def render_page(template: Path, style: Path, scripts: Sequence[Path], **content: Any) -> str:
    """Return a page by its Jinja template, whose `style` and `script` begin with what all pages share (`page.css` and
    `page.js` beside this file). Its policy, by `style_hash` and `script_hash`, admits these, and no network. What of
    the content is data for the script is put in by `tojson`: that leaves no `<`, so that no text can close the script
    element that holds it."""
    from jinja2 import Environment, FileSystemLoader  # commands that write no page do without
    from markupsafe import Markup

    css = "".join(file.read_text("utf-8") for file in (HERE / "page.css", style))
    script = "".join(file.read_text("utf-8") for file in (HERE / "page.js", *scripts))
    environment = Environment(loader=FileSystemLoader(template.parent), autoescape=True)
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    return environment.get_template(template.name).render(
        style=Markup(css), style_hash=_digest(css), script=Markup(script), script_hash=_digest(script), **content
    )


def _digest(text: str) -> str:
    """Return the digest by which the policy of a page admits a script or style."""
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
