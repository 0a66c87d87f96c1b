"""Files of other tasks' organisers as records: `aisr convert TASK CLAIMS … --out OUT`.

CLAIMS is the organisers' JSON list. What its claims are judged by is in files of its own, and is put beside each:

* `averitec --documents FOLDER`: the pages of each claim by its number, of which a record gets the best excerpts;
* `context24-text --papers FILE`: a JSON object with the full text of each paper under its `citekey`, as one string or
  as a list of paragraphs; a text that is one long line is cut into paragraphs of whole sentences;
* `context24-figures --papers FILE`: besides `--captions`, a folder with a JSON object a paper, text by the name of the
  caption's picture; and `--figures`, a folder of pictures whose names are the candidates (2024); else they are the
  claim's `figures_tables` (2025). These files were made by people and programs: labels hold stray quotes and line ends,
  claims occur twice, captions are quoted Python strings. What is changed is printed.

A claim whose paper or pages are not there is left out.
"""

import ast
import json
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import jsonlines
from pydantic import BaseModel, Field, ValidationError

from aisr.base.errors import UserError, merge_repeats
from aisr.base.files import replacing
from aisr.base.jsonl import explain, read_as, read_list, valid_texts
from aisr.metrics.context24_figures import Place, name_of, place_of
from aisr.programs.context24_figures import LONGEST_LABEL, UNFIT
from aisr.programs.context24_text import Context24TextRecord
from aisr.programs.records import Text
from aisr.programs.retrieval import Document, Passage, bm25, order, passages_of
from aisr.programs.text import pieces, sentences, words
from aisr.programs.text_index import TextIndex

Entries = Iterator[tuple[str, dict[str, Any] | str]]  # the id of a claim; its record, or why it has none


def write_records(
    task: str,
    claims: Path,
    out: Path,
    documents: Path | None,
    papers: Path | None,
    captions: Path | None,
    figures: Path | None,
) -> int:
    """Write the records of the organisers' files of a task, and return their number. Raises UserError where `out`
    exists, where a file is missing that the task needs, and for files of another form; nothing is written then."""
    if out.exists():  # what it holds took long
        raise UserError(f"{out} exists; choose another --out or remove it")
    option, needed = ("--documents", documents) if task == "averitec" else ("--papers", papers)
    if needed is None:
        raise UserError(f"{option} is missing; {task} needs it")
    if task == "averitec":
        entries = averitec_records(claims, needed)
        expected = f"{documents}: no file of pages; expected that of each claim by its number: 0.json, 1.json, …"
    elif task == "context24-text":
        entries = text_records(claims, needed)
        expected = f"{papers}: no text of any claim's paper; expected a JSON object with texts by `citekey`"
    else:
        entries = figure_records(claims, needed, captions, figures)
        expected = f"{claims}: no claim of a paper with figures; expected --figures, or figures_tables of claims"
    count = 0
    left_out: list[tuple[str, str]] = []  # a claim and the reason
    with replacing(out) as new:
        lines = jsonlines.Writer(new)
        for claim, entry in entries:
            if isinstance(entry, str):
                left_out.append((claim, entry))
                continue
            lines.write(entry)
            count += 1
        if not count:
            raise UserError(expected)
    for complaint in merge_repeats(left_out):
        print(f"  {complaint}")
    if left_out:
        print(f"{len(left_out)} claims are left out: {', '.join(claim for claim, _ in left_out)}")
    return count


# --- AVeriTeC

PASSAGES = 200  # of a claim's pages; questions are answered from these alone


class AveritecClaim(BaseModel, extra="allow"):
    """An entry of AVeriTeC's list, whose other fields go into the record as they are."""

    claim: Text
    claim_id: int | None = None


def averitec_records(claims: Path, documents: Path) -> Entries:
    """Yield each claim with its place in the list as `claim_id`, and excerpts of its pages."""
    for place, claim in enumerate(read_list(claims, AveritecClaim)):
        number = place if claim.claim_id is None else claim.claim_id
        file = documents / f"{number}.json"
        if not file.is_file():
            yield str(number), f"no {file.name!r} in {documents}, which should hold the pages of the claim"
            continue
        best = [page.model_dump() for page in excerpts(claim.claim, pages(file))]
        yield str(number), {**claim.model_dump(), "claim_id": number, "documents": best}


def pages(file: Path) -> Iterator[Document]:
    """Yield the pages of a claim's file, a JSON object a line; its `type`, which marks gold pages, is not read. Raises
    UserError, naming the line, for anything else."""
    with open(file, "rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.isspace():
                continue
            try:
                yield Document.model_validate(valid_texts(json.loads(line)))
            except (ValueError, RecursionError) as error:
                reason = explain(error) if isinstance(error, ValidationError) else error
                raise UserError(f"{file}:{number}: {reason}; expected a page with url and url2text") from error


def excerpts(claim: str, documents: Iterable[Document]) -> list[Document]:
    """Return excerpts of pages, in their order: the `PASSAGES` that match a claim best by BM25, each with the one
    before it and the one after it on its page. Those that touch are one excerpt."""
    passages = list(passages_of(documents).values())
    # Not kept: of the next claim there are as many pages again.
    match = bm25(claim, TextIndex([passage.text for passage in passages]))
    kept: set[int] = set()
    for place in map(int, order(match)[:PASSAGES]):
        around = range(max(place - 1, 0), min(place + 2, len(passages)))
        kept.update(near for near in around if passages[near].url == passages[place].url)
    runs: list[list[Passage]] = []  # that touch
    for place in sorted(kept):
        passage = passages[place]
        if place - 1 in kept and runs[-1][-1].url == passage.url:
            runs[-1].append(passage)
        else:
            runs.append([passage])
    return [Document(url=run[0].url, text=" ".join(passage.text for passage in run)) for run in runs]


# --- Context24: papers, and claims that sentences ground

BLANK = re.compile(r"\n[^\S\n]*+\n")
WORDS_OF_A_LINE = 250  # words of a line; a longer one is no paragraph, but a paper that lost its line ends
WORDS = 120  # of the paragraphs that such a line is cut into, at most


def full_texts(file: Path) -> dict[str, list[str]]:
    """Return the paragraphs of each paper of a JSON object, by its key. Raises UserError for anything else."""
    return {key: paragraphs(text) for key, text in read_as(dict[str, str | list[str]], file).items()}


def paragraphs(text: str | list[str]) -> list[str]:
    """Return the paragraphs of a paper: those of a list, or what blank lines part; each line is one where none are
    blank, and a line of more than `WORDS_OF_A_LINE` words is cut between sentences."""
    if isinstance(text, str):
        parts = BLANK.split(text.strip())
        text = parts if len(parts) > 1 else text.splitlines()
    result: list[str] = []
    for line in text:
        if len(line.split()) > WORDS_OF_A_LINE:
            result += pieces(line, WORDS)
        elif line.strip():
            result.append(" ".join(words(line)))
    return result


class TextClaim(Context24TextRecord):
    """A claim of the organisers' file, whose paper is in another."""

    citekey: Text
    paragraphs: list[str] = Field(default_factory=list)


def text_records(claims: Path, papers: Path) -> Entries:
    """Yield each claim with the paragraphs of its paper."""
    texts = full_texts(papers)
    for claim in read_list(claims, TextClaim):
        known = texts.get(claim.citekey)
        if known:
            yield claim.id, {**claim.model_dump(), "paragraphs": known}
        else:
            yield claim.id, f"no text of {claim.citekey!r} in {papers}"


# --- Context24: labels of figures and tables

STRAY = re.compile(r"[\"“”'‘’`´\[\]]+")
LABEL_BREAK = re.compile(r"[,;&]|\sand\s", re.IGNORECASE)


def labels_of(typed: str, where: str) -> list[str]:
    """Return the labels in what somebody typed where one belongs: none, one, or the several of `FIG 2A, TAB 1`. Quotes,
    line ends, doubled blanks and a dot at the end are left out. What is changed is printed, with where it stands."""
    labels: list[str] = []
    for part in LABEL_BREAK.split(STRAY.sub("", typed)):
        label = " ".join(part.split()).rstrip(".")
        if 0 < len(label) <= LONGEST_LABEL and label not in labels and not UNFIT.search(label):
            labels.append(label)
    if labels != [typed]:
        print(f"  {where} {typed!r}: now {', '.join(labels) or 'left out'}")
    return labels


# --- Context24: figures, tables and their captions

PICTURES = (".png", ".jpg", ".jpeg")
CAPTION_FILE = "CAPTION"  # in the name of a picture of a caption, and not of a figure
PYTHON_TEXT = re.compile(r"""'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*\"""")  # a text as Python prints it
MISSING = re.compile(r"\[MISSING_PAGE_\w+(?::\d+)?\]")  # what the reader of captions writes where it saw nothing
INVENTED = re.compile(r"\s*(?:#|\*\s|\*\*(?!\(|fig|tab|supp)|\\begin)", re.IGNORECASE)  # a list, a heading: no caption
FIGURE_WORD = re.compile(r"\b(?:fig(?:ure)?s?|tab(?:le)?s?|scheme|box|panel)\b", re.IGNORECASE)
CONTINUATION = re.compile(r"-\d+$")  # of a caption that goes on over pages
WHOLE_NUMBER = re.compile(r"\d+")

ElementFields = dict[str, str]  # of a record: label, and where there is one caption and img_path


def elements_of(
    citekey: str, listed: Sequence[str], captions: Path | None, figures: Path | None
) -> list[ElementFields]:
    """Return the elements of a paper: those with a picture, or else `listed`. Print captions that belong to no element,
    and elements that have no caption."""
    texts = captions_of(captions / f"{citekey}.json") if captions else {}
    elements: dict[Place | str, ElementFields] = {}
    pictures = _pictures(citekey, figures) or dict.fromkeys(listed, "")
    for typed, picture in pictures.items():
        for label in labels_of(typed, f"{citekey}: element"):
            fields = {"label": label, "caption": _caption_of(label, texts), "img_path": picture}
            element = {name: text for name, text in fields.items() if text}
            elements.setdefault(name_of(label), element)
    if captions:
        known: set[Place | str] = set()
        for element in elements.values():
            known.update(_names(element["label"]))
        alone = [key for key in texts if known.isdisjoint(_caption_names(key))]
        bare = [element["label"] for element in elements.values() if "caption" not in element]
        _print_labels(f"{citekey}: {len(alone)} captions of no element, left out", alone)
        _print_labels(f"{citekey}: {len(bare)} elements without a caption", bare)
    return sorted(elements.values(), key=lambda element: _by_number(element["label"]))


def _pictures(citekey: str, figures: Path | None) -> dict[str, str]:
    """Return the pictures of a paper's elements, as paths below the folder of figures, by what their names say."""
    pictures: dict[str, str] = {}
    if figures is None:
        return pictures
    for file in sorted((figures / citekey).glob("*")):
        if file.suffix.lower() in PICTURES and CAPTION_FILE not in file.name:
            pictures[file.stem] = f"{citekey}/{file.name}"
    return pictures


def _print_labels(what: str, labels: Sequence[str]) -> None:
    if labels:
        print(f"  {what}: {', '.join(labels)}")


def captions_of(file: Path) -> dict[str, str]:
    """Return the captions of a paper by the labels in the names of their pictures; none where there is no file."""
    raw = read_as(dict[str, str], file) if file.is_file() else {}
    captions = {}
    for name in sorted(raw, key=lambda name: _by_number(Path(name).stem)):
        text = readable(raw[name])
        if text:
            label = Path(name).stem.replace(CAPTION_FILE, "")
            captions[" ".join(label.split())] = text
        elif raw[name].strip("'\" \n"):
            print(f"  {file.stem}: {name}: what was read is no caption; left out")
    return captions


def readable(read: str) -> str:
    """Return a caption as it was read, in one line, without Python's quotes, marks of what was missed and sentences
    that the reader wrote again and again; "" for what is no caption."""
    text = read.strip()
    if PYTHON_TEXT.fullmatch(text):
        with suppress(SyntaxError, ValueError), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that mean nothing
            text = str(ast.literal_eval(text))
    text = MISSING.sub(" ", text)
    if INVENTED.match(text) and not FIGURE_WORD.search(text):
        return ""
    each: list[str] = []
    for part in text.split("\n\n"):
        each += sentences(part)
    return " ".join(dict.fromkeys(each))


def _caption_of(label: str, captions: dict[str, str]) -> str:
    """Return the caption of an element with its continuations; a panel without a caption has that of its figure."""
    for name in _names(label):
        pieces = [text for key, text in captions.items() if name in _caption_names(key)]
        if pieces:
            return " ".join(dict.fromkeys(pieces))
    return ""


def _names(label: str) -> list[Place | str]:
    """Return what captions of an element go by: its own name, and that of the figure that it is a panel of."""
    name = _name(label)
    if isinstance(name, Place) and name.panel:
        return [name, name._replace(panel="")]
    return [name]


def _caption_names(label: str) -> tuple[Place | str, Place | str]:
    """Return what the label of a caption's picture names: as it stands, and as the continuation of another."""
    return _name(label), _name(CONTINUATION.sub("", label))


def _name(label: str) -> Place | str:
    """Return what `Figure 1` and `FIG1` have in common; of labels of another form letters, digits and dashes."""
    return place_of(label) or re.sub(r"[^A-Z0-9-]", "", label.upper())


def _by_number(label: str) -> str:
    """Return what sorts FIG 10 behind FIG 2, and panels behind their figure."""
    return WHOLE_NUMBER.sub(lambda digits: digits[0].zfill(6), label)


# --- Context24: claims that figures evidence


class FigureClaim(BaseModel):
    """An entry of the organisers' list. findings: the gold labels; None where they are withheld."""

    id: Text
    claim: Text
    citekey: Annotated[str, Field(pattern=r"^[^./\\][^/\\]*$")]  # a file and a folder have its name
    dataset: str | None = None
    findings: list[str] | None = None
    figures_tables: list[str] | None = None


def figure_records(claims: Path, papers: Path, captions: Path | None, figures: Path | None) -> Entries:
    """Yield the claims of papers with figures or tables, and print what was changed."""
    texts = full_texts(papers)
    known: dict[tuple[str, ...], list[ElementFields]] = {}  # by paper and the labels that its claims list
    for claim in _merged(read_list(claims, FigureClaim)):
        listed = claim.figures_tables or []
        place = (claim.citekey, *listed)
        if place not in known:
            known[place] = elements_of(claim.citekey, listed, captions, figures)
        elements = known[place]
        if not elements:
            yield claim.id, f"no figure or table of {claim.citekey!r} is known"
            continue
        if claim.citekey not in texts:
            print(f"  {claim.id}: no full text of {claim.citekey}; its captions are all that is known")
        record = claim.model_dump(include={"id", "claim", "citekey", "dataset"}, exclude_none=True)
        record |= {"paragraphs": texts.get(claim.citekey, []), "elements": elements}
        if claim.findings is not None:
            spelled = {name_of(element["label"]): element["label"] for element in elements}
            record["findings"] = [spelled.get(name_of(label), label) for label in claim.findings]
            apart = [label for label in claim.findings if name_of(label) not in spelled]
            if apart:
                print(f"  {claim.id}: {', '.join(apart)}: gold, and no element of its paper; kept, and not to be found")
        yield claim.id, record


def _merged(claims: Sequence[FigureClaim]) -> list[FigureClaim]:
    """Return claims whose labels are clean, each once: labelled ones of the same words about the same paper are one,
    which has the findings of all; another claim of an id that was given before gets an id of its own."""
    first: dict[tuple[str, str], FigureClaim] = {}
    ids: Counter[str] = Counter()
    kept = []
    for claim in claims:
        if claim.findings is not None:
            labels: list[str] = []
            for typed in claim.findings:
                labels += labels_of(typed, f"{claim.id}: findings:")
            claim.findings = list(dict.fromkeys(labels))
        words_of_claim = " ".join(claim.claim.lower().split())
        before = first.setdefault((words_of_claim, claim.citekey), claim)
        is_same = before.id == claim.id or (before.findings and claim.findings)
        if before is not claim and is_same:
            both = [*(before.findings or ()), *(claim.findings or ())]
            before.findings = list(dict.fromkeys(both)) or None
            print(f"  {claim.id}: the same claim as {before.id}; now one, with the findings of both")
            continue
        ids[claim.id] += 1
        if ids[claim.id] > 1:
            own = f"{claim.id}-{ids[claim.id]}"
            print(f"  {claim.id}: the id of another claim already; now {own}")
            claim.id = own
        kept.append(claim)
    return kept
