"""The files of one module: a directory that may be read."""

from __future__ import annotations

import base64
import hashlib
import os
from functools import cached_property

from crossply.functions.builtin.kcl.module_failures import ModuleError
from crossply.functions.builtin.kcl.module_manifest import MANIFEST, Manifest, read_manifest
from crossply.functions.builtin.kcl.module_source_policy import DIRECTORIES, ModuleAccess
from crossply.values.endless_files import is_pipe_or_device

ENDING = ".k"
VENDOR = "vendor"
"""The directory of a module that has copies of its dependencies."""

_TEST_ENDING = "_test.k"
_MAX_DATA_FILES = 1000
_MAX_DIRECTORIES = 2000
_NOT_SUMMED = (".git", ".tar")
_MAX_FILE = 8 << 20


class ModuleTree:
    """A module's directory. Paths are relative to it; the empty one is the directory itself."""

    def __init__(self, directory: str, access: ModuleAccess | None) -> None:
        """`access` is None for a directory of our own, whose content has been checked."""
        self.directory = os.path.abspath(directory)
        self._access = access
        self.touched: dict[str, None] = {}
        """The paths that were read or listed, or are missing."""

    @property
    def is_immutable(self) -> bool:
        """Whether its files never change."""
        return self._access is None

    @cached_property
    def manifest(self) -> Manifest:
        text = self.read(MANIFEST)
        return Manifest() if text is None else read_manifest(text, MANIFEST)

    def check(self, path: str) -> None:
        """Raise ModuleError unless a path exists and may be read."""
        if not os.path.exists(self._full(path)):
            raise ModuleError(f"cannot read {os.path.join(self.directory, path)}: no such file or directory")

    def below(self, path: str) -> ModuleTree:
        """The module in a directory of this one; raises ModuleError for a path that leads out."""
        full = os.path.normpath(os.path.join(self.directory, path))
        if os.path.commonpath((full, self.directory)) != self.directory:
            raise ModuleError(f"{path} is outside of the module")
        return ModuleTree(full, self._access)

    def module(self, name: str) -> ModuleTree:
        """The module of a name in a repository of several; this one for an empty name."""
        pending = [""] if name else []
        for _ in range(_MAX_DIRECTORIES):
            if not pending:
                break
            path = pending.pop(0)
            tree = self.below(path)
            if tree.manifest.name == name:
                return tree
            names = [inner for inner in self.names(path) or () if not inner.startswith(".")]
            inner_paths = [os.path.join(path, inner) for inner in names]
            pending += [inner for inner in inner_paths if os.path.isdir(self._full(inner))]
        if name:
            raise ModuleError(f"there is no module {name} in it")
        return self

    def checksum(self) -> str:
        """The checksum that kcl.mod.lock has of a module: of the content of all files in order."""
        digest = hashlib.sha256()
        for directory, directories, names in os.walk(self.directory):
            directories.sort()
            for path in sorted(os.path.join(directory, name) for name in names):
                if not any(ignored in path[len(self.directory) :] for ignored in _NOT_SUMMED):
                    with open(path, "rb") as file:
                        digest.update(file.read())
        return base64.b64encode(digest.digest()).decode()

    def read(self, path: str) -> str | None:
        """The text of a file, or None where there is none; raises ModuleError."""
        full = self._full(path)
        if is_pipe_or_device(full):
            raise ModuleError(f"cannot read {path}: it is not a regular file")
        try:
            with open(full, "rb") as file:
                data = file.read(_MAX_FILE + 1)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except OSError as error:
            raise ModuleError(f"cannot read {path}: {error.strerror}") from None
        if len(data) > _MAX_FILE:
            raise ModuleError(f"cannot read {path}: it is larger than {_MAX_FILE >> 20} MiB")
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise ModuleError(f"cannot read {path}: it is no UTF-8") from None

    def programs(self, path: str) -> list[str] | None:
        """The program files of a directory, without tests; None where there is no directory."""
        names = self.names(path)
        if names is None:
            return None
        sources = [name for name in names if name.endswith(ENDING) and not name.endswith(_TEST_ENDING)]
        return [os.path.join(path, name) for name in sources if not name.startswith("_")]

    def data_files(self) -> list[str]:
        """The paths of all files that are no programs, without hidden and vendored ones."""
        files: list[str] = []
        pending = [""]
        while pending and len(files) < _MAX_DATA_FILES:
            directory = pending.pop()
            for name in self.names(directory) or ():
                path = os.path.join(directory, name)
                if name.startswith(".") or path == VENDOR or os.path.islink(self._full(path)):
                    continue
                if os.path.isdir(self._full(path)):
                    pending.append(path)
                elif not name.endswith(ENDING):
                    files.append(path)
        return files

    def names(self, path: str) -> list[str] | None:
        """The names in a directory, sorted; None where there is no directory."""
        try:
            return sorted(os.listdir(self._full(path)))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise ModuleError(f"cannot read {path}: {error.strerror}") from None

    def _full(self, path: str) -> str:
        full = os.path.normpath(os.path.join(self.directory, path))
        if "\0" in full:
            raise ModuleError("cannot read a path with a NUL")
        if self._access is not None and not self._access.may_read(full):
            raise ModuleError(
                f"cannot read {full}: permission denied (files are read only below the directories in "
                f"{DIRECTORIES})"
            )
        if self._access is None and os.path.commonpath((full, self.directory)) != self.directory:
            raise ModuleError(f"{path} is outside of the module")
        self.touched[full] = None
        return full
