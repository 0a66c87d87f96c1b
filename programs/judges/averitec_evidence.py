"""Evidence about a claim, as questions with answers: as a model reads it, in the order that counts, and gold pairs."""

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urlsplit

from aisr.programs.records.averitec import MOST_PAIRS, Checked, Pair
from aisr.programs.retrieval.documents import Passage
from aisr.programs.text.loose_match import letters
from aisr.programs.text.sanitize import item, plain

NOTHING = "no evidence was found"


def told(pairs: Sequence[Pair], quoted: Mapping[str, str]) -> str:
    """Pairs as a model reads them, one a line after its number, with the site that is quoted, and whether word for
    word. quoted: the passage that each answer rests on, where it is known."""
    rows: list[str] = []
    for number, pair in enumerate(pairs, start=1):
        verbatim = letters(pair.answer) in letters(quoted.get(pair.answer, ""))
        site = f"{_site(pair.url)}{', word for word' if verbatim and quoted else ''}"
        rows.append(f"{number}. {item(pair.question)} {site}: {item(pair.answer)}")
    return "\n".join(rows) or NOTHING


def together(pairs: Iterable[Pair]) -> list[Pair]:
    """Of all pairs the ten that count, each once, what was filled in last."""
    return list(dict.fromkeys(sorted(pairs, key=lambda pair: pair.filled)))[:MOST_PAIRS]


def filled(claim: str, passages: Iterable[Passage]) -> list[Pair]:
    """Passages as answers to a question about the claim that nobody asked."""
    question = f"Is it true that {claim.strip().rstrip('.')}?"
    return [Pair(question, passage.text, passage.url, filled=True) for passage in passages]


def rendered(passages: Mapping[str, Passage]) -> str:
    """Passages as a model reads them: one a line, each after its id and the name of the site that it is from."""
    rows = (f"[{key}] ({_site(one.url)}) {item(one.text, passages.__contains__)}" for key, one in passages.items())
    return plain("\n".join(rows))


def gold_pairs(gold: Checked) -> list[Pair]:
    """Gold evidence as pairs, the first ten."""
    pairs = []
    for question in gold.questions:
        for answer in question.answers:
            more = f". {answer.boolean_explanation}" if answer.answer_type == "Boolean" else ""
            pairs.append(Pair(question.question, f"{answer.answer}{more}", answer.source_url or ""))
    return pairs[:MOST_PAIRS]


def sourced(gold: Checked, found: Mapping[str, Passage]) -> list[dict[str, str]]:
    """The gold pairs that passages of their page answer, each in the words of the passage that shares most words with
    the gold answer; a passage answers one question."""
    pairs = []
    left = dict(found)
    for pair in gold_pairs(gold):
        words = set(pair.answer.lower().split())
        near = {key: words & set(one.text.lower().split()) for key, one in left.items() if one.url == pair.url}
        if near:
            key = max(near, key=lambda place: len(near[place]))
            pairs.append({"question": item(pair.question), "answer": item(left.pop(key).text), "source": key})
    return pairs


def _site(url: str) -> str:
    """The name of the site that a page is from."""
    try:
        return item(urlsplit(url).hostname or "") or "unknown"
    except ValueError:  # what is no address
        return "unknown"
