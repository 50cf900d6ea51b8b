"""A claim becomes the composite resource that it would get, bound to it or standing on its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from crossply.convert.conversion import ConversionError
from crossply.values import Object

CLAIM_NAME = "crossplane.io/claim-name"
CLAIM_NAMESPACE = "crossplane.io/claim-namespace"
COMPOSITE = "crossplane.io/composite"

_LONGEST_PREFIX = 58


class Wishes(NamedTuple):
    """What the composite resource is to be like; what is empty is taken from the claim."""

    name: str = ""
    kind: str = ""
    direct: bool = False
    """On its own: without a reference to the claim, under the claim's own name."""
    uid: str = ""


def claim_to_composite(claim: Object, wishes: Wishes, suffix: Callable[[], str]) -> Object:
    """The composite resource of a claim; `suffix` makes the random end of its name, when it needs one."""
    if not claim:
        raise ConversionError("invalid Claim YAML: parsed object is empty")
    kind, version = _text(claim, "kind"), _text(claim, "apiVersion")
    if not kind:
        raise ConversionError("no kind section in Claim")
    if not version:
        raise ConversionError("no apiVersion in Claim")
    spec = claim.get("spec")
    if not isinstance(spec, dict):
        raise ConversionError("no spec section in Claim", hint="give a claim with its spec")
    return {
        "apiVersion": version,
        "kind": wishes.kind or f"X{kind}",
        "metadata": _metadata(claim, wishes, suffix),
        "spec": spec if wishes.direct else {**spec, "claimRef": _reference(claim, version, kind)},
    }


def _metadata(claim: Object, wishes: Wishes, suffix: Callable[[], str]) -> Object:
    metadata = _object(claim, "metadata")
    name = _text(metadata, "name")
    labels = _string_map(metadata, "labels")
    if not wishes.direct:
        labels = {**labels, CLAIM_NAME: name, CLAIM_NAMESPACE: _text(metadata, "namespace")}
    found: Object = {"name": wishes.name or (name if wishes.direct else _generated(name, suffix))}
    if labels:
        found["labels"] = {key: labels[key] for key in labels if key != COMPOSITE}
    annotations = _string_map(metadata, "annotations")
    if annotations:
        found["annotations"] = annotations
    if wishes.uid:
        found["uid"] = wishes.uid
    return found


def _generated(name: str, suffix: Callable[[], str]) -> str:
    return f"{name}-"[:_LONGEST_PREFIX] + suffix()


def _reference(claim: Object, version: str, kind: str) -> Object:
    metadata = _object(claim, "metadata")
    name, namespace = _text(metadata, "name"), _text(metadata, "namespace")
    return {"apiVersion": version, "kind": kind, "name": name, "namespace": namespace}


def _object(value: Object, key: str) -> Object:
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def _text(value: Object, key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""


def _string_map(value: Object, key: str) -> dict[str, str]:
    """Labels or annotations; as for Go, all of them or, when one is no text, none."""
    found: dict[str, Any] = _object(value, key)
    return found if all(isinstance(item, str) for item in found.values()) else {}
