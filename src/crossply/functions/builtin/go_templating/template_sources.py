"""The sources of template text: the step itself, a directory, or the environment.

Directories are read only below those that the operator lists in CROSSPLY_TEMPLATES: authors of Compositions
must not read arbitrary files of the machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from crossply.compose.function_messages import Request
from crossply.functions.builtin.go_templating.input import Input
from crossply.values import Object
from crossply.values.endless_files import is_pipe_or_device

ALLOWED = "CROSSPLY_TEMPLATES"
"""The environment variable with the allowed directories, separated as in PATH."""

ENVIRONMENT_KEY = "apiextensions.crossplane.io/environment"
SEPARATOR = "\n---\n"

MAX_FILES = 10_000
MAX_BYTES = 16 << 20


class SourceError(Exception):
    """The templates cannot be read. It never leaves the function: it becomes a fatal result."""


def template_text(request: Request, step_input: Input, environ: Mapping[str, str]) -> str:
    source = step_input.fields.get("source", "")
    if source == "Inline":
        return _inline(step_input.fields.get("inline", {}))
    if source == "FileSystem":
        return _file_system(step_input.fields.get("fileSystem", {}), environ)
    if source == "Environment":
        return _environment(step_input.fields.get("environment", {}), request.context or {})
    raise SourceError(f"invalid source: {source}" if source else "source is required")


def _inline(inline: Object) -> str:
    text: str = inline.get("template") or SEPARATOR.join(inline.get("templates", ()))
    if not text and not inline.get("templates"):
        raise SourceError("inline.template or inline.templates should be provided")
    return text


class TemplatePart(NamedTuple):
    """Where one of the joined templates starts."""

    start: int
    name: str


def template_parts(step_input: Input, text: str, environ: Mapping[str, str]) -> list[TemplatePart]:
    """The parts of what `template_text` returned; a single template has no name."""
    inline = step_input.fields.get("inline", {})
    parts = [TemplatePart(0, "")]
    if step_input.fields.get("source") == "Inline" and not inline.get("template"):
        lengths = [len(template) + len(SEPARATOR) for template in inline.get("templates", ())]
        names = [f"templates[{index}]" for index in range(len(lengths))]
    elif step_input.fields.get("source") == "FileSystem":
        files = read_template_files(step_input.fields["fileSystem"]["dirPath"], _allowed(environ))
        lengths, names = [len(file.text) for file in files], [file.path for file in files]
    else:
        return parts
    starts = [sum(lengths[:index]) for index in range(len(lengths))]
    return list(map(TemplatePart, starts, names)) or parts


def _environment(source: Object, context: Object) -> str:
    key = source.get("key")
    if not key:
        raise SourceError("environment.key should be provided")
    environment = context.get(ENVIRONMENT_KEY)
    prefix = "cannot read tmpl from the environment: "
    if not isinstance(environment, dict):
        raise SourceError(f"{prefix}{ENVIRONMENT_KEY} key does not exist in context")
    if key not in environment:
        raise SourceError(f"{prefix}key: {key} does not exist")
    text = environment[key]
    if not isinstance(text, str):
        raise SourceError(f"{prefix}key: {key} value is not a string")
    return text


def _file_system(source: Object, environ: Mapping[str, str]) -> str:
    directory = source.get("dirPath")
    if not directory:
        raise SourceError("fileSystem.dirPath should be provided")
    return read_templates(directory, _allowed(environ))


class TemplateFile(NamedTuple):
    """A file of templates; its text ends with a separator."""

    path: str
    text: str


def read_templates(directory: str, allowed: list[str]) -> str:
    """The templates of a directory, which must be below an allowed one."""
    return "".join(file.text for file in read_template_files(directory, allowed))


def read_template_files(directory: str, allowed: list[str]) -> list[TemplateFile]:
    """The files of a directory, which must be below an allowed one, ordered by name."""
    try:
        return _read_all(directory, allowed)
    except OSError as error:
        problem = f"open {error.filename or directory}: {(error.strerror or '').lower()}"
        raise SourceError(f"cannot read tmpl from the folder {{{directory}}}: {problem}") from None


def _allowed(environ: Mapping[str, str]) -> list[str]:
    return [os.path.realpath(path) for path in environ.get(ALLOWED, "").split(os.pathsep) if path]


def _read_all(directory: str, allowed: list[str]) -> list[TemplateFile]:
    """All files below a directory, ordered by name, each followed by a separator."""
    os.stat(directory)
    if not _is_below(directory, allowed):
        raise SourceError(
            f"cannot read tmpl from the folder {{{directory}}}: open {directory}: permission denied "
            f"(templates are read only below the directories in {ALLOWED})"
        )
    files: list[TemplateFile] = []
    size = 0
    for path in _files(directory):
        if not _is_below(path, allowed):
            raise PermissionError(0, "permission denied", path)
        if is_pipe_or_device(path):
            raise OSError(0, "not a regular file", path)
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES - size + 1)
        size += len(data)
        if size > MAX_BYTES or len(files) >= MAX_FILES:
            raise SourceError(
                f"cannot read tmpl from the folder {{{directory}}}: too many or too large files"
            )
        files.append(TemplateFile(path, data.decode("utf-8", "surrogateescape") + SEPARATOR))
    return files


def _is_below(path: str, allowed: list[str]) -> bool:
    """Whether a path is inside, after links are resolved."""
    real = os.path.realpath(path)
    return any(os.path.commonpath((real, root)) == root for root in allowed)


def _files(path: str) -> Iterator[str]:
    """Files ordered by name; hidden files, hidden directories and links to directories are skipped."""
    if os.path.basename(path.rstrip("/")).startswith("."):
        return
    if not os.path.isdir(path):
        yield path
        return
    for name in sorted(os.listdir(path)):
        inner = os.path.join(path, name)
        if not (os.path.islink(inner) and os.path.isdir(inner)):
            yield from _files(inner)
