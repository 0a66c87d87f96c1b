"""XML of strangers (JATS, Word) as a tree of bounded size: no entity of its own is expanded, nothing is fetched."""

from io import BytesIO
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

from aisr import UserError

MOST_ELEMENTS = 1_000_000  # a paper of 30 pages that Word wrote has some 100,000


def parse_xml(content: bytes, file: Path, deepest: int, expected: str) -> Element:
    """Return the root of some XML. file, expected: what errors name; deepest: elements within elements. Raises
    UserError where it is no XML, hostile, or beyond these limits."""
    try:
        from defusedxml import DefusedXmlException
        from defusedxml.ElementTree import iterparse
    except ModuleNotFoundError as error:
        raise UserError("reading JATS and Word needs defusedxml; `pip install 'aisr-papers'` brings it") from error
    depth = count = 0
    root: Element | None = None
    try:
        for event, element in iterparse(BytesIO(content), events=("start", "end")):
            if event == "end":
                depth -= 1
                continue
            root = element if root is None else root
            depth, count = depth + 1, count + 1
            if depth > deepest or count > MOST_ELEMENTS:
                raise UserError(f"{file}: nested or long beyond what a paper is; expected {expected}")
    except DefusedXmlException as error:
        raise UserError(f"{file}: declares entities of its own, which are not expanded; expected {expected}") from error
    except UserError:
        raise
    except (ParseError, ValueError, LookupError) as error:  # broken; an encoding that is none or not what it says
        raise UserError(f"{file}: not XML ({str(error)[:100]}); expected {expected}") from error
    if root is None:
        raise UserError(f"{file}: not XML (empty); expected {expected}")
    return root


def local_name(element: Element) -> str:
    """Return the name of an element without its namespace; empty for comments and the like."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def child(element: Element | None, *path: str) -> Element | None:
    """Return the first element below another that such a path leads to."""
    for name in path:
        element = next((one for one in element if local_name(one) == name), None) if element is not None else None
    return element


def value(element: Element | None, name: str = "val") -> str:
    """Return an attribute, by its name without a namespace; empty where there is none."""
    attributes = element.attrib.items() if element is not None else ()
    return next((text for key, text in attributes if key.rpartition("}")[2] == name), "")


def is_on(element: Element | None) -> bool:
    """Return whether a switch such as `<w:b/>` is there, and on."""
    return element is not None and value(element) not in ("0", "false", "off", "none")
