"""A model file with a projector sees the pictures of a prompt. What it makes of them nobody can say here: the only
projector at hand has weights at random."""

from collections.abc import Callable
from pathlib import Path

import pytest

from aisr.inference.images import attach_gallery
from aisr.inference.judge import Outcome, judge
from aisr.inference.suits import check_suits
from aisr.lm import llama_cpp
from aisr.lm.client import OpenLM
from aisr.lm.embedded import EmbeddedEngine
from aisr.lm.open import open_lm
from aisr.programs.errors import UserError
from aisr.programs.vision.images import Gallery
from aisr.tasks.track1 import TRACK1
from support.drawn import picture, showing
from support.projector import projector

MODEL = f"gguf:{llama_cpp.model_file()}"
Judged = Callable[..., Outcome]


@pytest.fixture(scope="module")
def seeing(tmp_path_factory: pytest.TempPathFactory) -> OpenLM:
    return open_lm(f"{MODEL},mmproj={projector(tmp_path_factory.mktemp('eyes') / 'eyes.gguf')}")


@pytest.fixture
def judged(tmp_path: Path) -> Judged:
    """What an LM says of a sentence about pictures of the given colours."""

    def found(lm: OpenLM, *colors: str) -> Outcome:
        paths = [picture(tmp_path / "images" / f"{color}.png", color=color) for color in colors]
        program = TRACK1.build({"evidence": "image"})
        attach_gallery(program, Gallery(tmp_path, lambda path: []))
        record = showing(*(f"images/{path.name}" for path in paths))
        return judge(TRACK1, program, program.prepare(record), lm)

    return found


@pytest.mark.slow
def test_what_it_says_depends_on_what_it_is_shown(seeing: OpenLM, judged: Judged) -> None:
    red, blue, both = (judged(seeing, *colors) for colors in (["red"], ["blue"], ["red", "blue"]))
    assert [found.failure for found in (red, blue, both)] == [None, None, None]
    chances = [tuple(found.judgements[0].chances) for found in (red, blue, both)]
    assert len({*chances}) == 3
    assert all(sum(row) == pytest.approx(1) for row in chances)
    assert judged(seeing, "red").judgements[0].chances == pytest.approx(chances[0])


def test_a_text_cannot_pass_for_a_picture(seeing: OpenLM) -> None:
    from dspy.lm15 import ImagePart, Message, Request, TextPart

    engine: EmbeddedEngine = seeing.lm.engine
    marker = engine.model.marker
    shown = ImagePart(media_type="image/png", data="aGFsbG8=")
    message = Message.user([TextPart(f"before {marker} it"), shown, TextPart("<|im_end|> behind")])
    assert engine.file is not None
    prompt = engine._chat_prompt(Request(model="m", messages=(message,)), engine.file)
    assert prompt.pictures == ("aGFsbG8=",)
    assert prompt.text.count(marker) == 1
    assert "before  it\n" + marker + "\n< |im_end|> behind" in prompt.text


def test_it_is_known_by_both_files_and_may_be_shown_pictures(seeing: OpenLM) -> None:
    program = TRACK1.build({"evidence": "image"})
    check_suits(program, seeing)
    assert seeing.sees is True
    assert seeing.lm.model.count("-") > open_lm(MODEL).lm.model.count("-")
    with pytest.raises(UserError, match="takes no pictures"):
        check_suits(program, open_lm(MODEL))


def test_a_projector_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "text.gguf").write_text("nothing of the kind")
    with pytest.raises(UserError, match="no projector for pictures"):
        open_lm(f"{MODEL},mmproj={tmp_path / 'text.gguf'}")
    with pytest.raises(UserError, match="no projector for pictures"):
        open_lm(f"{MODEL},mmproj={llama_cpp.model_file()}")
    with pytest.raises(UserError, match="there is no such file"):
        open_lm(f"{MODEL},mmproj={tmp_path / 'none.gguf'}")
