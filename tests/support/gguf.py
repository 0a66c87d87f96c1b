"""GGUF files written by hand: the pieces of one, and a whole language model of 100 kB that knows nothing."""

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

ALIGNMENT = 32
WIDTH, DEEP = 32, 64
WORDS = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
KINDS = [2, 3, 3, *[6] * 256]  # unknown, control, control, bytes
TEMPLATE = "{% for m in messages %}<s>{{ m.role }}\n{{ m.content }}</s>\n{% endfor %}<s>assistant\n"


def string(said: str) -> bytes:
    return struct.pack("<Q", len(said)) + said.encode()


def named(name: str, kind: int, value: bytes) -> bytes:
    return string(name) + struct.pack("<I", kind) + value


def text(name: str, said: str) -> bytes:
    return named(name, 8, string(said))


def number(name: str, value: float) -> bytes:
    """An unsigned whole number, a truth value, or a float of 4 bytes."""
    if isinstance(value, bool):
        return named(name, 7, struct.pack("<?", value))
    return named(name, 6, struct.pack("<f", value)) if isinstance(value, float) else named(name, 4, _whole(value))


def write(path: Path, values: list[bytes], tensors: Mapping[str, "np.ndarray[Any, Any]"]) -> Path:
    """A file of these keys with their values, and these tensors."""
    infos, data = b"", b""
    for name, tensor in tensors.items():
        sides = struct.pack(f"<{tensor.ndim}Q", *reversed(tensor.shape))
        infos += string(name) + _whole(tensor.ndim) + sides + struct.pack("<IQ", 0, len(data))
        data += _padded(tensor.astype("<f4").tobytes())
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(values)) + b"".join(values) + infos
    path.write_bytes(_padded(header) + data)
    return path


def model(
    path: Path,
    template: str | None = TEMPLATE,
    context: int = 512,
    blocks: int = 1,
    words: int = len(WORDS),
    weight: float | None = None,
) -> Path:
    """A Llama of one block with weights at random, whose words are the 256 bytes. blocks, words: how many the header
    says that there are; weight: of every weight."""
    numbers: dict[str, float] = {
        "llama.context_length": context, "llama.embedding_length": WIDTH, "llama.block_count": blocks,
        "llama.feed_forward_length": DEEP, "llama.attention.head_count": 2, "llama.rope.dimension_count": 16,
        "llama.attention.layer_norm_rms_epsilon": 1e-5, "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2, "tokenizer.ggml.add_space_prefix": False,
        "tokenizer.ggml.add_bos_token": False,
    }  # fmt: skip
    values = [text("general.architecture", "llama"), text("tokenizer.ggml.model", "llama")]
    values += [number(name, value) for name, value in numbers.items()]
    values.append(_list("tokenizer.ggml.tokens", 8, words, b"".join(map(string, WORDS[:words]))))
    values.append(_list("tokenizer.ggml.scores", 6, words, bytes(4 * words)))
    values.append(_list("tokenizer.ggml.token_type", 5, words, np.array(KINDS[:words], "<i4").tobytes()))
    if template is not None:
        values.append(text("tokenizer.chat_template", template))
    draw = np.random.default_rng(0)
    tensors = {
        name: draw.standard_normal(shape) * 0.1 if weight is None else np.full(shape, weight)
        for name, shape in _shapes().items()
    }
    return write(path, values, tensors)


def _shapes() -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (len(WORDS), WIDTH),
        "output_norm.weight": (WIDTH,),
        "output.weight": (len(WORDS), WIDTH),
        "blk.0.ffn_gate.weight": (DEEP, WIDTH),
        "blk.0.ffn_up.weight": (DEEP, WIDTH),
        "blk.0.ffn_down.weight": (WIDTH, DEEP),
    }
    shapes |= {f"blk.0.{name}_norm.weight": (WIDTH,) for name in ("attn", "ffn")}
    return shapes | {f"blk.0.attn_{name}.weight": (WIDTH, WIDTH) for name in ("q", "k", "v", "output")}


def _list(name: str, kind: int, count: int, values: bytes) -> bytes:
    return named(name, 9, struct.pack("<IQ", kind, count) + values)


def _whole(value: float) -> bytes:
    return struct.pack("<I", int(value))


def _padded(content: bytes) -> bytes:
    return content + b"\0" * (-len(content) % ALIGNMENT)
