"""A package of a dependency, of which a program needs only some files.

Generated models have thousands of schemas, and the core compiles all files of a package for each call. A
file with nothing but schemas does nothing by itself, so it is left out unless one of its names occurs in a
file that is needed. Words are compared, not code: to find too much does no harm. Only documentation is passed
over, because that of models names half of all kinds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_WORD = re.compile(r"[A-Za-z_]\w*")
_QUOTES = '"""'
_TOP_LEVEL = re.compile(r"^([^\s#].*)$", re.MULTILINE)
_DEFINITION = re.compile(r"(?:schema|mixin|protocol|rule|type)[ \t]+\"?(\w+)")
_HARMLESS = re.compile(r'(?:schema|mixin|protocol|rule|type|import)\b|[@\])}]|"""|\'\'\'')


def words_of(text: str) -> frozenset[str]:
    """All names that occur in a text, also those in strings that have names in them; not in documentation."""
    return frozenset(_WORD.findall(without_documentation(text)))


def without_documentation(text: str) -> str:
    """The text without long texts in it, but for those that names are put into."""
    parts = text.split(_QUOTES)
    return "".join(part for index, part in enumerate(parts) if index % 2 == 0 or "${" in part)


class SchemaPackage:
    """The files of a package by path, and which of them were taken."""

    def __init__(self, files: dict[str, str], is_whole: bool = False) -> None:
        """`is_whole` is for packages all of whose files are needed."""
        self._files = files
        self._files_of_name: dict[str, list[str]] = {}
        self._untaken = dict.fromkeys(files)
        self._always = list(files) if is_whole else []
        if not is_whole:
            for path, text in files.items():
                self._index(path, text)

    def _index(self, path: str, text: str) -> None:
        """Note the names that a file defines; one that does more than that is always needed."""
        for line in _TOP_LEVEL.findall(without_documentation(text)):
            definition = _DEFINITION.match(line)
            if definition is not None:
                self._files_of_name.setdefault(definition[1], []).append(path)
            elif not _HARMLESS.match(line):
                self._always.append(path)
                return

    def take(self, words: frozenset[str]) -> Iterator[tuple[str, str]]:
        """The files that are needed where these words occur, by path; those taken before are left out."""
        pending, self._always = [*self._always, *self._defining(words)], []
        if not pending and len(self._untaken) == len(self._files):
            # The core does not find a package without files, even where nothing of it is used.
            pending = sorted(self._files, key=lambda path: len(self._files[path]))[:1]
        while pending:
            path = pending.pop()
            if path in self._untaken:
                del self._untaken[path]
                yield path, self._files[path]
                pending += self._defining(words_of(self._files[path]))

    def _defining(self, words: frozenset[str]) -> Iterator[str]:
        known = self._files_of_name
        fewer, others = (known, words) if len(known) < len(words) else (words, known)
        for name in fewer:
            if name in others:
                yield from known[name]
