"""One word for how thorough a search is."""

import pytest

from aisr.optimize.search import Settings, settings


def test_what_is_said_besides_overrides_the_budget() -> None:
    assert settings("medium", 7) == Settings(seed=7)  # the default
    light = settings("light", 0, demos=0)
    assert (light.candidates, light.demos, light.demo_tokens) == (2, 0, 3000)
    with pytest.raises(ValueError, match="--budget 'huge'; one of: light, medium, heavy"):
        settings("huge", 0)
