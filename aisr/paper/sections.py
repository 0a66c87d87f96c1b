"""What part of a paper a paragraph stands in, by its outermost heading: where results are reported, or summed up."""

import re
from typing import Literal

from aisr.paper.draft import Paragraph

RESULTS = re.compile(
    r"\b(?:results?|experiments?|experimental|evaluations?|findings|analys[ie]s|ablations?|performance|comparisons?)\b",
    re.IGNORECASE,
)
SUMMARY = re.compile(
    r"(?:\W|\d)*(?:abstract|introduction|summary|conclusions?|concluding remarks|executive summary|highlights)\b",
    re.IGNORECASE,
)
DISCUSSION = re.compile(r"\b(?:discussion|conclusions?|outlook|limitations|implications|future work)\b", re.IGNORECASE)
Part = Literal["body", "discussion", "summary"]


def part_of(paragraph: Paragraph, has_headings: bool) -> Part:
    """Whether results are told again there, and found nowhere first ("summary": abstract, introduction, conclusion),
    are thought about ("discussion"), or may be reported ("body"). What stands below no heading in a paper that has some
    is taken for its abstract."""
    if not paragraph.headings:
        return "summary" if has_headings else "body"
    outermost = paragraph.headings[0]
    if RESULTS.search(outermost):
        return "body"
    if SUMMARY.match(outermost):
        return "summary"
    return "discussion" if DISCUSSION.search(outermost) else "body"
