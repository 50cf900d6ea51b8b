"""function-extra-resources: fetch resources that the XR does not own, for later steps to read.

The input (`extra-resources.fn.crossplane.io/v1beta1`) names resources or selects them by label, in named
groups. The first call returns requirements for them. The second puts them into the context: a list of objects
for each group.
"""

from __future__ import annotations

from collections.abc import Iterator

from crossply.compose.function_messages import (
    Request,
    Requirements,
    ResourceSelector,
    Response,
    fatal,
    respond,
)
from crossply.functions.builtin.input_decoder import OBJECT, InputError, array, decode, struct, text
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
from crossply.functions.reply_limits import Meter
from crossply.values import Object
from crossply.values.goquote import quote

CONTEXT_KEY = "apiextensions.crossplane.io/extra-resources"
GO_TYPE = "v1beta1.Input"
_LEAST_BYTES = 4
"""How many bytes an object in a list has at least."""

_SOURCE = struct(
    "v1beta1.ResourceSource",
    {
        "type": text("v1beta1.ResourceSourceType"),
        "ref": struct("v1beta1.ResourceSourceReference", {"name": text()}),
        "selector": struct("v1beta1.ResourceSourceSelector", selector_members("ResourceSource")),
        "kind": text(),
        "apiVersion": text(),
        "namespace": text(),
        "into": text(),
    },
)
_INPUT = struct(
    GO_TYPE,
    {
        **OBJECT,
        "spec": struct(
            "v1beta1.InputSpec",
            {
                "extraResources": array("[]v1beta1.ResourceSource", _SOURCE, {}),
                "policy": struct("v1beta1.Policy", {"resolution": text("v1.ResolutionPolicy")}),
            },
        ),
    },
)


def run(request: Request) -> Response:
    try:
        spec = read_input(request).get("spec", {})
    except InputError as error:
        return fatal(request, f"cannot get Function input from *v1.RunFunctionRequest: {error}")
    sources = spec.get("extraResources", [])
    try:
        requirements = build_requirements(request, sources)
    except SelectionError as error:
        return fatal(request, f"could not build extra resource requirements: {error}")
    if not request.required_resources:
        return respond(request, requirements=requirements)
    try:
        extra_resources = build_extra_resources(request, sources, is_optional(spec.get("policy")))
    except SelectionError as error:
        failed = fatal(request, f"verifying and sorting extra resources: {error}")
        return failed._replace(requirements=requirements)
    return respond(
        request, requirements=requirements, context={**(request.context or {}), CONTEXT_KEY: extra_resources}
    )


def read_input(request: Request) -> Object:
    """The decoded input; raises InputError."""
    return decode(request, _INPUT, GO_TYPE)


def build_requirements(request: Request, sources: list[Object]) -> Requirements:
    """One requirement for each group that selects something."""
    selectors = {}
    for source in sources:
        selector = _selector_of(request, source)
        if selector is not None:
            selectors[source.get("into", "")] = selector
    return Requirements(resources=selectors)


def build_extra_resources(request: Request, sources: list[Object], optional: bool) -> Object:
    """The objects of each group; empty groups have no entry."""
    extra_resources: dict[str, list[Object]] = {}
    meter = Meter()
    for source, chosen in zip(sources, select_resources(request, sources, optional), strict=True):
        meter.add(len(chosen) * _LEAST_BYTES)
        if chosen:
            extra_resources.setdefault(source.get("into", ""), []).extend(chosen)
    return extra_resources


def select_resources(request: Request, sources: list[Object], optional: bool) -> Iterator[list[Object]]:
    """The objects that each source selects from those that were fetched; raises SelectionError."""
    for source in sources:
        into = source.get("into", "")
        if into not in request.required_resources:
            raise SelectionError(f"cannot find expected extra resource {quote(into)}")
        yield _select(source, [resource.object for resource in request.required_resources[into]], optional)


def is_by_selector(source: Object) -> bool:
    return _source_type(source) == "Selector"


def _source_type(source: Object) -> str:
    return source.get("type") or "Reference"


def _selector_of(request: Request, source: Object) -> ResourceSelector | None:
    selector = ResourceSelector(
        source.get("apiVersion", ""), source.get("kind", ""), namespace=source.get("namespace")
    )
    if _source_type(source) == "Reference":
        if "ref" not in source:
            raise SelectionError("ref cannot be nil for type 'Reference'")
        return selector._replace(match_name=source["ref"].get("name", ""))
    if not is_by_selector(source):
        return None
    labels = _labels_of(request, source)
    return selector._replace(match_labels=labels) if labels else None


def _labels_of(request: Request, source: Object) -> dict[str, str]:
    if "selector" not in source:
        raise SelectionError("selector cannot be nil for type 'Selector'")
    composite = request.observed.composite
    labels = {}
    for matcher in source["selector"].get("matchLabels", ()):
        value = None
        if matcher_type(matcher) == "Value":
            value = literal_label(matcher)
        elif matcher_type(matcher) == "FromCompositeFieldPath":
            value = label_from(composite.object if composite else {}, matcher, "field path")
        if value is not None:
            labels[matcher.get("key", "")] = value
    return labels


def _select(source: Object, objects: list[Object], optional: bool) -> list[Object]:
    into = quote(source.get("into", ""))
    if _source_type(source) == "Reference":
        if not objects and not optional:
            raise SelectionError(f"Required extra resource {into} not found")
        if len(objects) > 1:
            raise SelectionError(f"expected exactly one extra resource {into}, got {len(objects)}")
        return objects
    if not is_by_selector(source):
        return []
    selector = source["selector"]
    min_match = selector.get("minMatch", 0)
    if len(objects) < min_match:
        raise SelectionError(f"expected at least {min_match} extra resources {into}, got {len(objects)}")
    return sorted_by(objects, selector.get("sortByFieldPath") or DEFAULT_SORT_PATH)[
        : selector.get("maxMatch")
    ]
