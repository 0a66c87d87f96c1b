"""PDFs written by hand, object by object: small papers, and what a hostile hand makes of the format."""

import zlib
from collections.abc import Sequence
from pathlib import Path

WIDTH, HEIGHT = 612, 792  # points
FONTS = (
    "/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    " /F2 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>"
    " /F3 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Oblique >> >>"
)
FAINT = "/ExtGState << /Faint << /ca 0.02 >> >>"
MIB = 2**20


def text(x: float, y: float, content: str, *, size: float = 10, font: str = "F1", look: str = "0 g 0 Tr") -> str:
    """A line of text with its left end at (x, y) from the lower left corner. look: operators for colour and mode."""
    escaped = content.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return f"BT {look} /{font} {size} Tf {x} {y} Td ({escaped}) Tj ET\n"


def column(x: float, y: float, lines: Sequence[str], *, size: float = 10, leading: float = 12) -> str:
    """Lines one below the other."""
    return "".join(text(x, y - leading * place, line, size=size) for place, line in enumerate(lines))


def picture(x: float, y: float, width: float, height: float, gray: int = 128) -> str:
    """A plain picture."""
    return f"q {width} 0 0 {height} {x} {y} cm BI /W 1 /H 1 /BPC 8 /CS /G ID {chr(gray)} EI Q\n"


def rule(x: float, y: float, width: float) -> str:
    return f"{x} {y} {width} 0.6 re f\n"


def write(
    file: Path,
    *pages: str | bytes,
    boxes: str = "",
    catalog: str = "",
    more: Sequence[bytes] = (),
    trailer: str = "",
) -> Path:
    """A PDF with a page for each stream of operators. boxes: entries of each page; catalog: of the document; more:
    objects behind those of the pages, numbered from `first_free`. Bytes of a page are packed already."""
    objects = [f"<< /Type /Catalog /Pages 2 0 R {catalog} >>".encode(), b""]
    kids = []
    for content in pages:
        packed = zlib.compress(content.encode("latin-1")) if isinstance(content, str) else content
        objects.append(stream(packed, "/Filter /FlateDecode"))
        names = "".join(
            f" /X{number} {number} 0 R" for number in range(first_free(pages), first_free(pages) + len(more))
        )
        resources = f"/Resources << {FONTS} {FAINT} /XObject <<{names} >> >>"
        size = f"/MediaBox [0 0 {WIDTH} {HEIGHT}] {boxes}"
        page = f"<< /Type /Page /Parent 2 0 R {size} {resources} /Contents {len(objects)} 0 R >>"
        objects.append(page.encode())
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(kids)}] >>".encode()
    file.write_bytes(_file([*objects, *more], trailer))
    return file


def first_free(pages: Sequence[object]) -> int:
    """The number of the first object behind those of some pages."""
    return 3 + 2 * len(pages)


def stream(packed: bytes, entries: str) -> bytes:
    return f"<< /Length {len(packed)} {entries} >>\nstream\n".encode() + packed + b"\nendstream"


def bomb(mebibytes: int) -> bytes:
    """A packed stream of some kilobytes that unpacks to that many MiB of spaces."""
    packer = zlib.compressobj(9)
    begin = packer.compress(b" " * MIB) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(b" " * MIB) + packer.flush(zlib.Z_FULL_FLUSH)
    return begin + again * (mebibytes - 1) + packer.flush()


def forms_in_forms() -> tuple[str, list[bytes]]:
    """A page of forms that each show the next one ten times, and these: few bytes, 10 ** 7 texts."""
    first, depth = first_free("1"), 8
    made = []
    for number in range(first, first + depth):
        is_last = number == first + depth - 1
        content = text(50, 50, "again") if is_last else f"/X{number + 1} Do\n" * 10
        names = FONTS if is_last else f"/XObject << /X{number + 1} {number + 1} 0 R >>"
        entries = f"/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << {names} >>"
        made.append(stream(content.encode(), entries))
    return f"/X{first} Do", made


LOCKED = (  # a password that nobody knows: what is to be compared with it are zeros
    f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{'00' * 32}> /U <{'00' * 32}> >>"
    f" /ID [<{'00' * 16}> <{'00' * 16}>]"
)


def _file(objects: Sequence[bytes], trailer: str) -> bytes:
    out = bytearray(b"%PDF-1.7\n")
    places = []
    for number, one in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + one + b"\nendobj\n"
    begin = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    out += f"trailer << /Size {len(objects) + 1} /Root 1 0 R {trailer} >>\nstartxref\n{begin}\n%%EOF\n".encode()
    return bytes(out)
