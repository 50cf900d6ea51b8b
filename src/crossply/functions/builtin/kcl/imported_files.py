"""Which files a program needs: those of its entries, and those of the packages that they import.

Imports are found in the text, which may find too many: a file that is not needed does no harm. So the worker
gets only a small part of a large module, and need not read files itself.

Of a package of a dependency, a program may need only some files. Generated models have thousands of schemas,
and the core compiles all files of a package for each call. A file with nothing but schemas does nothing by
itself, so it is left out unless one of its names occurs in a file that is needed. Words are compared, not
code: to find too much does no harm. Only documentation is passed over, because that of models names half of
all kinds.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from time import thread_time
from typing import NamedTuple

from crossply.functions.builtin.kcl.module_failures import ModuleError
from crossply.functions.builtin.kcl.module_file_reader import ENDING, ModuleTree
from crossply.functions.builtin.kcl.module_manifest import MANIFEST
from crossply.functions.builtin.sandbox.limit_constants import SECONDS

MAX_FILES = 20_000
MAX_BYTES = 32 << 20
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([\w.\-]+)(?:[ \t]+as[ \t]+(\w+))?", re.MULTILINE)
_FILE_LIBRARY = "file"
"""The library of KCL that reads files: a module that imports it gets all of its own."""
_WORD = re.compile(r"[A-Za-z_]\w*")
_QUOTES = '"""'
_TOP_LEVEL = re.compile(r"^([^\s#].*)$", re.MULTILINE)
_DEFINITION = re.compile(r"(?:schema|mixin|protocol|rule|type)[ \t]+\"?(\w+)")
_HARMLESS = re.compile(r'(?:schema|mixin|protocol|rule|type|import)\b|[@\])}]|"""|\'\'\'')


def imports_of(text: str) -> dict[str, str]:
    """The packages that a text imports, and the names that it has for them."""
    return {package: name or package.rpartition(".")[2] for package, name in _IMPORT.findall(text)}


class Place(NamedTuple):
    """A file or directory of a module."""

    root: str
    """Where the module is among the virtual files."""
    path: str

    @property
    def virtual(self) -> str:
        return posixpath.join(self.root, self.path) if self.path else self.root


class FileCollector:
    """Collects the files of a program; `roots` are its modules by virtual path, `packages` by import name.

    Packages of `packages` are added by the names that are used of them, others as a whole.
    """

    def __init__(self, roots: Mapping[str, ModuleTree], packages: Mapping[str, str]) -> None:
        self._roots = roots
        self._packages = packages
        self._dependencies = frozenset(packages.values())
        self._known: dict[Place, SchemaPackage] = {}
        self._pending: list[tuple[str, Place | None]] = []
        """Texts whose imports have to be added yet."""
        self._size = 0
        self._end = thread_time() + SECONDS
        self.files: dict[str, str] = {}
        for root in roots:
            self._add_text(Place(root, MANIFEST), roots[root].read(MANIFEST))

    def add_file(self, place: Place) -> bool:
        """Add a file and all that it imports; whether it exists."""
        is_there = self._add_program(place, self._roots[place.root].read(place.path))
        self._add_pending()
        return is_there

    def add_directory(self, place: Place) -> bool:
        """Add the program files of a directory and all that they import; whether it has any."""
        tree = self._roots[place.root]
        programs = tree.programs(place.path)
        for path in programs or ():
            self._add_program(Place(place.root, path), tree.read(path))
        self._add_pending()
        return bool(programs)

    def add_imports(self, text: str) -> None:
        """Add all that an inline program imports."""
        self._pending.append((text, None))
        self._add_pending()

    def _add_pending(self) -> None:
        while self._pending:
            text, place = self._pending.pop()
            words = words_of(text)
            for name in imports_of(text):
                if name == _FILE_LIBRARY and place is not None:
                    self._add_data_files(place.root)
                for target in self._candidates(name, place):
                    if not target.path.startswith(".."):
                        self._add_package(target, words)

    def _candidates(self, name: str, place: Place | None) -> Iterator[Place]:
        """Where an import may lead: from the file, from its module, or from a dependency."""
        relative = len(name) - len(name.lstrip("."))
        parts = name[relative:].split(".")
        if relative and place is not None:
            base = posixpath.join(posixpath.dirname(place.path), "../" * (relative - 1))
            yield Place(place.root, posixpath.normpath(posixpath.join(base, *parts)))
        elif not relative:
            if place is not None:
                yield Place(place.root, posixpath.join(*parts))
            if parts[0] in self._packages:
                yield Place(self._packages[parts[0]], posixpath.join("", *parts[1:]))

    def _add_package(self, target: Place, words: frozenset[str]) -> None:
        """Add what a file with these words needs of a package."""
        package = self._known.get(target)
        if package is None:
            self._check_work()
            is_whole = target.root not in self._dependencies
            package = self._known[target] = SchemaPackage(self._package_files(target), is_whole)
        for path, text in package.take(words):
            self._add_program(Place(target.root, path), text)

    def _check_work(self) -> None:
        """Refuse a program whose modules take too long: nothing else ends this."""
        if len(self._known) >= MAX_FILES or thread_time() > self._end:
            raise ModuleError(
                f"the modules of the program have more than {MAX_FILES} imports, or take longer than "
                f"{SECONDS:g} seconds to read"
            )

    def _package_files(self, target: Place) -> dict[str, str]:
        """The files of a package: those in its directory, or the one of its name."""
        tree = self._roots[target.root]
        paths = [*(tree.programs(target.path) or ()), target.path + ENDING]
        texts = ((path, tree.read(path)) for path in paths)
        return {path: text for path, text in texts if text is not None}

    def _add_data_files(self, root: str) -> None:
        """Add what a module has besides programs."""
        for path in self._roots[root].data_files():
            self._add_text(Place(root, path), self._roots[root].read(path))

    def _add_program(self, place: Place, text: str | None) -> bool:
        if place.virtual not in self.files and text is not None:
            self._add_text(place, text)
            self._pending.append((text, place))
        return text is not None

    def _add_text(self, place: Place, text: str | None) -> None:
        if text is None:
            return
        self.files[place.virtual] = text
        self._size += len(text)
        if len(self.files) > MAX_FILES or self._size > MAX_BYTES:
            raise ModuleError(
                f"the modules of the program have more than {MAX_FILES} files or {MAX_BYTES >> 20} MiB"
            )


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
