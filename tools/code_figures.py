"""Figures about the code: how it is cut into modules, and how many names use words that say nothing.

    code_figures.py [--fragments] [DIRECTORY]

The directory is the root of a checkout, by default the one that this file is in. A name counts once for each
place where it is written, and a word once for each name that it is part of. `--fragments` lists the small
modules with one importer instead, each with its lines, its importer and the importer's lines.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import statistics
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

WORDS = tuple(
    "found each told given made wanted said kept held asked wish shelf ended moment story taken seen again "
    "way follow what who tell wake verdict".split()
)
"""Words that say nothing about what a name stands for, or that the field has another word for."""
STANDARD_PHRASES = re.compile(r"(?i)not_?found|follow_symlinks|connection_made|three_way")
"""Phrases of the field and of libraries that have such a word in them; they do not count."""
SMALL = 60
"""A module with fewer lines and one importer usually belongs into its importer."""


class Figures(NamedTuple):
    """The shape of the product's modules; `proto` is left out, because it is generated."""

    modules: int
    lines: int
    median_lines: float
    single_importer: int
    small_single_importer: int


def product_modules(root: Path) -> dict[str, Path]:
    """Return the modules of the product by their dotted names."""
    source = root / "src"
    files = [file for file in sorted(source.rglob("*.py")) if "proto" not in file.relative_to(source).parts]
    return {".".join(file.relative_to(source).with_suffix("").parts): file for file in files}


def read_figures(root: Path) -> Figures:
    """Return the figures of the product."""
    modules = product_modules(root)
    lines = {name: len(file.read_text().splitlines()) for name, file in modules.items()}
    importers = find_importers(modules)
    single = [name for name in modules if len(importers[name]) == 1 and not name.endswith("__init__")]
    small = [name for name in single if lines[name] < SMALL]
    return Figures(
        len(modules), sum(lines.values()), statistics.median(lines.values()), len(single), len(small)
    )


def find_importers(modules: Mapping[str, Path]) -> defaultdict[str, set[str]]:
    """Return which modules import each module; an import of a name counts for the module that it is in."""
    importers: defaultdict[str, set[str]] = defaultdict(set)
    for importer, file in modules.items():
        for name in imported_names(ast.parse(file.read_text())):
            for module in (name, f"{name}.__init__", name.rpartition(".")[0]):
                if module in modules:
                    importers[module].add(importer)
                    break
    return importers


def imported_names(tree: ast.Module) -> Iterator[str]:
    """Yield what a module imports, wherever it does: `a.b` for `import a.b` and for `from a import b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def count_words(files: list[Path]) -> Counter[str]:
    """Count the names in Python files that have one of the words in them."""
    counts: Counter[str] = Counter()
    for file in files:
        for token in tokenize.generate_tokens(io.StringIO(file.read_text()).readline):
            if token.type == tokenize.NAME:
                counts.update(vague_words_in(token.string))
    return counts


def vague_words_in(name: str) -> set[str]:
    """Return which of the words a name has: `found` of `found_again`, nothing of `not_found`."""
    return set(words_of(STANDARD_PHRASES.sub("", name))).intersection(WORDS)


def words_of(name: str) -> list[str]:
    """Return the words of a name in lower case: `_LookAgain` and `LOOK_AGAIN` have `look` and `again`."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def describe(root: Path) -> Iterator[str]:
    """Yield the lines of the report."""
    figures = read_figures(root)
    share = 100 * figures.single_importer / figures.modules
    yield f"modules                {figures.modules:>8,}"
    yield f"lines                  {figures.lines:>8,}"
    yield f"median lines           {figures.median_lines:>8,.0f}"
    yield f"with one importer      {figures.single_importer:>8,}  ({share:.1f} %)"
    yield f"  under {SMALL} lines       {figures.small_single_importer:>8,}"
    counts = {
        "src": count_words(list(product_modules(root).values())),
        "tests": count_words(sorted((root / "tests").rglob("*.py"))),
    }
    yield ""
    yield f"{'word in names':<14}{'src':>8}{'tests':>8}"
    for word in WORDS:
        yield f"{word:<14}{counts['src'][word]:>8,}{counts['tests'][word]:>8,}"
    yield f"{'all':<14}{counts['src'].total():>8,}{counts['tests'].total():>8,}"


def describe_fragments(root: Path) -> Iterator[str]:
    """Yield a line for each small module with one importer."""
    modules = product_modules(root)
    lines = {name: len(file.read_text().splitlines()) for name, file in modules.items()}
    importers = find_importers(modules)
    for name in modules:
        if lines[name] < SMALL and len(importers[name]) == 1 and not name.endswith("__init__"):
            [importer] = importers[name]
            yield f"{lines[name]:>4} {name} < {importer} ({lines[importer]})"


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description="Print figures about the code.")
    parser.add_argument("--fragments", action="store_true", help="list small modules with one importer")
    parser.add_argument("directory", nargs="?", type=Path, default=Path(__file__).parents[1])
    options = parser.parse_args()
    report = describe_fragments if options.fragments else describe
    print("\n".join(report(options.directory)))


if __name__ == "__main__":
    main()
