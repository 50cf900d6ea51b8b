"""A recorded run as a directory of files that `render` and `test` take as they are."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from crossply.compose.connection_secret import secret_place
from crossply.compose.effects import (
    FetchObject,
    FetchResources,
    FetchSchema,
    FetchSecret,
    Observation,
    Observe,
)
from crossply.compose.engine_field_paths import MODERN
from crossply.compose.function_messages import SchemaSelector
from crossply.compose.object_metadata import (
    annotations_of,
    metadata_of,
    name_of,
    namespace_of,
    text_in,
    uid_of,
)
from crossply.compose.observed_resources import observe
from crossply.kinds.application_and_infrastructure_definitions import FIRST_DESIGN
from crossply.kinds.definition import Definition, Names
from crossply.runs.composition_manifest import composition_manifest
from crossply.runs.errors import RunsError
from crossply.runs.expected_result import expected_result
from crossply.runs.export_readme import readme
from crossply.runs.model import COMPOSITE, Run, World
from crossply.runs.recorded_pipeline import composition_of
from crossply.testing.suite import API_VERSION, KIND
from crossply.values import Object
from crossply.values.api_version import split_api_version
from crossply.values.yaml import dump, dump_all

XR, COMPOSITION, FUNCTIONS, DEFINITION = "xr.yaml", "composition.yaml", "functions.yaml", "definition.yaml"
OBSERVED, REQUIRED, CREDENTIALS = "observed.yaml", "required.yaml", "credentials.yaml"
_NOT_IN_NAMES = re.compile("[^a-z0-9]+")
SCHEMAS, SUITE, README = "schemas", "run_test.yaml", "README.md"
# The recorded composite resource has its defaults already.
_OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


class NotExportable(RunsError):
    """A run cannot be exported: it is not a run of a Composition's pipeline."""

    code = "CP-867"
    hint = "look at it with: crossply runs show"


class ExportRefused(RunsError):
    """The directory for the export of a run is not empty."""

    code = "CP-868"
    hint = "name another directory, or write into this one with --force"


class _Inputs(NamedTuple):
    """What a rendering of the run needs beside the composite resource and the Composition."""

    observed: Sequence[Object]
    required: Sequence[Object]
    credentials: Sequence[Object]
    schemas: Mapping[str, str]
    """OpenAPI documents in JSON, by the names of their files."""


def export_files(run: Run, functions: Sequence[Object]) -> dict[str, str]:
    """The text of each file by its path; `functions` are the Function objects that the pipeline calls."""
    world, composition = run.world, composition_of(run.world)
    if world.engine != COMPOSITE:
        raise NotExportable("an Operation has no composite resource to render")
    if composition is None:
        raise NotExportable("the run ended before it read its Composition")
    inputs = _inputs(run)
    files = {
        XR: dump(_exported(run.composite)),
        COMPOSITION: dump(composition_manifest(composition)),
        FUNCTIONS: dump_all(map(_function, functions)),
        OBSERVED: dump_all(map(_exported, inputs.observed)),
        REQUIRED: dump_all(map(_exported, inputs.required)),
        CREDENTIALS: dump_all(inputs.credentials),
        DEFINITION: _definition(world),
    }
    files |= {f"{SCHEMAS}/{name}.json": text for name, text in inputs.schemas.items()}
    files = {path: text for path, text in files.items() if text}
    files[SUITE] = dump(_suite(run, files))
    files[README] = readme(run, files)
    return files


def _inputs(run: Run) -> _Inputs:
    """What the run read; of what was read several times the last state."""
    required: list[Object] = []
    credentials, schemas = [], {}
    observation = Observation(())
    for exchange in run.world.exchanges:
        effect, answer = exchange.effect, exchange.answer
        if exchange.problem is not None or answer is None:
            continue
        if isinstance(effect, FetchResources):
            required += [snapshot.object for snapshot in answer]
        elif isinstance(effect, FetchObject):
            required.append(answer)
        elif isinstance(effect, FetchSecret):
            credentials.append(_secret(effect.namespace, effect.name, answer))
        elif isinstance(effect, FetchSchema):
            schemas[_file_name(effect.selector)] = _openapi(effect, answer)
        elif isinstance(effect, Observe):
            observation = answer
    required += _connection_secrets(run.composite, observation)
    observed = observe(observation.resources, uid_of(run.composite))
    objects = [resource.snapshot.object for resource in observed.values()]
    return _Inputs(objects, _unique(required), _unique(credentials), schemas)


def _connection_secrets(xr: Object, observation: Observation) -> list[Object]:
    """The Secrets whose data functions saw as connection details."""
    owners = [(xr, observation.connection_details)]
    owners += [(entry.snapshot.object, entry.connection_details) for entry in observation.resources]
    return [_secret(*secret_place(owner), details) for owner, details in owners if details]


def _secret(namespace: str, name: str, data: Mapping[str, bytes]) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, **({"namespace": namespace} if namespace else {})},
        "data": {key: b64encode(value).decode() for key, value in data.items()},
    }


def _unique(objects: Iterable[Object]) -> list[Object]:
    return list({_identity(obj): obj for obj in objects}.values())


def _identity(obj: Object) -> tuple[str, str, str, str]:
    return text_in(obj, "apiVersion"), text_in(obj, "kind"), namespace_of(obj), name_of(obj)


def _exported(obj: Object) -> Object:
    """An object without its managed fields, which functions ignore."""
    metadata = {key: value for key, value in metadata_of(obj).items() if key != "managedFields"}
    return {**obj, "metadata": metadata}


def _function(function: Object) -> Object:
    """As much of a Function as rendering needs."""
    annotations = {
        key: value
        for key, value in annotations_of(function).items()
        if key.startswith(("crossply.dev/", "render.crossplane.io/"))
    }
    metadata: Object = {"name": name_of(function)}
    if annotations:
        metadata["annotations"] = annotations
    return {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "Function",
        "metadata": metadata,
        "spec": {"package": (function.get("spec") or {}).get("package", "")},
    }


def _definition(world: World) -> str:
    if world.machinery == MODERN or world.definition is None:
        return ""
    if world.definition.definition_kind in FIRST_DESIGN:
        raise NotExportable(f"render cannot do with the kinds of an {world.definition.definition_kind}")
    return dump(_definition_manifest(world.definition))


def _file_name(selector: SchemaSelector) -> str:
    """The file of a kind's schema; a function chose the kind, and a record may be hostile."""
    return _NOT_IN_NAMES.sub("-", f"{selector.kind}.{selector.api_version}".lower()).strip("-")


def _openapi(fetch: FetchSchema, schema: Object) -> str:
    import json

    group, version = split_api_version(fetch.selector.api_version)
    kind = {"group": group, "version": version, "kind": fetch.selector.kind}
    described = {**schema, "x-kubernetes-group-version-kind": [kind]}
    document = {"openapi": "3.0.0", "components": {"schemas": {fetch.selector.kind: described}}}
    return json.dumps(document, indent=2) + "\n"


def _suite(run: Run, files: Collection[str]) -> Object:
    spec: Object = {"xr": XR, "composition": COMPOSITION, "functions": []}
    for key, file in _SOURCES.items():
        if file in files:
            spec[key] = file
    if any(file.startswith(SCHEMAS) for file in files):
        spec["requiredSchemas"] = SCHEMAS
    case = {"name": f"run {run.summary.id}", **expected_result(run)}
    spec["cases"] = [case]
    metadata = {"name": f"run-{run.summary.id}"}
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": spec}


_SOURCES = {
    "functions": FUNCTIONS,
    "observed": OBSERVED,
    "requiredResources": REQUIRED,
    "credentials": CREDENTIALS,
    "xrd": DEFINITION,
}


def _definition_manifest(definition: Definition) -> Object:
    """A CompositeResourceDefinition that is parsed to this one."""
    schema = {"type": "object", "properties": {"spec": _OPEN, "status": _OPEN}}
    spec: Object = {
        "group": definition.group,
        "scope": definition.scope,
        "names": _names(definition.names),
        "versions": [
            {
                "name": version.name,
                "served": version.served,
                "referenceable": version.referenceable,
                "schema": {"openAPIV3Schema": schema},
            }
            for version in definition.versions
        ],
    }
    if definition.claim_names is not None:
        spec["claimNames"] = _names(definition.claim_names)
    if definition.connection_secret_keys:
        spec["connectionSecretKeys"] = list(definition.connection_secret_keys)
    return {
        "apiVersion": "apiextensions.crossplane.io/v2",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": definition.name},
        "spec": spec,
    }


def _names(names: Names) -> Object:
    fields = {
        "kind": names.kind,
        "plural": names.plural,
        "singular": names.singular,
        "listKind": names.list_kind,
    }
    return {key: value for key, value in fields.items() if value}
