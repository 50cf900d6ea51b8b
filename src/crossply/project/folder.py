"""The folder of a project: its file, and reading and writing the files in it."""

from __future__ import annotations

import os
from typing import NamedTuple

from crossply.errors import CrossplyError
from crossply.kinds.project import Project, parse_project
from crossply.manifests.file_io import ConvertError, in_go_words, make_directory
from crossply.project import file_in
from crossply.values import Object
from crossply.values.endless_files import is_pipe_or_device
from crossply.values.yaml import YamlError, read_first
from crossply.values.yaml.limits import MAX_BYTES


class ProjectFolder(NamedTuple):
    """A project and where it is."""

    root: str
    file: str
    text: bytes
    project: Project

    def relative(self, name: str) -> str:
        """The path of a file within the project; a name that is no whole path is one from its folder."""
        path = os.path.normpath(os.path.join(self.root, name))
        if not _is_inside(path, self.root):
            raise ConvertError(
                "file path is outside the project filesystem", hint=f"use files of {self.root}"
            )
        return os.path.relpath(path, self.root) if os.path.isabs(name) else name

    def read(self, name: str) -> bytes:
        """A file of the project, by its path within it."""
        return _read(os.path.normpath(os.path.join(self.root, name)))

    def add_api(self, name: str, text: str, *, replace: bool, otherwise: str) -> None:
        """Write a file into the APIs folder; `otherwise` completes the error message if it exists."""
        apis = os.path.normpath(os.path.join(self.root, self.project.apis))
        path = os.path.normpath(f"{apis}/{name}")
        prefix = "failed to create directories for the specified output path"
        if not _is_inside(path, apis):
            cause = f"mkdir {os.path.dirname(name)}: file does not exist"
            raise ConvertError(f"{prefix}: {cause}", hint=f"--path is a path below {self.project.apis}")
        if os.path.exists(path) and not replace:
            advice = "use --path to specify a different output path or"
            raise ConvertError(f'file "{name}" already exists, {advice} {otherwise}')
        self._check_inside(path)
        make_directory(os.path.dirname(path), prefix)
        _write(path, text)

    def rewrite(self, text: str) -> None:
        """Change the project file itself."""
        _write(os.path.join(self.root, self.file), text)

    def rewrite_file(self, name: str, text: str) -> None:
        """Change a file of the project, by its path within it."""
        path = os.path.normpath(os.path.join(self.root, name))
        self._check_inside(path)
        _write(path, text)

    def _check_inside(self, path: str) -> None:
        """Refuse to write where a link of the project leads out of it: it may be somebody else's."""
        if not _is_inside(os.path.realpath(path), os.path.realpath(self.root)):
            raise ConvertError(f"{path} is a link out of the project", hint="remove the link")


def open_project(path: str | None) -> ProjectFolder:
    """The project that a file describes: this one, or that of the current directory."""
    root, name = os.path.split(os.path.abspath(path or file_in(os.curdir)))
    try:
        text = _read(os.path.join(root, name))
    except ConvertError as problem:
        hint = (
            "run it in the folder of a project (crossplane-project.yaml or upbound.yaml), or name the "
            "project's file with --project-file"
        )
        raise problem.replace(hint=hint).within(f'failed to read project file "{name}"') from None
    value = parsed(text, name, "failed to parse project file")
    try:
        return ProjectFolder(root, name, text, parse_project(value))
    except CrossplyError as problem:
        raise problem.at(name) from None


def parsed(text: bytes, source: str, prefix: str) -> Object:
    """The first document of a text; `prefix` begins the error message."""
    try:
        value: Object = read_first(text, source).value
    except YamlError as problem:
        raise problem.within(f"{prefix}: error converting YAML to JSON") from None
    return value


def _is_inside(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


def _read(path: str) -> bytes:
    if is_pipe_or_device(path):
        raise ConvertError(f"{path} is not a regular file")
    try:
        with open(path, "rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as problem:
        verb = "read" if isinstance(problem, IsADirectoryError) else "open"
        raise ConvertError(in_go_words(verb, path, problem)) from None


def _write(path: str, text: str) -> None:
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as problem:
        raise ConvertError(in_go_words("open", path, problem)) from None
