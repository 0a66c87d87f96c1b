"""A compiled program as a folder of text: saved, checked, loaded; and the index of them all."""

from pathlib import Path

from aisr.artifact.manifest import FILE
from aisr.artifact.manifest import parse as parse_manifest
from aisr.artifact.program_file import MAX_BYTES, Loaded, parse
from aisr.artifact.there import PROGRAM, check_there
from aisr.base.files import BadArtifact, read_json, write_whole


def load(folder: Path) -> Loaded:
    """The program of an artifact folder. Raises `BadArtifact` where it is not there, not ours or was changed since."""
    check_there(folder)
    file = folder / PROGRAM
    if file.stat().st_size > MAX_BYTES:
        raise BadArtifact(f"{file}: larger than {MAX_BYTES >> 20} MiB; not a program that `aisr compile` wrote")
    loaded = parse(file.read_text(encoding="utf-8", errors="replace"), str(file))
    manifest = folder / FILE
    if manifest.is_file():
        recorded = read_json(manifest).get("digest")
        if recorded != loaded.digest:
            raise BadArtifact(
                f"{file}: digest {loaded.digest}, but manifest.json says {str(recorded)[:80]}; the program was changed "
                "after it was compiled. Compile it again, or remove manifest.json to use it as it is"
            )
    return loaded


def save(folder: Path, files: dict[str, str]) -> None:
    """Write the files of an artifact, each whole or not at all, program.json last."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in sorted(files, key=lambda name: name == PROGRAM):
        write_whole(folder / name, files[name])


def write_index(root: Path) -> None:
    """INDEX.md: all artifacts under `root`, a line each."""
    rows = [
        "| task | name | optimizer | LM | dev | test | digest |",
        "|---|---|---|---|---|---|---|",
    ]
    for path in sorted(root.glob(f"*/*/{FILE}")):
        try:
            cells = _index_cells(path)
        except BadArtifact:
            cells = ["?", path.parent.name, "manifest.json is not one of ours", "", "", "", ""]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    write_whole(root / "INDEX.md", "# Compiled programs\n\n" + "\n".join(rows) + "\n")


def _index_cells(path: Path) -> list[str]:
    made = parse_manifest(path)
    dev, test = (str(made.scores.get(split, "–")) for split in ("dev", "test"))
    return [made.task, path.parent.name, made.optimizer, made.lm.spec, dev, test, made.digest]
