"""A claim becomes the composite resource that it would get, bound to it or standing on its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from crossply.convert.conversion_result import ConversionError
from crossply.values import Object

CLAIM_NAME = "crossplane.io/claim-name"
CLAIM_NAMESPACE = "crossplane.io/claim-namespace"
COMPOSITE = "crossplane.io/composite"

_LONGEST_PREFIX = 58


class CompositeOptions(NamedTuple):
    """Options of the composite resource; empty ones are taken from the claim."""

    name: str = ""
    kind: str = ""
    direct: bool = False
    """On its own: without a reference to the claim, under the claim's own name."""
    uid: str = ""


def claim_to_composite(claim: Object, options: CompositeOptions, suffix: Callable[[], str]) -> Object:
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
        "kind": options.kind or f"X{kind}",
        "metadata": _metadata(claim, options, suffix),
        "spec": spec if options.direct else {**spec, "claimRef": _reference(claim, version, kind)},
    }


def _metadata(claim: Object, options: CompositeOptions, suffix: Callable[[], str]) -> Object:
    claim_metadata = _object(claim, "metadata")
    name = _text(claim_metadata, "name")
    labels = _string_map(claim_metadata, "labels")
    if not options.direct:
        labels = {**labels, CLAIM_NAME: name, CLAIM_NAMESPACE: _text(claim_metadata, "namespace")}
    metadata: Object = {"name": options.name or (name if options.direct else _generated(name, suffix))}
    if labels:
        metadata["labels"] = {key: labels[key] for key in labels if key != COMPOSITE}
    annotations = _string_map(claim_metadata, "annotations")
    if annotations:
        metadata["annotations"] = annotations
    if options.uid:
        metadata["uid"] = options.uid
    return metadata


def _generated(name: str, suffix: Callable[[], str]) -> str:
    return f"{name}-"[:_LONGEST_PREFIX] + suffix()


def _reference(claim: Object, version: str, kind: str) -> Object:
    metadata = _object(claim, "metadata")
    name, namespace = _text(metadata, "name"), _text(metadata, "namespace")
    return {"apiVersion": version, "kind": kind, "name": name, "namespace": namespace}


def _object(value: Object, key: str) -> Object:
    member = value.get(key)
    return member if isinstance(member, dict) else {}


def _text(value: Object, key: str) -> str:
    member = value.get(key)
    return member if isinstance(member, str) else ""


def _string_map(value: Object, key: str) -> dict[str, str]:
    """Labels or annotations; as for Go, all of them or, when one is no text, none."""
    members: dict[str, Any] = _object(value, key)
    return members if all(isinstance(item, str) for item in members.values()) else {}
