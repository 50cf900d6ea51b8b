"""The objects in the named files and directories, read again after every save."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from crossply.errors import CrossplyError
from crossply.manifests.files import SourceError, is_resource, objects_in, read_documents
from crossply.resource_tree.node import Node, Reference
from crossply.values import Object
from crossply.values.endless_files import is_pipe_or_device

_ENDINGS = (".yaml", ".yml")
_BLANK_BYTES = 4096
_HOW_TO_DELETE = "delete the file, or leave a comment in it, to have its objects deleted"


class FileObject(NamedTuple):
    """An object, and where it is written."""

    object: Object
    place: str

    @property
    def reference(self) -> Reference:
        return Node(self.object).reference

    @property
    def label(self) -> str:
        return self.reference.label


FilesRead = tuple[list[FileObject], list[CrossplyError]]
"""The objects of all files, and what is wrong with some of them."""


class FileSet:
    """Files and directories. One that is broken or empty counts as it last was, so that nothing is pruned."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._objects: dict[str, list[FileObject]] = {}

    def files(self) -> list[str]:
        """Every file there is now, those of directories in order."""
        return [file for path in self._paths for file in files_below(path)]

    def read(self) -> FilesRead:
        """Read all files as they are now."""
        problems: list[CrossplyError] = []
        objects: dict[str, list[FileObject]] = {}
        for file in self.files():
            before = self._objects.get(file, [])
            try:
                objects[file] = _read(file)
                if before and not objects[file] and _is_blank(file):
                    raise SourceError(
                        f"the file is empty; nothing of it is deleted ({_count(before)} before)",
                        hint=_HOW_TO_DELETE,
                    )
            except CrossplyError as problem:
                problems.append(problem.at(file))
                objects[file] = before
        self._objects = objects
        return [item for items in objects.values() for item in items], problems


def _count(items: Sequence[FileObject]) -> str:
    return f"{len(items)} object{'' if len(items) == 1 else 's'}"


def _is_blank(file: str) -> bool:
    """Return whether a file is empty: an editor may be about to write it."""
    try:
        with open(file, "rb") as stream:
            return not stream.read(_BLANK_BYTES).strip()
    except OSError:
        return False


def relative(place: str) -> str:
    """A path, or a file and line, as seen from the current directory where that is shorter."""
    path = os.path.relpath(place)
    return path if len(path) < len(place) else place


def check_paths(paths: Sequence[str]) -> None:
    """Raise SourceError unless each path exists, and each directory has a YAML file."""
    from crossply.cli.framework.suggestions import nearest_file

    for path in paths:
        if not os.path.exists(path):
            hint = nearest_file(path) or "check the path"
            raise SourceError(f"cannot apply {path}: no such file or directory", hint=hint)
        if not any(True for _ in files_below(path)):
            raise SourceError(
                f"cannot apply {path}: there is no .yaml or .yml file below it",
                hint="name a directory with XRDs, Compositions and XRs",
            )


def files_below(path: str) -> Iterator[str]:
    """A file itself, or the YAML files of a directory and of those below it; hidden ones are left out."""
    if not os.path.isdir(path):
        yield path
        return
    for directory, names, files in os.walk(path):
        names[:] = sorted(
            name for name in names if not name.startswith(".") and not name.endswith(".snapshots")
        )
        for name in sorted(files):
            file = os.path.join(directory, name)
            if name.endswith(_ENDINGS) and not name.startswith(".") and not is_pipe_or_device(file):
                yield file


def _read(file: str) -> list[FileObject]:
    if not os.path.exists(file):
        return []  # a named file that was deleted: its objects are pruned
    objects = []
    for document in read_documents(file, "cannot parse YAML manifest"):
        for obj in objects_in(document):
            if not is_resource(obj):
                continue
            place = f"{document.source}:{document.line}"
            if not Node(obj).reference.name:
                raise SourceError("the object has no metadata.name", place=place, hint="give it a name")
            objects.append(FileObject(obj, place))
    return objects
