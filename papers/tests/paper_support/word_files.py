"""Word files made of strings of XML."""

import zipfile
from pathlib import Path

NAMESPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(content: str) -> str:
    """A paragraph of runs, or of plain text."""
    return f"<w:p>{content if content.startswith('<') else run(content)}</w:p>"


def cell(content: str, look: str = "") -> str:
    return f"<w:tc><w:tcPr>{look}</w:tcPr>{paragraph(content)}</w:tc>"


def table(*rows: list[str]) -> str:
    """A table of texts, or of cells."""
    cells = (("".join(one if one.startswith("<w:tc>") else cell(one) for one in row)) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def picture(link: str) -> str:
    return f'<w:r><w:drawing><a:blip r:embed="{link}"/></w:drawing></w:r>'


def part(root: str, content: str, head: str = "") -> str:
    return f'<?xml version="1.0"?>{head}<w:{root} {NAMESPACES}>{content}</w:{root}>'


def write(
    file: Path,
    body: str,
    parts: dict[str, str | bytes] | None = None,
    links: str = "",
    compression: int = zipfile.ZIP_DEFLATED,
) -> Path:
    """A Word file with a body, and more parts by their names. links: from its document."""
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    root = f'<Relationship Id="r1" Type="{OFFICE}/officeDocument" Target="word/document.xml"/>'
    with zipfile.ZipFile(file, "w", compression) as archive:
        content: dict[str, str | bytes] = {
            "_rels/.rels": f'<Relationships xmlns="{package}">{root}</Relationships>',
            "word/document.xml": part("document", f"<w:body>{body}</w:body>"),
            "word/_rels/document.xml.rels": f'<Relationships xmlns="{package}">{links}</Relationships>',
        }
        for name, text in (content | (parts or {})).items():
            archive.writestr(name, text)
    return file


def link(key: str, target: str) -> str:
    return f'<Relationship Id="{key}" Type="{OFFICE}/image" Target="{target}"/>'
