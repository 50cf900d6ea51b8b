"""The DeleteOptions of a request: in its body, and over them those in its query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from crossply.apiserver.endpoints.body_decoding import read_value
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.metadata_decoding import json_type
from crossply.apiserver.endpoints.query_options import dry_run_causes, dry_run_option, signed_option
from crossply.apiserver.endpoints.status_errors import Cause, bad_options, bad_request, no_such_kind
from crossply.values import Object

_POLICIES = ("Foreground", "Background", "Orphan")
_FIELD_TYPES: dict[str, tuple[type, str]] = {
    "gracePeriodSeconds": (int, "int64"),
    "preconditions": (dict, "v1.Preconditions"),
    "orphanDependents": (bool, "bool"),
    "propagationPolicy": (str, "v1.DeletionPropagation"),
    "dryRun": (list, "[]string"),
}


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """How to delete an object, and what must hold of it."""

    policy: str = ""
    uid: str = ""
    resource_version: str = ""
    dry_run: bool = False


def read_delete_options(call: Call) -> DeleteOptions:
    """The validated options of a request; raises StatusError."""
    body: Object = {}
    if call.body.strip():
        body = read_value(call, "DeleteOptions", "v1")
        _check_body(body)
    # Objects without processes need no time to end, so a grace period changes nothing.
    signed_option(call, "gracePeriodSeconds")
    causes = [
        *_policy_causes(call, body),
        *dry_run_causes(dry_run_option(call) or body.get("dryRun") or []),
    ]
    if causes:
        raise bad_options("DeleteOptions", causes)
    preconditions = body.get("preconditions") or {}
    return DeleteOptions(
        _policy(call, body),
        preconditions.get("uid") or "",
        preconditions.get("resourceVersion") or "",
        call.dry_run or bool(body.get("dryRun")),
    )


def _check_body(body: Object) -> None:
    """Refuse options of another kind, or with fields of wrong types."""
    kind, version = body.get("kind") or "DeleteOptions", body.get("apiVersion") or "meta.k8s.io/v1"
    if kind != "DeleteOptions":
        raise bad_request(no_such_kind(kind, version))
    for name, (expected, go_type) in _FIELD_TYPES.items():
        value = body.get(name)
        if value is not None and type(value) is not expected:
            field = f"Go struct field DeleteOptions.{name} of type {go_type}"
            raise bad_request(f"json: cannot unmarshal {json_type(value)} into {field}")


def _policy(call: Call, body: Object) -> str:
    """The propagation policy: what happens to dependents."""
    orphan = _orphan_dependents(call, body)
    if orphan is not None:
        return "Orphan" if orphan else "Background"
    return _propagation_policy(call, body) or ""


def _propagation_policy(call: Call, body: Object) -> str | None:
    policy = call.query.get("propagationPolicy", body.get("propagationPolicy"))
    return None if policy is None else str(policy)


def _orphan_dependents(call: Call, body: Object) -> bool | None:
    """The deprecated option orphanDependents."""
    if "orphanDependents" in call.query:
        return call.flag("orphanDependents")
    value = body.get("orphanDependents")
    return None if value is None else bool(value)


def _policy_causes(call: Call, body: Object) -> Iterator[Cause]:
    policy, field = _propagation_policy(call, body), "propagationPolicy"
    if policy is not None and _orphan_dependents(call, body) is not None:
        why = f'Invalid value: "{policy}": orphanDependents and deletionPropagation cannot be both set'
        yield Cause("FieldValueInvalid", why, field)
    if policy is not None and policy not in _POLICIES:
        supported = ", ".join(f'"{p}"' for p in (*_POLICIES, "nil"))
        why = f'Unsupported value: "{policy}": supported values: {supported}'
        yield Cause("FieldValueNotSupported", why, field)
