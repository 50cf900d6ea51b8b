"""What a pipeline inspector is sent of requests and responses: JSON in which secrets are redacted.

The values of credentials, connection details and Secrets are replaced, their keys stay. What a function
copies from them to another field is not recognized.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crossply.compose.messages import NO_STATE, Request, Resource, Response, State
from crossply.compose.object_metadata import metadata_of
from crossply.functions.json_messages import write_request, write_response
from crossply.values import Object

_REDACTED = "**REDACTED**"
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def inspected_request(request: Request) -> bytes:
    """A RunFunctionRequest in JSON, without secrets."""
    return write_request(
        Request(
            _redact_state(request.observed),
            _redact_state(request.desired),
            input=request.input,
            context=request.context,
            extra_resources=_redact_selected(request.extra_resources),
            credentials={name: _redact_values(data) for name, data in request.credentials.items()},
            required_resources=_redact_selected(request.required_resources),
            required_schemas=request.required_schemas,
            capabilities=request.capabilities,
            tag=request.tag,
        )
    )


def inspected_response(response: Response) -> bytes:
    """A RunFunctionResponse in JSON, without secrets."""
    desired = response.desired
    return write_response(response._replace(desired=_redact_state(desired) if desired is not None else None))


def _redact_state(state: State) -> State:
    if state is NO_STATE:  # compared by identity
        return state
    composite = state.composite
    return State(
        _redact_resource(composite) if composite is not None else None,
        {name: _redact_resource(resource) for name, resource in state.resources.items()},
    )


def _redact_selected(
    selected: Mapping[str, Iterable[Resource]],
) -> dict[str, tuple[Resource, ...]]:
    return {name: tuple(map(_redact_resource, resources)) for name, resources in selected.items()}


def _redact_resource(resource: Resource) -> Resource:
    obj = resource.object
    if obj.get("kind") == "Secret" and obj.get("apiVersion") == "v1":
        resource = resource._replace(object=_redact_secret(obj), snapshot=None)
    if resource.connection_details:
        resource = resource._replace(connection_details=_redact_values(resource.connection_details))
    return resource


def _redact_secret(secret: Object) -> Object:
    secret = dict(secret)
    for field in ("data", "stringData"):
        if field in secret:
            values = secret[field]
            secret[field] = dict.fromkeys(values, _REDACTED) if isinstance(values, dict) else _REDACTED
    metadata = metadata_of(secret)
    annotations = metadata.get("annotations")
    if isinstance(annotations, dict) and _LAST_APPLIED in annotations:
        secret["metadata"] = {**metadata, "annotations": {**annotations, _LAST_APPLIED: _REDACTED}}
    return secret


def _redact_values(values: Mapping[str, bytes]) -> dict[str, bytes]:
    return dict.fromkeys(values, _REDACTED.encode())
