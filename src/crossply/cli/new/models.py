"""`crossply new models`: generate Python dataclasses for the kinds of XRDs and CRDs."""

from __future__ import annotations

import os
from collections.abc import Iterable

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.cli.new.new_files import FORCE, write_new
from crossply.compose.metadata import text_in
from crossply.manifests.files import SourceError, read_documents
from crossply.scaffold.kind_models import KindModel, models_in
from crossply.scaffold.python_model_code import package_files
from crossply.scaffold.python_names import module_name

_XRD, _CRD = "CompositeResourceDefinition", "CustomResourceDefinition"


def run(invocation: Invocation) -> int:
    """Write a module for each group and version."""
    kinds = list(_kinds(invocation["file"]))
    if not kinds:
        raise SourceError("no version of any kind is served", hint="set served on a version")
    source = ", ".join(sorted({path.rpartition("/")[2] for path in invocation["file"]}))
    files = package_files(kinds, source)
    package = _package_name(invocation["output"])
    first = kinds[0].models[0].name
    use = f"in Python: from {package}.{module_name(kinds[0].group, kinds[0].version)} import {first}"
    read = f"           {first}.from_dict(req.xr)"
    return write_new(invocation, invocation["output"], files, [use, read])


def _package_name(directory: str) -> str:
    """What Python imports a directory by: packages that it lies in are part of the name."""
    parent, name = os.path.split(os.path.abspath(directory))
    while os.path.isfile(os.path.join(parent, "__init__.py")):
        parent, package = os.path.split(parent)
        name = f"{package}.{name}"
    return name


def _kinds(paths: Iterable[str]) -> Iterable[KindModel]:
    has_definitions = False
    used_names: dict[tuple[str, str], set[str]] = {}
    for path in paths:
        for document in read_documents(path, "cannot read definitions"):
            if isinstance(document.value, dict) and text_in(document.value, "kind") in (_XRD, _CRD):
                has_definitions = True
                yield from models_in(document.value, used_names, f"{document.source}:{document.line}")
    if not has_definitions:
        raise SourceError(f"no {_XRD} or {_CRD} in {', '.join(paths)}", hint="name files that define kinds")


COMMAND = Command(
    "models",
    "Generate Python dataclasses for the kinds of XRDs and CRDs.",
    run,
    arguments=(Argument("file", "Files or directories with XRDs and CRDs.", kind="path", many=True),),
    flags=(
        Flag(
            "output",
            "The directory to write the modules to.",
            short="o",
            kind="path",
            default="models",
            placeholder="DIR",
        ),
        FORCE,
    ),
    description=(
        "Writes a module for each group and version, with a dataclass for every object of the "
        "schema:\n"
        "descriptions become docstrings, enums Literals, and defaults default values. from_dict "
        "and to_dict\n"
        "convert from and to the dicts that functions see. The modules depend only on Python."
    ),
    examples=(
        "crossply new models apis/apps/definition.yaml",
        "crossply new models crds/ -o function/models --force",
    ),
)
