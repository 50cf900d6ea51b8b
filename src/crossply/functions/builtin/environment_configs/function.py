"""function-environment-configs: merge EnvironmentConfigs into the environment that later steps read.

The input (`environmentconfigs.fn.crossplane.io/v1beta1`) names configs or selects them by label. The first
call returns requirements for them. The second merges their data and puts the result into the context. Later
entries override earlier ones, all of them override the environment of the request, and that one overrides the
default data of the step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from crossply.compose.function_messages import (
    Request,
    Requirements,
    ResourceSelector,
    Response,
    fatal,
    respond,
)
from crossply.functions.builtin.environment_configs.merge import merge, merged_data
from crossply.functions.builtin.input_decoder import (
    OBJECT,
    InputError,
    array,
    decode,
    free_form,
    struct,
    text,
)
from crossply.functions.builtin.required_resource_selectors import (
    DEFAULT_SORT_PATH,
    SelectionError,
    is_optional,
    label_from,
    literal_label,
    matcher_type,
    selector_members,
    sorted_by,
)
from crossply.values import Object
from crossply.values.goquote import quote

CONTEXT_KEY = "apiextensions.crossplane.io/environment"

_API_VERSION = "apiextensions.crossplane.io/v1beta1"
_KIND = "EnvironmentConfig"


def run(request: Request) -> Response:
    try:
        spec = read_input(request).get("spec", {})
    except InputError as error:
        return fatal(request, f"cannot get Function input from *v1.RunFunctionRequest: {error}")
    sources = spec.get("environmentConfigs")
    if sources is None:
        return respond(request)
    try:
        requirements = build_requirements(request, sources)
    except SelectionError as error:
        return fatal(request, f"cannot build requirements: {error}")
    if not request.required_resources:
        return respond(request, requirements=requirements)
    try:
        environment = build_environment(request, spec)
    except SelectionError as error:
        return fatal(request, str(error))._replace(requirements=requirements)
    context = {**(request.context or {}), CONTEXT_KEY: environment}
    return respond(request, requirements=requirements, context=context)


def read_input(request: Request) -> Object:
    """The decoded input; raises InputError."""
    return decode(request, INPUT, GO_TYPE)


def build_requirements(request: Request, sources: list[Object]) -> Requirements:
    """One requirement for each source that selects something."""
    selectors = {}
    for index, source in enumerate(sources):
        selector = _selector_of(request, source)
        if selector is not None:
            selectors[_requirement_name(index)] = selector
    return Requirements(resources=selectors)


def build_environment(request: Request, spec: Object) -> Object:
    """Merge default data, the environment of the request and the data of the configs, in this order."""
    try:
        configs = [(selected.place, selected.config) for selected in select_configs(request, spec)]
    except SelectionError as error:
        raise SelectionError(f"cannot get selected environment configs: {error}") from None
    try:
        environment = merge(context_environment(request), merged_data(configs))
    except SelectionError as error:
        raise SelectionError(f"cannot merge environment data: {error}") from None
    environment = merge(spec.get("defaultData", {}), environment)
    if not _has_kind(environment):
        environment.update(apiVersion="internal.crossplane.io/v1alpha1", kind="Environment")
    return environment


def _requirement_name(index: int) -> str:
    return f"environment-config-{index}"


def context_environment(request: Request) -> Object:
    """The environment of the request; a value that is no object is ignored."""
    current = (request.context or {}).get(CONTEXT_KEY)
    return current if isinstance(current, dict) else {}


def _source_type(source: Object) -> str:
    return source.get("type") or "Reference"


def _selector_of(request: Request, source: Object) -> ResourceSelector | None:
    if _source_type(source) == "Reference":
        return ResourceSelector(_API_VERSION, _KIND, match_name=_name_of(source))
    if _source_type(source) != "Selector":
        return None
    labels = _labels_of(request, source)
    return ResourceSelector(_API_VERSION, _KIND, match_labels=labels) if labels else None


def _name_of(source: Object) -> str:
    if "ref" not in source:
        raise SelectionError("ref cannot be nil for type 'Reference'")
    name: str = source["ref"].get("name", "")
    return name


def _labels_of(request: Request, source: Object) -> dict[str, str]:
    if "selector" not in source:
        raise SelectionError("selector cannot be nil for type 'Selector'")
    labels = {}
    for matcher in source["selector"].get("matchLabels", ()):
        value = _label_of(request, matcher)
        if value is not None:
            labels[matcher.get("key", "")] = value
    return labels


def _label_of(request: Request, matcher: Object) -> str | None:
    kind = matcher_type(matcher)
    if kind == "Value":
        return literal_label(matcher)
    if kind == "FromCompositeFieldPath":
        composite = request.observed.composite
        return label_from(composite.object if composite else {}, matcher, "composite field path")
    if kind == "FromEnvironmentFieldPath":
        return label_from(context_environment(request), matcher, "environment field path")
    return None


class SelectedConfig(NamedTuple):
    """An EnvironmentConfig that is merged into the environment."""

    source: int
    """The index of the source that selects it."""
    place: str
    """The field path of its data in the environment."""
    config: Object


def select_configs(request: Request, spec: Object) -> Iterator[SelectedConfig]:
    """The selected configs in the order in which they are merged; raises SelectionError."""
    for index, source in enumerate(spec["environmentConfigs"]):
        name = _requirement_name(index)
        # A selector without labels, because all are optional and missing, has no requirement.
        if name not in request.required_resources:
            continue
        configs = fetched_configs(request, index)
        place = source.get("toFieldPath", "")
        for config in _select(name, source, configs, is_optional(spec.get("policy"))):
            yield SelectedConfig(index, place, config)


def fetched_configs(request: Request, index: int) -> list[Object]:
    """What was fetched for a source."""
    return [resource.object for resource in request.required_resources.get(_requirement_name(index), ())]


def _select(name: str, source: Object, configs: list[Object], optional: bool) -> list[Object]:
    try:
        if _source_type(source) == "Reference":
            return _select_referenced(_name_of(source), configs, optional)
        return _select_matching(source["selector"], configs) if _source_type(source) == "Selector" else []
    except SelectionError as error:
        if _source_type(source) == "Selector":
            raise SelectionError(
                f"cannot process environment config {quote(name)} by selector: {error}"
            ) from None
        label = f"{quote(_name_of(source))} by reference, {quote(name)}"
        raise SelectionError(f"cannot process environment config {label}: {error}") from None


def _select_referenced(name: str, configs: list[Object], optional: bool) -> list[Object]:
    if not configs and not optional:
        raise SelectionError(f"Required environment config {quote(name)} not found")
    if len(configs) > 1:
        raise SelectionError(f"expected exactly one required resource {quote(name)}, got {len(configs)}")
    return configs


def _select_matching(selector: Object, configs: list[Object]) -> list[Object]:
    mode = selector.get("mode") or "Single"
    if mode == "Single":
        if len(configs) != 1:
            raise SelectionError(f"expected exactly one required resource, got {len(configs)}")
        return configs
    if mode != "Multiple":
        raise SelectionError(f"unknown selector mode {quote(mode)}")
    min_match = selector.get("minMatch", 0)
    if len(configs) < min_match:
        raise SelectionError(f"expected at least {min_match} required resources, got {len(configs)}")
    return sorted_by(configs, selector.get("sortByFieldPath") or DEFAULT_SORT_PATH)[
        : selector.get("maxMatch")
    ]


def _has_kind(environment: Object) -> bool:
    """Whether the environment has a kind, or a valid apiVersion."""
    api_version, kind = environment.get("apiVersion"), environment.get("kind")
    if isinstance(api_version, str):
        if api_version.count("/") > 1:
            return False
        if api_version.strip("/"):
            return True
    return isinstance(kind, str) and kind != ""


GO_TYPE = "v1beta1.Input"

_SOURCE = struct(
    "v1beta1.EnvironmentSource",
    {
        "type": text("v1beta1.EnvironmentSourceType"),
        "ref": struct("v1beta1.EnvironmentSourceReference", {"name": text()}),
        "selector": struct(
            "v1beta1.EnvironmentSourceSelector",
            {
                "mode": text("v1beta1.EnvironmentSourceSelectorModeType"),
                **selector_members("EnvironmentSource"),
            },
        ),
        "toFieldPath": text(),
    },
)

INPUT = struct(
    GO_TYPE,
    {
        **OBJECT,
        "spec": struct(
            "v1beta1.InputSpec",
            {
                "defaultData": free_form("map[string]v1.JSON"),
                "environmentConfigs": array("[]v1beta1.EnvironmentSource", _SOURCE, {}),
                "policy": struct("v1beta1.Policy", {"resolution": text("v1.ResolutionPolicy")}),
            },
        ),
    },
)
