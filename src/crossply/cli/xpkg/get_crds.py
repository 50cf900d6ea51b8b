"""`crossply xpkg get-crds`: write the CRDs of packages to files, or JSON Schemas of them."""

from __future__ import annotations

import os
from typing import NamedTuple

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.errors import CrossplyError
from crossply.validation.extension_schemas import GetCrdsError, complete, with_schemas
from crossply.values import Object


class _File(NamedTuple):
    """What is written: where in the tree of groups and versions, the name for a flat directory, the text."""

    group: str
    version: str
    kind: str
    flat: str
    text: str


def run(invocation: Invocation) -> int:
    """Load the extensions, and write what they define."""
    crds = _crds(invocation)
    output = invocation["output-dir"]
    schemas = invocation["json-schema"]
    files = _schema_files(crds) if schemas else _crd_files(crds)
    for file in files:
        invocation.stdout.write(f"wrote {_write(output, file, invocation['flat'], schemas)}\n")
    noun = "JSON Schemas" if schemas else "CRDs"
    invocation.stdout.write(f"Total {len(files)} {noun} written to {output}\n")
    return 0


def _crds(invocation: Invocation) -> list[Object]:
    import tempfile

    from crossply.manifests.manifest import load_manifests
    from crossply.validation.extension_schemas import Extensions
    from crossply.validation.package_cache import Cache
    from crossply.xpkg.user_image_pull import package_stream

    manifests = load_manifests(invocation["extensions"], "extensions", invocation.stdin)
    extensions = Extensions()
    try:
        extensions.add(manifests)
    except CrossplyError as problem:
        raise problem.within("cannot prepare extensions") from None
    if invocation["crossplane-image"]:
        extensions.packages[invocation["crossplane-image"]] = None
    with tempfile.TemporaryDirectory(prefix="crossply-crd-") as scratch:
        directory = scratch if invocation["no-cache"] else os.path.expanduser(invocation["cache-dir"])
        cache = Cache(directory, lambda image: package_stream(invocation, image))
        if invocation["clean-cache"]:
            cache.clean()
        try:
            extensions.add_packages(cache)
        except CrossplyError as problem:
            raise problem.within("cannot download and load schemas") from None
    return [complete(crd) for crd in extensions.crds]


def _crd_files(crds: list[Object]) -> list[_File]:
    from crossply.values.yaml import dump

    return [
        _File(
            str(crd["spec"].get("group", "")),
            _stored(crd),
            str((crd["spec"].get("names") or {}).get("kind", "")),
            str(crd["metadata"].get("name", "")),
            dump(crd),
        )
        for crd in crds
    ]


def _stored(crd: Object) -> str:
    """The version that is stored, or the first."""
    versions = crd["spec"].get("versions") or [{}]
    return str(next((version for version in versions if version.get("storage")), versions[0]).get("name", ""))


def _schema_files(crds: list[Object]) -> list[_File]:
    from crossply.schema.crd_jsonschema import json_schemas, to_text

    files = []
    for crd in crds:
        for json_schema in json_schemas(with_schemas(crd)):
            identity = json_schema.schema["x-kubernetes-group-version-kind"][0]
            flat = json_schema.file_name.removesuffix(".json")
            text = f"{to_text(json_schema.schema)}\n"
            files.append(_File(identity["group"], identity["version"], identity["kind"], flat, text))
    return files


def _write(output: str, file: _File, flat: bool, schemas: bool) -> str:
    ending = ".json" if schemas else ".yaml"
    inside = file.flat if flat else os.path.join(file.group, file.version, file.kind.lower())
    # Names come from packages: one such as ../../x must not lead out of the directory.
    path = os.path.join(output, os.path.normpath(f"/{inside}{ending}").lstrip("/"))
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "w", encoding="utf-8") as target:
            target.write(file.text)
    except OSError as problem:
        noun = "JSON Schema" if schemas else "CRD"
        reason = (problem.strerror or str(problem)).lower()
        raise GetCrdsError(f'cannot write {noun} to "{path}": open {path}: {reason}') from None
    return path


COMMAND = Command(
    "get-crds",
    "Write the CRDs of packages to files.",
    run,
    arguments=(
        Argument(
            "extensions",
            "Extension sources as a comma-separated list of files, directories, or '-' for standard input.",
        ),
    ),
    flags=(
        Flag(
            "cache-dir",
            "Absolute path to the cache directory holding downloaded schemas.",
            kind="string",
            default="~/.crossplane/cache",
        ),
        Flag("clean-cache", "Clean the cache directory before downloading package schemas."),
        Flag(
            "crossplane-image",
            "Specify the Crossplane image for fetching the built-in schemas.",
            kind="string",
        ),
        Flag("flat", "Write files to a flat directory instead of organizing by group and version."),
        Flag(
            "json-schema",
            "Write JSON Schema files instead of CRDs. Useful for YAML language server integration.",
        ),
        Flag(
            "no-cache",
            "Disable caching entirely. The command downloads schemas every time without storing them.",
        ),
        Flag(
            "output-dir",
            "Directory that receives the CRD or JSON Schema files. Defaults to current directory.",
            short="o",
            kind="string",
            default=".",
        ),
        Flag(
            "update-cache",
            "No effect: a constraint uses the cached version; --clean-cache downloads all schemas again.",
            no_effect="a constraint uses the cached version; --clean-cache downloads all schemas again",
        ),
    ),
    description=(
        "Takes the same extensions as validate: definitions, CRDs, Providers, Functions, Configurations and\n"
        "crossplane.yaml files. Packages are fetched together with their dependencies."
    ),
    examples=(
        "crossply xpkg get-crds crossplane.yaml --output-dir crds",
        "crossply xpkg get-crds providers/ --json-schema -o schemas",
    ),
)
