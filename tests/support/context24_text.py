"""Claims whose papers hold the method in passages of their own, and answers to what the grounding program asks."""

import re
from typing import Any

from aisr.programs.context24_text.record import Context24TextRecord
from support import scripted

METHOD = "Forty plots of {0} square metres were drawn at random and photographed from above in April."
MEASURE = "Cover was measured by counting points of a grid of {0} hundred that fell on green leaves."
RESULT = "Cover of the moss in valley {0} was higher in the shade than in the open."
TALK = "Moss number {0} has been loved by poets, and valley {0} is a place of long walks in the shade."


def claim(number: int = 1, **more: Any) -> Context24TextRecord:
    """A claim about moss whose paper says in its third paragraph how it was found out."""
    method, measure = METHOD.format(number), MEASURE.format(number)
    return Context24TextRecord.model_validate(
        {
            "id": f"context24-text-{number:06d}",
            "claim": f"Moss cover in valley {number} grows faster in the shade.",
            "citekey": f"moss{number}",
            "paragraphs": [
                f"On the moss of valley {number}",
                f"{TALK.format(number)} {RESULT.format(number)}",
                f"{method} {measure}",
                f"{RESULT.format(number)} This was not expected by anybody in valley {number}.",
                "References",
                "Pell, A. (1998). Moss cover in the shade of a valley. Letters, 2(3), 1-4.",
            ],
            "context": [f"{method} (p. 3)", measure],
            **more,
        }
    )


def lines(prompt: str) -> dict[str, str]:
    """The sentences in a prompt, by their ids."""
    return dict(re.findall(r"^\[(S\d+)\] (.*)$", scripted.field(prompt, "passages") or "", re.MULTILINE))


def grounding(prompt: str) -> str:
    """The right answer: the sentences on method, by their ids."""
    sentences = lines(prompt)
    chosen = [key for key, text in sentences.items() if text.startswith(("Forty plots", "Cover was measured"))]
    return scripted.written(prompt, {"chosen": chosen})
