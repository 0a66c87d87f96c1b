"""Where things stand in the repository; no test counts folders upwards from its own file."""

from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
SAMPLE = ROOT / "data" / "sample"
