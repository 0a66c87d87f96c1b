"""A model file of the user's own, as its header describes it: what can be known before it is loaded."""

import os
import struct
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from aisr.base import digests
from aisr.programs.errors import UserError

MAGIC = b"GGUF"
VERSIONS = (2, 3)
# The kinds of value in a header, as `struct` writes them.
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
MOST_BYTES = 1 << 26  # of one value
MOST_ITEMS = 1 << 23  # of one list; the largest vocabularies have a quarter of a million words and twice as many merges
MOST_CONTEXT = 16_384  # tokens; a longer one takes memory that no prompt here fills
CONTROL = 3  # llama.cpp's number for tokens that steer a model instead of saying something


@dataclass(frozen=True)
class ModelFile:
    """context: tokens that it may read and write together. control: the tokens that would open or end a message if they
    stood in one, long ones first. digest: of the whole file, and of that of its projector. eyes: the projector, which
    makes of pictures what the model reads."""

    path: Path
    context: int
    control: tuple[str, ...]
    digest: str
    eyes: Path | None = None

    def harmless(self, text: str) -> str:
        """A text whose control tokens are broken up."""
        for token in self.control:
            text = text.replace(token, f"{token[0]} {token[1:]}")
        return text


def model_file(path: Path) -> ModelFile:
    """Read a GGUF file's header. Raises UserError for what is no such file, one of another version, one without a chat
    template, and one that does not fit into the memory."""
    path = path.expanduser()
    if not path.is_file():
        raise UserError(f"--lm gguf:{path}: there is no such file")
    with path.open("rb") as opened:
        if opened.read(len(MAGIC)) != MAGIC:
            raise UserError(f"--lm gguf:{path}: this is no GGUF file; expected a model that llama.cpp can load")
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if path.stat().st_size > memory:
        size, room = (f"{count / 1e9:.1f} GB" for count in (path.stat().st_size, memory))
        raise UserError(f"--lm gguf:{path}: {size} do not fit into this machine's {room} of memory")
    fields = _fields(path)
    if not fields.get("tokenizer.chat_template"):
        raise UserError(
            f"--lm gguf:{path}: the file has no chat template; expected an instruction-tuned model, not a base model"
        )
    longest = fields.get(f"{fields.get('general.architecture')}.context_length", MOST_CONTEXT)
    tokens, kinds = (fields.get(f"tokenizer.ggml.{name}", ()) for name in ("tokens", "token_type"))
    if not isinstance(longest, int) or longest < 1 or not isinstance(tokens, list) or not isinstance(kinds, tuple):
        raise UserError(
            f"--lm gguf:{path}: its header does not hold a context length and a vocabulary as llama.cpp's do"
        )
    control = [token for token, kind in zip(tokens, kinds, strict=False) if kind == CONTROL and len(token) > 1]
    return ModelFile(
        path, min(longest, MOST_CONTEXT), tuple(sorted(control, key=len, reverse=True)), digests.of_file(path)
    )


def with_eyes(file: ModelFile, path: Path) -> ModelFile:
    """A model file with the projector that its makers ship beside it. Raises UserError for what is none."""
    path = path.expanduser()
    if not path.is_file():
        raise UserError(f"--lm gguf:…,mmproj={path}: there is no such file")
    with path.open("rb") as opened:
        known = opened.read(len(MAGIC)) == MAGIC
    fields = _fields(path) if known else {}
    if fields.get("general.architecture") != "clip" or not fields.get("clip.has_vision_encoder"):
        raise UserError(
            f"--lm gguf:…,mmproj={path}: this is no projector for pictures; expected the `mmproj` file of the model"
        )
    return replace(file, digest=f"{file.digest}-{digests.of_file(path)}", eyes=path)


def _fields(path: Path) -> dict[str, Any]:
    """The header's keys and values. The package `gguf` reads the same in 6 s for a vocabulary of 49,000 words, this in
    a tenth of a second."""
    with path.open("rb") as opened:
        try:
            return _Header(opened).fields()
        except (ValueError, OverflowError, struct.error) as error:
            raise UserError(
                f"--lm gguf:{path}: its header cannot be read ({error}); is the file whole, and not too new?"
            ) from error


class _Header:
    """The little-endian header of a GGUF file, as ggml documents it (docs/gguf.md)."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file

    def fields(self) -> dict[str, Any]:
        self.file.seek(len(MAGIC))
        version = self._number("I")
        if version not in VERSIONS:
            raise ValueError(f"version {version}; versions {VERSIONS[0]} to {VERSIONS[-1]} are known")
        self._number("Q")  # how many tensors there are
        return {self._string(): self._value(self._number("I")) for _ in range(self._number("Q"))}

    def _value(self, kind: int) -> Any:
        if kind == STRING:
            return self._string()
        if kind == ARRAY:
            kind, count = self._number("I"), self._number("Q")
            if count > MOST_ITEMS:
                raise ValueError(f"a list of {count} values")
            if kind == STRING:
                return [self._string() for _ in range(count)]
            code = _code(kind)
            return struct.unpack(f"<{count}{code}", self._bytes(count * struct.calcsize(code)))
        return self._number(_code(kind))

    def _number(self, code: str) -> Any:
        return struct.unpack(f"<{code}", self._bytes(struct.calcsize(code)))[0]

    def _string(self) -> str:
        return self._bytes(self._number("Q")).decode(errors="replace")

    def _bytes(self, count: int) -> bytes:
        if count > MOST_BYTES or len(found := self.file.read(count)) < count:
            raise ValueError("it ends in the middle")
        return found


def _code(kind: int) -> str:
    if kind not in NUMBERS:
        raise ValueError(f"it has values of an unknown kind, {kind}")
    return NUMBERS[kind]
