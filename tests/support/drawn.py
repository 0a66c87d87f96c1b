"""Pictures made for a test, good and bad, and records that name them."""

import io
from pathlib import Path
from typing import Any

from PIL import Image

from aisr.programs.track1 import Track1Record


def picture(path: Path, size: tuple[int, int] = (60, 40), color: str = "red", **how: Any) -> Path:
    """A plain picture in the format of its suffix."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(how.pop("mode", "RGB"), size, color).save(path, **how)
    return path


def truncated(path: Path) -> Path:
    """A JPEG that ends in the middle."""
    whole = io.BytesIO()
    Image.effect_noise((200, 200), 80).save(whole, "JPEG")
    path.write_bytes(whole.getvalue()[: len(whole.getvalue()) // 2])
    return path


def showing(*paths: str) -> Track1Record:
    """A record with one sentence and a captioned picture for each path."""
    sentence = "Row 1 is Supported."
    bundle = [
        {"type": "image", "image_caption": f"Figure {k}: what is seen.", "img_path": path}
        for k, path in enumerate(paths, start=1)
    ]
    return Track1Record.model_validate(
        {
            "id": "track1-000001",
            "claim_text": sentence,
            "evidence_bundle": bundle,
            "sentence_label": [{"sentence": sentence, "types": ["Supported"]}],
        }
    )
