"""Eyes for the built-in model: a projector file with weights at random, by which it sees, and understands nothing."""

import struct
from pathlib import Path

import numpy as np

from support.gguf import named, number, text, write

WIDTH, DEEP, PATCH, SIDE, MODEL = 64, 128, 16, 64, 576  # MODEL: the width of SmolLM2
NUMBERS: dict[str, int | float] = {
    "image_size": SIDE, "patch_size": PATCH, "embedding_length": WIDTH, "feed_forward_length": DEEP,
    "projection_dim": MODEL, "block_count": 1, "attention.head_count": 4, "attention.layer_norm_epsilon": 1e-5,
}  # fmt: skip


def projector(path: Path) -> Path:
    """Write such a file, of the simplest kind that llama.cpp knows (LLaVA's)."""
    values = [text("general.architecture", "clip"), text("clip.projector_type", "mlp")]
    values += [number(f"clip.{name}", True) for name in ("has_vision_encoder", "has_llava_projector", "use_gelu")]
    values += [number(f"clip.vision.{name}", value) for name, value in NUMBERS.items()]
    for name in ("image_mean", "image_std"):
        values.append(named(f"clip.vision.{name}", 9, struct.pack("<IQfff", 6, 3, 0.5, 0.5, 0.5)))
    draw = np.random.default_rng(0)
    return write(path, values, {name: draw.standard_normal(shape) * 0.02 for name, shape in _shapes().items()})


def _shapes() -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {
        "v.class_embd": (WIDTH,),
        "v.patch_embd.weight": (WIDTH, 3, PATCH, PATCH),
        "v.position_embd.weight": ((SIDE // PATCH) ** 2 + 1, WIDTH),
        "v.blk.0.ffn_up.weight": (DEEP, WIDTH),
        "v.blk.0.ffn_up.bias": (DEEP,),
        "v.blk.0.ffn_down.weight": (WIDTH, DEEP),
        "v.blk.0.ffn_down.bias": (WIDTH,),
        "mm.0.weight": (MODEL, WIDTH),
        "mm.0.bias": (MODEL,),
        "mm.2.weight": (MODEL, MODEL),
        "mm.2.bias": (MODEL,),
    }
    for name in ("v.pre_ln", "v.post_ln", "v.blk.0.ln1", "v.blk.0.ln2"):
        shapes |= {f"{name}.weight": (WIDTH,), f"{name}.bias": (WIDTH,)}
    for name in ("attn_q", "attn_k", "attn_v", "attn_out"):
        shapes |= {f"v.blk.0.{name}.weight": (WIDTH, WIDTH), f"v.blk.0.{name}.bias": (WIDTH,)}
    return shapes
