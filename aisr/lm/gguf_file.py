"""A model file of the user's own, as its header describes it: what can be known before it is loaded."""

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from aisr.base import digests
from aisr.lm.gguf_header import MAGIC, Header, header
from aisr.lm.llama_cpp import MEMORY
from aisr.programs.errors import UserError

MOST_CONTEXT = 16_384  # tokens; a longer one takes memory that no prompt here fills
LEAST_CONTEXT = 256  # tokens; no prompt here fits into fewer, and llama.cpp does not expect it
WORDS = "token_embd.weight"  # llama.cpp's name for the weights of the vocabulary, a row a word
EYES_MEMORY = 4 * 2**30  # bytes, for the work on a picture
CONTROL = 3  # llama.cpp's number for tokens that steer a model instead of saying something


@dataclass(frozen=True)
class ModelFile:
    """context: tokens that it may read and write together. control: the tokens that would open or end a message if they
    stood in one, long ones first. digest: of the whole file, and of that of its projector. memory: bytes that llama.cpp
    may take for it, beside the mapped file. eyes: the projector, which makes of pictures what the model reads."""

    path: Path
    context: int
    control: tuple[str, ...]
    digest: str
    memory: int
    eyes: Path | None = None

    def harmless(self, text: str) -> str:
        """A text whose control tokens are broken up."""
        for token in self.control:
            text = text.replace(token, f"{token[0]} {token[1:]}")
        return text


def model_file(path: Path) -> ModelFile:
    """Read a GGUF file's header. Raises UserError for what is no such file, one of another version, one without a chat
    template, one whose header contradicts its tensors, and one that does not fit into the memory."""
    path = path.expanduser()
    if not path.is_file():
        raise UserError(f"--lm gguf:{path}: there is no such file")
    with path.open("rb") as opened:
        if opened.read(len(MAGIC)) != MAGIC:
            raise UserError(f"--lm gguf:{path}: this is no GGUF file; expected a model that llama.cpp can load")
    room = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if path.stat().st_size > room:
        size, there = (f"{count / 1e9:.1f} GB" for count in (path.stat().st_size, room))
        raise UserError(f"--lm gguf:{path}: {size} do not fit into this machine's {there} of memory")
    fields, tensors = read = header(path)
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
    if wrong := _contradiction(read, longest, len(tokens)):
        raise UserError(f"--lm gguf:{path}: {wrong}; is the file whole, and from whom you think?")
    control = [token for token, kind in zip(tokens, kinds, strict=False) if kind == CONTROL and len(token) > 1]
    context = min(longest, MOST_CONTEXT)
    width = tensors.get(WORDS, (0,))[0]
    # Keys and values of every token in every block, 2 bytes each, if no heads share them; and once more for good
    # measure. The weights are mapped, but some kinds are laid out anew in memory.
    memory = min(MEMORY + path.stat().st_size + 2 * (4 * context * width * _blocks(tensors)), room)
    return ModelFile(path, context, tuple(sorted(control, key=len, reverse=True)), digests.of_file(path), memory)


def _contradiction(read: Header, context: int, words: int) -> str | None:
    """What the header says that its tensors do not bear out, in words; llama.cpp would end its process over it."""
    fields, tensors = read
    if context < LEAST_CONTEXT:
        return f"it says that it reads {context} tokens at most, and no prompt fits into fewer than {LEAST_CONTEXT}"
    if fields.get("split.count", 1) != 1:
        return None  # the tensors are in other files
    said = fields.get(f"{fields.get('general.architecture')}.block_count")
    if not isinstance(said, int) or said > _blocks(tensors):
        return f"it says that it has {said} blocks, and holds {_blocks(tensors)}"
    rows = tensors.get(WORDS, ())[1:]
    if rows != (words,):
        return f"its vocabulary has {words} words, and its weights have {' x '.join(map(str, rows)) or 'none'}"
    return None


def _blocks(tensors: dict[str, tuple[int, ...]]) -> int:
    return len({found[1] for name in tensors if (found := re.match(r"blk\.([0-9]{1,6})\.", name))})


def with_eyes(file: ModelFile, path: Path) -> ModelFile:
    """A model file with the projector that its makers ship beside it. Raises UserError for what is none."""
    path = path.expanduser()
    if not path.is_file():
        raise UserError(f"--lm gguf:…,mmproj={path}: there is no such file")
    with path.open("rb") as opened:
        known = opened.read(len(MAGIC)) == MAGIC
    fields = header(path).fields if known else {}
    if fields.get("general.architecture") != "clip" or not fields.get("clip.has_vision_encoder"):
        raise UserError(
            f"--lm gguf:…,mmproj={path}: this is no projector for pictures; expected the `mmproj` file of the model"
        )
    memory = file.memory + path.stat().st_size + EYES_MEMORY
    return replace(file, digest=f"{file.digest}-{digests.of_file(path)}", memory=memory, eyes=path)
