"""Claims whose documents hold the answer, and answers to what AVeriTeC's program asks."""

import re
from typing import Any

from aisr.programs.averitec.record import AveritecRecord
from support import scripted

NOISE = "The town of {0} has a market on Saturdays, and number {0} is painted green."


def claim(number: int = 1, label: str = "Refuted", **more: Any) -> AveritecRecord:
    """A claim with a page that answers it, among pages that do not."""
    answer = f"The bridge of town {number} closed for {number} weeks in May and opened again in June."
    pages = [{"url": f"https://noise-{k}.example/", "text": NOISE.format(k)} for k in range(12)]
    gold = {"url": f"https://news.example/{number}", "text": answer}
    return AveritecRecord.model_validate(
        {
            "id": f"averitec-{number:06d}",
            "claim": f"The bridge of town {number} closed for {number} months.",
            "speaker": "Mira Holt",
            "claim_date": "14-3-2021",
            "documents": [*pages[:6], gold, *pages[6:]],
            "label": label,
            "questions": [
                {
                    "question": f"How long was the bridge of town {number} closed?",
                    "answers": [{"answer": answer, "answer_type": "Extractive", "source_url": gold["url"]}],
                }
            ],
            **more,
        }
    )


def passages(prompt: str) -> dict[str, str]:
    """The passages in a prompt, by their ids."""
    text = scripted.field(prompt, "passages") or ""
    return dict(re.findall(r"^\[(D[\d.]+)\] \([^)]*\) (.*)$", text, re.MULTILINE))


def quoting(prompt: str, label: str = "Refuted") -> str:
    """Asks what the claim says, answers with all passages as they stand, and always judges the same."""
    claim = (scripted.field(prompt, "claim") or "").rstrip(".")
    question = f"Is it true that {claim}?"
    if texts := passages(prompt):
        pairs = [{"question": question, "answer": text, "source": key} for key, text in texts.items()]
        return scripted.written(prompt, {"pairs": pairs})
    if scripted.field(prompt, "evidence") is not None:
        return scripted.written(prompt, {"label": label})
    return scripted.written(prompt, {"questions": [f"How long was it closed, {claim}?"]})
