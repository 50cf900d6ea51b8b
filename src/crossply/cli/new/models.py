"""`crossply new models`: generate typed models of the kinds of XRDs and CRDs, in Python or KCL."""

from __future__ import annotations

import os
from collections.abc import Iterable

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.cli.new.new_files import FORCE, write_new
from crossply.compose.object_metadata import text_in
from crossply.manifests.files import SourceError, read_documents
from crossply.models.dataclass_models import package_files
from crossply.models.python_names import module_name
from crossply.models.structural_schema_classes import KindModel, models_in
from crossply.values.yaml import Document

_PYTHON, _KCL = "python", "kcl"
_XRD, _CRD = "CompositeResourceDefinition", "CustomResourceDefinition"


def run(invocation: Invocation) -> int:
    """Write a module for each group and version, or for each kind."""
    return _write_kcl(invocation) if invocation["language"] == _KCL else _write_python(invocation)


def _write_kcl(invocation: Invocation) -> int:
    from crossply.models.kcl_models import package_files
    from crossply.models.kcl_names import package_of
    from crossply.schema.definition_crds import composite_crd

    definitions = [document.value for document in _definitions(invocation["file"])]
    crds = [composite_crd(value) if value["kind"] == _XRD else value for value in definitions]
    files = package_files(crds)
    if not files:
        raise _nothing_served()
    spec = crds[0]["spec"]
    package = ".".join(package_of(spec["group"], spec["versions"][0]["name"], spec["names"]["kind"]).folders)
    # A folder called models would hide the package of this name.
    output = invocation["output"] or os.path.abspath("model")
    path = os.path.relpath(output)
    dependency = f'in kcl.mod: models = {{ path = "{path if path[0] == "." else f"./{path}"}" }}'
    use = f"in KCL:     import models.{package}"
    return write_new(invocation, output, files, [dependency, use])


def _write_python(invocation: Invocation) -> int:
    kinds = list(_kinds(invocation["file"]))
    if not kinds:
        raise _nothing_served()
    source = ", ".join(sorted({path.rpartition("/")[2] for path in invocation["file"]}))
    files = package_files(kinds, source)
    output = invocation["output"] or os.path.abspath("models")
    package = _package_name(output)
    first = kinds[0].models[0].name
    use = f"in Python: from {package}.{module_name(kinds[0].group, kinds[0].version)} import {first}"
    read = f"           {first}.from_dict(req.xr)"
    return write_new(invocation, output, files, [use, read])


def _package_name(directory: str) -> str:
    """What Python imports a directory by: packages that it lies in are part of the name."""
    parent, name = os.path.split(os.path.abspath(directory))
    while os.path.isfile(os.path.join(parent, "__init__.py")):
        parent, package = os.path.split(parent)
        name = f"{package}.{name}"
    return name


def _kinds(paths: Iterable[str]) -> Iterable[KindModel]:
    used_names: dict[tuple[str, str], set[str]] = {}
    for document in _definitions(paths):
        yield from models_in(document.value, used_names, f"{document.source}:{document.line}")


def _definitions(paths: Iterable[str]) -> list[Document]:
    """The documents that define kinds; there must be one."""
    documents = [document for path in paths for document in read_documents(path, "cannot read definitions")]
    definitions = [
        document
        for document in documents
        if isinstance(document.value, dict) and text_in(document.value, "kind") in (_XRD, _CRD)
    ]
    if not definitions:
        raise SourceError(f"no {_XRD} or {_CRD} in {', '.join(paths)}", hint="name files that define kinds")
    return definitions


def _nothing_served() -> SourceError:
    return SourceError("no version of any kind is served", hint="set served on a version")


COMMAND = Command(
    "models",
    "Generate typed models of the kinds of XRDs and CRDs.",
    run,
    arguments=(Argument("file", "Files or directories with XRDs and CRDs.", kind="path", many=True),),
    flags=(
        Flag(
            "output",
            "The directory to write the modules to. Defaults to models, in KCL to model.",
            short="o",
            kind="path",
            placeholder="DIR",
        ),
        Flag(
            "language",
            "The language of the models.",
            short="l",
            kind="string",
            default=_PYTHON,
            choices=(_PYTHON, _KCL),
        ),
        FORCE,
    ),
    description=(
        "In Python, writes a module for each group and version, with a dataclass for every object of the\n"
        "schema: descriptions become docstrings, enums Literals, and defaults default values. from_dict and\n"
        "to_dict convert from and to the dicts that functions see. The modules depend only on Python.\n\n"
        "In KCL, writes a package with a file for each kind, with the names that kcl import gives them."
    ),
    examples=(
        "crossply new models apis/apps/definition.yaml",
        "crossply new models crds/ -o function/models --force",
        "crossply new models apis/ --language=kcl",
    ),
)
