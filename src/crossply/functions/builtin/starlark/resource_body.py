"""The body of a resource that a script desires: its labels, and the replacement of a skipped one."""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.starlark.libraries import ArgumentError
from crossply.values import Object

_PREFIX = "crossplane.io/"
_PROPAGATED_LABELS = ("composite", "claim-name", "claim-namespace")


def with_labels(body: Object, labels: dict[str, str] | None, composite: Object) -> Object:
    """The body with labels that refer to the XR, and the given ones; None adds no labels at all."""
    if not isinstance(body, dict):
        raise ArgumentError("body must be a dict")
    obj = {**body, "metadata": dict(_dict(body.get("metadata")))}
    if labels is None:
        return obj if "metadata" in body else body.copy()
    metadata = obj["metadata"]
    metadata["labels"] = {**_dict(metadata.get("labels")), **_composite_labels(composite), **labels}
    return obj


def _composite_labels(composite: Object) -> dict[str, str]:
    metadata = _dict(composite.get("metadata"))
    labels = _dict(metadata.get("labels"))
    traces = {f"{_PREFIX}{name}": labels.get(f"{_PREFIX}{name}") for name in _PROPAGATED_LABELS}
    traces[f"{_PREFIX}composite"] = traces[f"{_PREFIX}composite"] or metadata.get("name")
    return {name: value for name, value in traces.items() if isinstance(value, str) and value}


def skipped_body(
    name: str, when: Any, reason: str, preserve: bool, observed: Object | None
) -> tuple[Object | None, Object]:
    """The body to desire instead of a skipped one, if any, and the result that reports it."""
    if not isinstance(when, bool):
        raise ArgumentError("when must be True or False")
    if preserve and observed is not None:
        return observed, {"message": f"Resource {name!r}: kept as it is observed", "severity": 3, "target": 1}
    if preserve:
        message = "is to be kept, but is not observed"
    elif when:
        message = "has no body; preserve_observed=True would keep it as it is"
    elif not reason:
        raise ArgumentError("skip_reason is needed where when is False")
    else:
        message = f"skipped: {reason}"
    return None, {"message": f"Resource {name!r}: {message}", "severity": 2, "target": 1}


def _dict(value: Any) -> Object:
    return value if isinstance(value, dict) else {}
