"""A folder of cited papers, found by key, DOI or title."""

import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from aisr.paper.cited_files import SUFFIXES, Source, source
from aisr.paper.draft import Place, Unread, Work
from aisr.paper.pdf_process import LIMITS, Limits
from aisr.programs.errors import UserError

MOST_FILES = 2_000
SIGN = re.compile(r"[^\W_]+")
LEAST_TITLE = 20  # letters; two titles where one goes on behind the other's end are the same from this length
KINDS = tuple(dict.fromkeys(SUFFIXES.values()))  # of two files of one work, the first kind is the better to read


class Cited(NamedTuple):
    """papers: key of a work -> paragraph id (P1, P2, …) -> text, headings among them; files: key -> the file that it
    was read from; unread: files that could not be read or told apart, and what of the others was not read."""

    papers: Mapping[str, Mapping[str, str]]
    files: Mapping[str, Path]
    unread: tuple[Unread, ...]


class _Match(NamedTuple):
    """How a file was found: 0 by its name, 1 by what it says of itself; lower is surer."""

    way: int
    kind: int
    file: Path
    source: Source


def read(folder: Path, works: Mapping[str, Work], limits: Limits = LIMITS) -> Cited:
    """The papers in a folder that are works of a bibliography. Raises UserError where there is no such folder."""
    matches: dict[str, list[_Match]] = {}
    unread: list[Unread] = []
    for file in _files(folder):
        place = Place(file.name)
        if why := _refused(file, folder):
            unread.append(Unread(place, why))
            continue
        try:
            found = source(file, limits)
        except (UserError, OSError) as error:
            unread.append(Unread(place, str(error).removeprefix(f"{file}: ")))
            continue
        way, keys = _found_by(file, found, works)
        if len(keys) != 1:
            unread.append(Unread(place, _not_one(keys, found)))
            continue
        kind = KINDS.index(SUFFIXES[file.suffix.lower()])
        matches.setdefault(keys[0], []).append(_Match(way, kind, file, found))
    papers: dict[str, Mapping[str, str]] = {}
    files: dict[str, Path] = {}
    for key, found_for in sorted(matches.items()):
        best = min(match[:2] for match in found_for)
        chosen = [match for match in found_for if match[:2] == best]
        for match in found_for:
            if len(chosen) > 1 and match in chosen:
                others = ", ".join(other.file.name for other in chosen if other is not match)
                unread.append(Unread(Place(match.file.name), f"ambiguous: {others} is a file for {key} as well"))
            elif match not in chosen:
                unread.append(Unread(Place(match.file.name), f"left aside: {key} is read from {chosen[0].file.name}"))
        if len(chosen) == 1:
            (one,) = chosen
            papers[key] = {f"P{number}": text for number, text in enumerate(one.source.paragraphs, start=1)}
            files[key] = one.file
            unread += [Unread(note.place._replace(file=one.file.name), note.why) for note in one.source.notes]
    return Cited(papers, files, tuple(unread))


def _files(folder: Path) -> list[Path]:
    try:
        found = sorted(file for file in folder.iterdir() if not file.name.startswith("."))
    except OSError as error:
        raise UserError(
            f"{folder}: no folder of cited papers ({error.strerror}); expected one of PDFs, JATS or text"
        ) from error
    if len(found) > MOST_FILES:
        raise UserError(f"{folder}: {len(found):,} files; expected the cited papers alone, {MOST_FILES:,} at most")
    return found


def _refused(file: Path, folder: Path) -> str | None:
    """Why a file is not looked into: what is read is sent to an LM and shown, and a pipe or device never ends."""
    try:
        found = file.resolve(strict=True)
        if not found.is_relative_to(folder.resolve()):
            return "a link that leads out of the folder; put the file itself there"
        if found.is_dir():
            return f"a folder; only what lies in {folder.name or folder}/ itself is read: put its papers there"
        return None if found.is_file() else "no file but a pipe, a device or the like"
    except (OSError, RuntimeError) as error:  # a link to nothing, a circle of links
        return f"cannot be opened ({getattr(error, 'strerror', None) or 'a circle of links'})"


def _found_by(file: Path, found: Source, works: Mapping[str, Work]) -> tuple[int, list[str]]:
    """How a file is found, and the keys of the works that it may be."""
    name = _plain(file.stem)
    for way, keys in enumerate((_named(file.stem, name, works), _said(found, works))):
        if keys:
            return way, keys
    return 1, []


def _named(stem: str, name: str, works: Mapping[str, Work]) -> list[str]:
    exact = [key for key in works if key.casefold() == stem.casefold()]
    if exact or not name:
        return exact
    close = [key for key, work in works.items() if name in (_plain(key), _plain(work.doi))]
    return close or [key for key, work in works.items() if _same_title(name, _plain(work.title))]


def _said(found: Source, works: Mapping[str, Work]) -> list[str]:
    by_doi = [key for key, work in works.items() if found.doi and work.doi.lower() == found.doi]
    titles = [_plain(title) for title in found.titles]
    return by_doi or [key for key, work in works.items() if any(_same_title(t, _plain(work.title)) for t in titles)]


def _plain(text: str) -> str:
    """Letters and digits alone, small, without accents."""
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", text[:1_000]) if not unicodedata.combining(sign))
    return "".join(SIGN.findall(bare.casefold()))


def _same_title(one: str, other: str) -> bool:
    if not one or not other:
        return False
    short, long = sorted((one, other), key=len)
    return one == other or (len(short) >= LEAST_TITLE and long.startswith(short))


def _not_one(keys: list[str], found: Source) -> str:
    if keys:
        return f"ambiguous: it may be {', '.join(keys)}; name it by its key"
    titles = next((title for title in found.titles if title), "no title was found in it")
    return f"no work of the bibliography by name, DOI or title ({titles[:80]}); name it by its key"
