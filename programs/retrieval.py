"""What a model reads of a paper or of web pages for a claim: how texts are ranked, which cannot decide it, what is cut.

A matcher takes a claim and the paragraphs and gives each a score, higher being better: BM25 over stemmed words
(Robertson et al. 1995), similarity of embeddings, or both fused. Scores of different matchers are not comparable, so
they are fused by rank.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain, pairwise
from types import MappingProxyType
from typing import Annotated, Literal, NamedTuple

import numpy as np
from bm25s import BM25
from numpy.typing import NDArray
from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from aisr.programs.text import BYTES_PER_TOKEN, ROW, flat, pieces, sentences, tokens
from aisr.programs.text_index import TextIndex, index_of, stemmed
from aisr.programs.word_vectors import embed

PAPERS_KEPT = 64  # whose `idle_places` are cached: many claims cite the same paper


def bm25(claim: str, texts: Sequence[str]) -> NDArray[np.float64]:
    """Return the BM25 score of each text, shape (texts,); 0 everywhere where no word of the claim occurs."""
    index = index_of(texts, TextIndex).bm25
    known = known_stems(claim, index)
    if index is None or not known:
        return np.zeros(len(texts))
    return np.asarray(index.get_scores(known), dtype=np.float64)


def known_stems(claim: str, index: BM25 | None) -> list[str]:
    """Return the stems of a claim that occur in some texts, in order."""
    return [] if index is None else [stem for stem in claim_stems(claim) if stem in index.vocab_dict]


def dense(claim: str, texts: Sequence[str]) -> NDArray[np.float64]:
    """Return the cosine of the claim and each text, shape (texts,), -1 to 1."""
    # Not `@`: with 8 records at a time its threads wait for each other for longer than all else takes.
    return np.asarray(np.einsum("tv,v->t", index_of(texts, TextIndex).vectors, claim_vector(claim)))


CLAIMS_KEPT = 256  # whose stems and vectors are kept: several features of a ranker ask for them


@lru_cache(maxsize=CLAIMS_KEPT)
def claim_stems(claim: str) -> tuple[str, ...]:
    """Return the stems of a claim, in order."""
    return tuple(stemmed([claim])[0])


@lru_cache(maxsize=CLAIMS_KEPT)
def claim_vector(claim: str) -> NDArray[np.float64]:
    """Return the vector of a claim."""
    return np.asarray(embed([claim])[0])


MatchScores = NDArray[np.float64]
Matcher = Callable[[str, Sequence[str]], MatchScores]

RANK_CONSTANT = 60  # of reciprocal rank fusion (Cormack et al. 2009)


def order(scores: MatchScores) -> NDArray[np.int64]:
    """Return the indices of the texts, best first; ties in document order. The inverse of `ranks`."""
    return np.argsort(-scores, kind="stable")


def fuse(rankings: Iterable[MatchScores]) -> MatchScores:
    """Return reciprocal rank fusion: a text counts by its rank by each of the scores."""
    return np.asarray(np.sum([1 / (RANK_CONSTANT + 1 + ranks(scores)) for scores in rankings], axis=0))


def fused(*matchers: Matcher) -> Matcher:
    """Return what fuses the rankings of matchers."""
    return lambda claim, texts: fuse(match(claim, texts) for match in matchers)


RetrieverName = Literal["bm25", "dense", "hybrid"]
RETRIEVERS: Mapping[RetrieverName, Matcher] = MappingProxyType(
    {"bm25": bm25, "dense": dense, "hybrid": fused(bm25, dense)}
)


def ranks(scores: MatchScores) -> NDArray[np.int64]:
    """Return the rank of each text, 0 for the best."""
    by_text = np.empty(len(scores), dtype=np.int64)
    by_text[order(scores)] = np.arange(len(scores))
    return by_text


HEADING = re.compile(r"(?:[A-Z]|\d+(?:\.\d+)*\.?\s)[^.!?:;]{0,78}[^.!?:;,]")
CAPTION = re.compile(
    r"\s*+(?:(?:supplementary|supplemental|extended data)\s++)?(?:fig(?:ure)?s?|tables?|scheme|box|movie|video)"
    r"\s*+(?:\.\s*+)?[A-Z]?\d",
    re.IGNORECASE,
)
BARE = 160  # characters; a caption of no more names its subject, and states nothing about it
# Headings of back matter, below which all is passed over, and openings of such paragraphs without a heading.
END_HEADING = re.compile(
    r"(?:\d+(?:\.\d+)*\.?\s+)?(?:references|bibliography|literature cited|funding(?: (?:statement|sources?))?"
    r"|acknowledge?ments?|(?:declarations? of )?(?:conflicts? of interests?|competing (?:financial )?interests?)"
    r"(?: statement)?|disclosures?|author(?:s['’]?|['’]s)? (?:contributions?|information)|contributors"
    r"|credit authorship contribution statement)",
    re.IGNORECASE,
)
BACK_MATTER_START = re.compile(
    r"(?:(?:acknowledge?ments?|funding|author(?:s['’]?|['’]s)? contributions?|(?:conflicts? of|competing"
    r"|declaration of)(?: financial)? interests?)\s*[:.—–-]"
    r"|(?:this|the) (?:work|study|research|project) (?:was|is|has been|were) (?:\w+ )?(?:supported|funded)\b"
    r"|(?:we|the authors) (?:would like to )?(?:gratefully )?(?:thank|acknowledge)\b"
    r"|supported by (?:the|an?|grants?|funds?)\b"
    r"|(?:the authors?|all authors|none of the authors|authors) (?:have )?(?:\w+ )?(?:declared?|reports?|have) "
    r"(?:that )?(?:they have |there (?:is|are) )?(?:no|nothing)\b)",
    re.IGNORECASE,
)
# Signs of an entry in a list of references, and of a step in a lab protocol. Of 297 gold paragraphs of real papers none
# was a protocol.
ENTRY = re.compile(
    r"\b(?:19|20)\d\d[a-z]?\)?\s*[;:.,]\s*\(?\d+|\b\d+\s*\(\d+\)\s*[:,]\s*e?\d+|\bdoi\b\s*+(?:[:.]\s*+)?(?:org/)?10\.",
    re.IGNORECASE,
)
STEP = re.compile(
    r"\b(?:was|were) (?:then |subsequently |also |further )?(?:purchased|incubated|washed|added|cultured|centrifuged"
    r"|resuspended|stained|purified|amplified|fixed|grown|lysed|transfected|diluted|extracted|maintained|processed)\b"
    r"|\baccording to the manufacturer|\bas (?:previously )?described\b|\bcat(?:alog)?\.? ?(?:no\b|#)"
    r"|\b(?:sigma-aldrich|invitrogen|graphpad|qiagen|millipore|abcam|thermo ?fisher|bio-rad|life technologies|promega)",
    re.IGNORECASE,
)
LISTED = 3  # such signs make a paragraph a list of references or of steps


def without_content(paragraphs: Mapping[str, str]) -> set[str]:
    """Return the ids of paragraphs that cannot decide a claim."""
    idle = idle_places(tuple(paragraphs.values()))
    return {key for place, key in enumerate(paragraphs) if place in idle}


def heading(text: str) -> bool:
    """Return whether a paragraph is a heading: in the official format a short line of its own without a full stop."""
    return bool(HEADING.fullmatch(text.strip()))


@lru_cache(maxsize=PAPERS_KEPT)
def idle_places(texts: tuple[str, ...]) -> frozenset[int]:
    """Return the places of paragraphs without content, of all those of a paper."""
    idle = set()
    in_back_matter = False
    for place, raw in enumerate(texts):
        text = raw.strip()
        if heading(text):
            in_back_matter = bool(END_HEADING.fullmatch(text))
            idle.add(place)
        elif in_back_matter or _is_bare_caption(text) or BACK_MATTER_START.match(text) or _is_list(text):
            idle.add(place)
    return frozenset(idle)


def _is_bare_caption(text: str) -> bool:
    return len(text) <= BARE and ROW not in text and bool(CAPTION.match(text))


def _is_list(text: str) -> bool:
    """Return whether entries or steps take up a paragraph: many, and one at least for every forty words."""
    count = max(len(ENTRY.findall(text)), len(STEP.findall(text)))
    return count >= LISTED and 40 * count >= len(text.split())


def within(claim: str, text: str, most: int) -> str:
    """Return the text as an item (see `flat`) where it has `most` tokens at most. Else return a run of whole sentences,
    or rows of a table, of at most so many tokens, around the one that shares most words with the claim; a sentence that
    is longer by itself is cut between words.

    The run is copied from the text word for word, and nothing marks where it was cut.
    """
    most = max(most, 1)
    whole = flat(text)
    if tokens(whole) <= most:
        return whole
    spans = list(_spans(whole, most))
    wanted, *stems = stemmed([claim, *(whole[begin:end] for begin, end in spans)])
    shared = [len(set(wanted) & set(own)) for own in stems]
    first = last = shared.index(max(shared))
    borders = [0, *chain.from_iterable(spans)]
    up_to = list(accumulate(len(whole[begin:end].encode()) for begin, end in pairwise(borders)))  # bytes, to each

    def fits(one: int, other: int) -> bool:
        return up_to[2 * other + 1] - up_to[2 * one] <= most * BYTES_PER_TOKEN

    while True:
        if last + 1 < len(spans) and fits(first, last + 1):
            last += 1
        elif first > 0 and fits(first - 1, last):
            first -= 1
        else:
            return whole[spans[first][0] : spans[last][1]]


def _spans(text: str, most: int) -> Iterator[tuple[int, int]]:
    """Yield where the sentences or rows of a flat text begin and end, longer ones in pieces of `most` tokens at
    most."""
    begin = 0
    parts = text.split(ROW) if ROW in text else sentences(text)
    for part in filter(None, parts) if any(parts) else parts:  # nothing stands before a table without a caption
        begin = text.index(part, begin)
        end = begin + len(part)
        while end - begin > most:  # a character is a token at most
            blank = text.rfind(" ", begin + 1, begin + most)
            cut = blank if blank > 0 else begin + most
            yield begin, cut
            begin = cut + (blank > 0)
        yield begin, end
        begin = end


CUT = "…"


def excerpt(claim: str, text: str, most: int) -> str:
    """Return what of a text matches a claim best, at most some `most` characters, with `CUT` where something was left
    out."""
    whole, kept = flat(text), within(claim, text, most // BYTES_PER_TOKEN)
    return f"{'' if whole.startswith(kept) else CUT}{kept}{'' if whole.endswith(kept) else CUT}"


USUAL_TOKENS = 2600  # tokens of a paper in a prompt by default
# Tokens of a paragraph, where not all of a paper is shown: of 218 real claims 90.4 % so see gold evidence in 2,600
# tokens, as they do in 3,000 without this bound (89.4 %).
PARAGRAPH_TOKENS = 300


class Passages(NamedTuple):
    """What a model reads of a paper.

    text: the selected paragraphs in document order, each as `[P12] text`, rows of tables on lines behind it; keys:
    their ids, in document order."""

    text: str
    keys: list[str]


def fit_passages(claim: str, paragraphs: Mapping[str, str], best_first: Sequence[str], budget: int) -> Passages:
    """Return the first of ranked paragraphs that fit into a budget of tokens, each with the heading that it stands
    under where that fits too; none that cannot decide a claim, unless all are such. Where a paper does not fit, its
    longer paragraphs are cut to `PARAGRAPH_TOKENS`, around what matches the claim. The best one is always shown."""
    under = _headings(paragraphs)
    idle = without_content(paragraphs)
    costs = {key: _cost(key, text) for key, text in paragraphs.items()}
    longest = PARAGRAPH_TOKENS if sum(costs.values()) > budget else budget
    shown: dict[str, str] = {}
    left = budget

    def fits(keys: Iterable[str]) -> bool:
        return sum(min(costs[key], longest) for key in keys) <= left

    for key in [key for key in best_first if key not in idle] or best_first:
        new = {key, under[key]}.difference(shown)
        if not fits(new):
            new = {key}.difference(shown)
        if shown and not fits(new):
            continue
        for each in new:
            shown[each] = f"[{each}] {_item(claim, each, paragraphs[each], longest)}"
            left -= tokens(f"{shown[each]}\n")
    keys = [key for key in paragraphs if key in shown]
    return Passages("\n".join(shown[key] for key in keys), keys)


def rank(claim: str, paragraphs: Mapping[str, str], matcher: Matcher = bm25) -> list[str]:
    """Return all paragraph ids, best first; ties in document order."""
    keys = list(paragraphs)
    return [keys[place] for place in order(matcher(claim, list(paragraphs.values())))]


def paper_tokens(paragraphs: Mapping[str, str]) -> int:
    """Estimate how many tokens all of a paper takes."""
    return sum(_cost(key, text) for key, text in paragraphs.items())


def _cost(key: str, text: str) -> int:
    return tokens(f"[{key}] {text}\n")


def _item(claim: str, key: str, text: str, most: int) -> str:
    return flat(text) if _cost(key, text) <= most else within(claim, text, most - _cost(key, ""))


def _headings(paragraphs: Mapping[str, str]) -> dict[str, str]:
    """Return the heading that each paragraph stands under, itself where there is none."""
    under = {}
    last = ""
    for key, text in paragraphs.items():
        if heading(text):
            last = key
        under[key] = last or key
    return under


# --- Pages of the web, in passages

PASSAGE_WORDS = 80  # of a passage, at most: about as long as a good answer that quotes it


def _joined(text: object) -> object:
    """Return the text of a page, which the organisers have as a list of lines."""
    return " ".join(text) if isinstance(text, list) and all(isinstance(line, str) for line in text) else text


class Document(BaseModel):
    """A page that a claim is checked against, or an excerpt of one; `url2text` is what the organisers call its text."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    url: str
    text: Annotated[str, BeforeValidator(_joined)] = Field(validation_alias=AliasChoices("text", "url2text"))


class Passage(NamedTuple):
    """A piece of a page."""

    url: str
    text: str


PassagesById = Mapping[str, Passage]


def passages_of(documents: Iterable[Document]) -> dict[str, Passage]:
    """Return the passages of documents, in their order: `D3.2` is the second of the third document. A passage that is
    there already, word for word, is left out."""
    passages: dict[str, Passage] = {}
    seen: set[str] = set()
    for number, document in enumerate(documents, start=1):
        for part, text in enumerate(pieces(document.text, PASSAGE_WORDS), start=1):
            if text not in seen:
                seen.add(text)
                passages[f"D{number}.{part}"] = Passage(document.url, text)
    return passages


def best_passages(passages: PassagesById, queries: Sequence[str], count: int, match: Matcher) -> dict[str, Passage]:
    """Return up to `count` passages, best first: rankings by each of the queries, fused."""
    if not passages:
        return {}
    keys = list(passages)
    texts = [passage.text for passage in passages.values()]
    total = fuse(match(query, texts) for query in queries)
    return {keys[place]: passages[keys[place]] for place in order(total)[:count]}
