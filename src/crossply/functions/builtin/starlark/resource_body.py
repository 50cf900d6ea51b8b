"""The body of a resource that a script desires: its labels, and what becomes of one that is left out."""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.starlark.libraries import Wrong
from crossply.values import Object

_PREFIX = "crossplane.io/"
_CARRIED = ("composite", "claim-name", "claim-namespace")


def labelled(body: Object, labels: dict[str, str] | None, composite: Object) -> Object:
    """A body with the labels by which resources are traced to their XR, and others; None adds none."""
    if not isinstance(body, dict):
        raise Wrong("body must be a dict")
    obj = {**body, "metadata": dict(_dict(body.get("metadata")))}
    if labels is None:
        return obj if "metadata" in body else body.copy()
    metadata = obj["metadata"]
    metadata["labels"] = {**_dict(metadata.get("labels")), **_traces(composite), **labels}
    return obj


def _traces(composite: Object) -> dict[str, str]:
    metadata = _dict(composite.get("metadata"))
    found = _dict(metadata.get("labels"))
    traces = {f"{_PREFIX}{name}": found.get(f"{_PREFIX}{name}") for name in _CARRIED}
    traces[f"{_PREFIX}composite"] = traces[f"{_PREFIX}composite"] or metadata.get("name")
    return {name: value for name, value in traces.items() if isinstance(value, str) and value}


def skipped_body(
    name: str, when: Any, reason: str, preserve: bool, observed: Object | None
) -> tuple[Object | None, Object]:
    """What to desire instead of a body that is gated or absent, if anything, and what to tell of it."""
    if not isinstance(when, bool):
        raise Wrong("when must be True or False")
    if preserve and observed is not None:
        return observed, {"message": f"Resource {name!r}: kept as it is observed", "severity": 3, "target": 1}
    if preserve:
        story = "is to be kept, but is not observed"
    elif when:
        story = "has no body; preserve_observed=True would keep it as it is"
    elif not reason:
        raise Wrong("skip_reason is needed where when is False")
    else:
        story = f"skipped: {reason}"
    return None, {"message": f"Resource {name!r}: {story}", "severity": 2, "target": 1}


def _dict(value: Any) -> Object:
    return value if isinstance(value, dict) else {}
