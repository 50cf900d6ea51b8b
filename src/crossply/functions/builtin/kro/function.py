"""function-kro: evaluate a resource graph in a confined process, and answer with what it desires.

The input is `kind: ResourceGraph` of `kro.fn.crossplane.io/v1alpha1`.
"""

from __future__ import annotations

from typing import Any

from crossply.compose.function_messages import (
    READY_FALSE,
    READY_TRUE,
    READY_UNSPECIFIED,
    SEVERITY_FATAL,
    TARGET_COMPOSITE,
    Request,
    Requirements,
    Resource,
    ResourceSelector,
    Response,
    Result,
    State,
    fatal,
    respond,
)
from crossply.functions.builtin.input_decoder import (
    OBJECT,
    InputError,
    array,
    decode,
    mapping,
    struct,
    text,
)
from crossply.functions.builtin.kro.expressions import GraphError
from crossply.functions.builtin.kro.kinds import SchemasPending, kinds_of, requirements, schemas_json
from crossply.functions.builtin.sandbox.pool import ProgramError, ask
from crossply.functions.builtin.sandbox.request_json import as_json
from crossply.values import Object
from crossply.values.protobuf_struct import StructError, to_wire

_LANGUAGE = "crossply.functions.builtin.kro.worker"
_LENGTH_BYTES = 4
_READY = {None: READY_UNSPECIFIED, True: READY_TRUE, False: READY_FALSE}
_NO_SCHEMAS = (
    "; render gets schemas from --xrd, from CustomResourceDefinitions in --required-resources, and from "
    "--required-schemas"
)


def run(request: Request) -> Response:
    try:
        graph = read_input(request)
    except InputError as error:
        return fatal(request, f"cannot get Function input from *v1.RunFunctionRequest: {error}")
    composite = request.observed.composite.object if request.observed.composite else {}
    try:
        kinds = kinds_of(composite, graph["resources"])
    except GraphError as error:
        return fatal(request, str(error))
    required = requirements(request, kinds)
    try:
        schemas = schemas_json(request, kinds)
    except SchemasPending:
        return respond(request, requirements=required)
    except GraphError as error:
        return _failed(request, required, f"cannot process schemas: {error}{_NO_SCHEMAS}")
    return _evaluated(request, graph, composite, schemas, required)


def _evaluated(
    request: Request, graph: Object, composite: Object, schemas: bytes, required: Requirements
) -> Response:
    import orjson

    try:
        question = as_json(question_of(request, graph, composite))
        size = len(schemas).to_bytes(_LENGTH_BYTES, "big")
        reply: Any = orjson.loads(ask(_LANGUAGE, as_json(graph), size + schemas + question))
        if "fatal" in reply:
            return _failed(request, required, reply["fatal"])
        return _response(request, composite, to_wire(reply), required)
    except ProgramError as error:
        return _failed(request, required, f"cannot evaluate resource graph: {error}")
    except StructError as error:
        return _failed(request, required, f"cannot set desired composed resources: {error}")
    except TypeError as error:  # of the JSON encoder: invalid Unicode
        return _failed(request, required, f"cannot evaluate resource graph: {error}")


def question_of(request: Request, graph: Object, composite: Object) -> Object:
    external = {
        resource["id"]: [item.object for item in request.required_resources.get(resource["id"], ())]
        for resource in graph["resources"]
        if "externalRef" in resource
    }
    observed = {name: resource.object for name, resource in request.observed.resources.items()}
    return {"composite": composite, "observed": observed, "external": external}


def _response(request: Request, composite: Object, reply: Object, required: Requirements) -> Response:
    selectors = {name: _selector(selector) for name, selector in reply["selectors"].items()}
    desired = dict(request.desired.resources)
    for name, (obj, ready) in reply["resources"].items():
        desired[name] = Resource(obj, ready=_READY[ready])
    # Only the status fields of the graph: the composite must not own what others set.
    own: Object = {key: composite[key] for key in ("apiVersion", "kind") if key in composite}
    if reply["status"]:
        own["status"] = reply["status"]
    return respond(
        request,
        desired=State(Resource(own), desired),
        requirements=required._replace(resources={**required.resources, **selectors}),
    )


def _selector(selector: Object) -> ResourceSelector:
    return ResourceSelector(
        selector["apiVersion"],
        selector["kind"],
        selector.get("name"),
        selector.get("labels"),
        selector["namespace"],
    )


def _failed(request: Request, required: Requirements, message: str) -> Response:
    result = Result(SEVERITY_FATAL, message, None, TARGET_COMPOSITE)
    return respond(request, requirements=required, results=(result,))


def _raw(value: Any) -> Any:
    """Any JSON, which is validated later."""
    return value


_TEXTS = array("[]string", text(), "")
_SELECTOR = struct(
    "v1.LabelSelector",
    {
        "matchLabels": mapping("map[string]string", text(), ""),
        "matchExpressions": array(
            "[]v1.LabelSelectorRequirement",
            struct(
                "v1.LabelSelectorRequirement",
                {"key": text(), "operator": text("v1.LabelSelectorOperator"), "values": _TEXTS},
            ),
            {},
        ),
    },
)
_EXTERNAL = struct(
    "v1alpha1.ExternalRef",
    {
        "apiVersion": text(),
        "kind": text(),
        "metadata": struct(
            "v1alpha1.ExternalRefMetadata",
            {"name": text(), "namespace": text(), "selector": _SELECTOR},
        ),
    },
)
_RESOURCE = struct(
    "v1alpha1.Resource",
    {
        "id": text(),
        "template": _raw,
        "externalRef": _EXTERNAL,
        "readyWhen": _TEXTS,
        "includeWhen": _TEXTS,
        "forEach": array("[]v1alpha1.ForEachDimension", mapping("v1alpha1.ForEachDimension", text(), ""), {}),
    },
)
_GO_TYPE = "v1alpha1.ResourceGraph"
_INPUT = struct(
    _GO_TYPE, {**OBJECT, "status": _raw, "resources": array("[]*v1alpha1.Resource", _RESOURCE, {})}
)


def read_input(request: Request) -> Object:
    """The decoded input. An external reference has all of the fields that Go writes."""
    decoded = decode(request, _INPUT, _GO_TYPE)
    return {
        "status": decoded.get("status") or {},
        "resources": [_completed(resource) for resource in decoded.get("resources", [])],
    }


def _completed(resource: Object) -> Object:
    external = resource.get("externalRef")
    if external is None:
        return {"id": "", **resource}
    reference = {"apiVersion": "", "kind": "", "metadata": {}, **external}
    metadata = {name: value for name, value in reference["metadata"].items() if value != ""}
    return {"id": "", **resource, "externalRef": {**reference, "metadata": metadata}}
