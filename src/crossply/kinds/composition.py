"""A Composition: which kind of composite resource it serves, and the steps that compose it.

Every accepted spelling becomes the same model, a pipeline of steps:

- `mode: Pipeline` as it is;
- `mode: Resources` and the first design's `from`/`to` as one native step (see `composition_native_step`);
- `spec.functions` as one step for each container, after the templates (see `composition_container_function`).

A CompositionRevision has the same spec, so `parse_spec` serves both.
"""

from typing import NamedTuple

from crossply.kinds.composition_container_function import (
    ContainerFunction,
    parse_container_function,
    template_overrides,
)
from crossply.kinds.composition_defaults import PIPELINE, RESOURCES, composition_mode
from crossply.kinds.composition_native_step import NATIVE_FUNCTION, NATIVE_STEP, native_input
from crossply.kinds.fields import Fields, KindError
from crossply.values import Object

__all__ = [
    "WATCHED_REFS",
    "Composition",
    "CompositionError",
    "ContainerFunction",
    "CredentialRef",
    "ExtraResourceRule",
    "ObjectRef",
    "Pipeline",
    "ResourceRequirement",
    "SchemaRequirement",
    "Step",
    "TypeRef",
    "composite_type",
    "parse_composition",
    "parse_spec",
    "parse_steps",
]


WATCHED_REFS = "watchedResourceRefs"
"""The field of a composite resource's status that lists what functions have watched."""


class CompositionError(KindError):
    """A Composition has a field that cannot be understood."""

    code = "CP-411"


class TypeRef(NamedTuple):
    """A kind of object."""

    api_version: str
    kind: str


class ObjectRef(NamedTuple):
    """One object by name."""

    api_version: str
    kind: str
    name: str
    namespace: str


class CredentialRef(NamedTuple):
    """A Secret whose data a function is given under a name."""

    name: str
    source: str
    secret_namespace: str
    secret_name: str


class ResourceRequirement(NamedTuple):
    """Resources a step is given from its first call: one by name, or all that match the labels."""

    name: str
    api_version: str
    kind: str
    namespace: str | None
    match_name: str | None
    match_labels: dict[str, str] | None


class SchemaRequirement(NamedTuple):
    """An OpenAPI schema a step is given from its first call."""

    name: str
    api_version: str
    kind: str


class ExtraResourceRule(NamedTuple):
    """Resources a step may ask for; the name and the label values are regular expressions."""

    api_version: str
    kind: str
    match_name: str | None
    match_labels: dict[str, str] | None


class Step(NamedTuple):
    """One step of a pipeline: a function and its input."""

    name: str
    function: str
    input: Object | None = None
    credentials: tuple[CredentialRef, ...] = ()
    required_resources: tuple[ResourceRequirement, ...] = ()
    required_schemas: tuple[SchemaRequirement, ...] = ()
    input_ref: ObjectRef | None = None
    function_revision_ref: str | None = None
    function_revision_selector: dict[str, str] | None = None
    """The `matchLabels` of the selector."""
    max_iterations: int | None = None
    """-1 means no limit."""
    allowed_extra_resources: tuple[ExtraResourceRule, ...] | None = None
    """None allows everything; an empty tuple allows nothing."""
    container: ContainerFunction | None = None


class Pipeline(NamedTuple):
    """The part that Compositions and their revisions share."""

    composite: TypeRef
    mode: str
    """Pipeline or Resources; see `composition_mode` for Compositions that do not say."""
    steps: tuple[Step, ...]
    connection_secrets_namespace: str | None
    reclaim_policy: str | None = None
    """What happens to infrastructure that is no longer required: Delete or Retain."""


class Composition(NamedTuple):
    """How composite resources of one kind are composed."""

    name: str
    labels: dict[str, str]
    annotations: dict[str, str]
    composite: TypeRef
    steps: tuple[Step, ...]
    connection_secrets_namespace: str | None
    mode: str
    api_version: str = ""
    uid: str = ""
    reclaim_policy: str | None = None


def parse_composition(obj: Object) -> Composition:
    """Read a Composition of any accepted spelling."""
    root = Fields(obj, error=CompositionError)
    metadata = root.object("metadata")
    pipeline = parse_spec(root.object("spec"))
    return Composition(
        name=metadata.text("name"),
        labels=metadata.string_map("labels"),
        annotations=metadata.string_map("annotations"),
        composite=pipeline.composite,
        steps=pipeline.steps,
        connection_secrets_namespace=pipeline.connection_secrets_namespace,
        mode=pipeline.mode,
        api_version=root.text("apiVersion"),
        uid=metadata.text("uid"),
        reclaim_policy=pipeline.reclaim_policy,
    )


def composite_type(spec: Fields) -> TypeRef:
    """The kind of composite resource that a Composition is for."""
    composite = spec.object("compositeTypeRef" if spec.has("compositeTypeRef") else "from")
    return TypeRef(composite.text("apiVersion"), composite.text("kind"))


def parse_spec(spec: Fields) -> Pipeline:
    """Read the spec of a Composition or of a CompositionRevision."""
    mode = _mode(spec)
    return Pipeline(
        composite=composite_type(spec),
        mode=mode,
        steps=(*_first_steps(spec, mode), *_container_steps(spec, mode)),
        connection_secrets_namespace=spec.optional_text("writeConnectionSecretsToNamespace"),
        reclaim_policy=spec.optional_text("reclaimPolicy"),
    )


def _mode(spec: Fields) -> str:
    mode = spec.text("mode") or composition_mode(spec.as_dict())
    if mode not in (PIPELINE, RESOURCES):
        raise spec.wrong("must be Pipeline or Resources", "mode")
    return mode


def _first_steps(spec: Fields, mode: str) -> tuple[Step, ...]:
    """The pipeline, or the native step that stands for resource templates."""
    if mode == PIPELINE:
        return parse_steps(spec)
    function_input = native_input(spec)
    return () if function_input is None else (Step(NATIVE_STEP, NATIVE_FUNCTION, function_input),)


def parse_steps(spec: Fields) -> tuple[Step, ...]:
    """The steps of a pipeline."""
    return tuple(_step(entry) for entry in spec.objects("pipeline"))


def _container_steps(spec: Fields, mode: str) -> list[Step]:
    function_input = native_input(spec) if spec.has("functions") and mode != PIPELINE else None
    templates = template_overrides(function_input["resources"]) if function_input is not None else {}
    return [
        _container_step(entry.text("name"), parse_container_function(entry, templates))
        for entry in spec.objects("functions")
    ]


def _container_step(name: str, container: ContainerFunction) -> Step:
    secrets = tuple(
        CredentialRef(f"{secret.namespace}/{secret.name}", "Secret", secret.namespace, secret.name)
        for secret in container.pull_secrets
    )
    return Step(name, name, credentials=secrets, container=container)


def _step(entry: Fields) -> Step:
    requirements = entry.object("requirements")
    return Step(
        name=entry.text("step"),
        function=entry.object("functionRef").text("name"),
        input=entry.optional_dict("input"),
        credentials=tuple(_credential(fields) for fields in entry.objects("credentials")),
        required_resources=tuple(_resource(fields) for fields in requirements.objects("requiredResources")),
        required_schemas=tuple(_schema(fields) for fields in requirements.objects("requiredSchemas")),
        input_ref=_object_ref(entry, "inputRef"),
        function_revision_ref=entry.object("functionRevisionRef").optional_text("name"),
        function_revision_selector=_selector(entry, "functionRevisionSelector"),
        max_iterations=_max_iterations(entry),
        allowed_extra_resources=_rules(entry, "allowedExtraResources"),
    )


def _max_iterations(entry: Fields) -> int | None:
    limit = entry.integer("maxIterations")
    if limit is not None and (limit == 0 or limit < -1):
        raise entry.wrong("must be -1, for no limit, or at least 1", "maxIterations")
    return limit


def _credential(entry: Fields) -> CredentialRef:
    secret = entry.object("secretRef")
    return CredentialRef(
        entry.text("name"), entry.text("source"), secret.text("namespace"), secret.text("name")
    )


def _resource(entry: Fields) -> ResourceRequirement:
    return ResourceRequirement(
        name=entry.text("requirementName"),
        api_version=entry.text("apiVersion"),
        kind=entry.text("kind"),
        namespace=entry.optional_text("namespace"),
        match_name=entry.optional_text("name"),
        match_labels=entry.optional_string_map("matchLabels"),
    )


def _schema(entry: Fields) -> SchemaRequirement:
    return SchemaRequirement(entry.text("requirementName"), entry.text("apiVersion"), entry.text("kind"))


def _object_ref(entry: Fields, key: str) -> ObjectRef | None:
    if not entry.has(key):
        return None
    ref = entry.object(key)
    return ObjectRef(ref.text("apiVersion"), ref.text("kind"), ref.text("name"), ref.text("namespace"))


def _selector(entry: Fields, key: str) -> dict[str, str] | None:
    return entry.object(key).string_map("matchLabels") if entry.has(key) else None


def _rules(entry: Fields, key: str) -> tuple[ExtraResourceRule, ...] | None:
    if not entry.has(key):
        return None
    return tuple(_rule(rule) for rule in entry.objects(key))


def _rule(entry: Fields) -> ExtraResourceRule:
    # The name was spelled both ways in the design.
    name = entry.optional_text("matchName" if entry.has("matchName") else "name")
    labels = entry.optional_string_map("matchLabels")
    if name is not None and labels is not None:
        raise entry.wrong("may have a name or labels to match, not both")
    return ExtraResourceRule(entry.text("apiVersion"), entry.text("kind"), name, labels)
