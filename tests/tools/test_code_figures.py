"""The figures about the code: modules, importers and words in names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools" / "code_figures.py"


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def figures(root: Path) -> dict[str, list[str]]:
    """The report by the words that its lines begin with."""
    report = subprocess.run([sys.executable, TOOL, root], capture_output=True, text=True, check=True).stdout
    lines = [line.replace("word in names", "word").split("  ") for line in report.splitlines() if line]
    return {cells[0] or cells[1]: [cell for cell in "  ".join(cells[1:]).split() if cell] for cells in lines}


def test_modules_with_one_importer_are_counted(tmp_path: Path) -> None:
    package = "src/example"
    write(
        tmp_path,
        {
            f"{package}/__init__.py": "",
            f"{package}/used_once.py": "A = 1\n",
            f"{package}/used_twice.py": "B = 1\n" * 99,
            f"{package}/first.py": "from example.used_once import A\nfrom example import used_twice\n",
            f"{package}/second.py": "def run():\n    import example.used_twice\n",
            f"{package}/proto/generated.py": "from example.first import A\n",
        },
    )
    report = figures(tmp_path)
    assert report["modules"] == ["5"], "what is generated does not count"
    assert report["lines"] == ["104"]
    assert report["median lines"] == ["2"]
    assert report["with one importer"][0] == "1"
    listing = subprocess.run(
        [sys.executable, TOOL, "--fragments", tmp_path], capture_output=True, text=True, check=True
    )
    assert listing.stdout == "   1 example.used_once < example.first (2)\n"


def test_words_are_counted_in_names_and_not_in_sentences(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "src/example.py": '"""What was found."""\nfound_again = FOUND = "found"  # found\n'
            "not_found = KeyNotFound = follow_symlinks = None\n",
            "tests/test_example.py": "def told(TheWish): return told\n",
        },
    )
    report = figures(tmp_path)
    assert report["found"] == ["2", "0"]
    assert report["again"] == ["1", "0"]
    assert report["what"] == ["0", "0"]
    assert report["told"] == ["0", "2"]
    assert report["wish"] == ["0", "1"]
    assert report["all"] == ["3", "3"]
