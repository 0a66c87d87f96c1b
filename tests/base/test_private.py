"""Private names of other packages: each does what is needed of it."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_workers_of_ray_import_nothing_from_the_current_folder(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    code = f"""
import ray
from aisr.predict.ray import join_cluster
join_cluster(ray, 1, None)

@ray.remote
def modules():
    import json, sys
    from importlib.util import find_spec
    return [find_spec("litellm").origin, find_spec("aisr").origin, *sys.path]

print([one for one in ray.get(modules.remote()) if one.startswith({str(tmp_path)!r})])
"""
    (tmp_path / "litellm.py").touch()
    done = subprocess.run([sys.executable, "-P", "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stdout + done.stderr
