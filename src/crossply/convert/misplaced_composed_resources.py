"""Composed resources that a namespaced composite resource cannot have: those of cluster-scoped kinds.

Kubernetes does not let an object in a namespace own one of the whole cluster, so Crossplane refuses to
compose it. Definitions and CRDs in the input say the scope of their kinds. Kubernetes' own kinds are known.
Managed resources of providers for Crossplane 1 are cluster-scoped; the groups of namespaced ones have `m` as
a part of their name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from crossply.convert.conversion_result import group_of
from crossply.convert.crossplane_v2 import CLUSTER, NAMESPACED
from crossply.values import Object

Scopes = Mapping[tuple[str, str], str]
"""The scope of kinds, by group and kind."""

_CLUSTER_GROUPS = frozenset(
    (
        "admissionregistration.k8s.io",
        "apiextensions.crossplane.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "flowcontrol.apiserver.k8s.io",
        "ops.crossplane.io",
        "pkg.crossplane.io",
    )
)
_CLUSTER_KINDS = {
    "": ("Namespace", "Node", "PersistentVolume"),
    "certificates.k8s.io": ("CertificateSigningRequest", "ClusterTrustBundle"),
    "networking.k8s.io": ("IngressClass", "IPAddress", "ServiceCIDR"),
    "node.k8s.io": ("RuntimeClass",),
    "protection.crossplane.io": ("ClusterUsage",),
    "rbac.authorization.k8s.io": ("ClusterRole", "ClusterRoleBinding"),
    "resource.k8s.io": ("DeviceClass", "ResourceSlice"),
    "scheduling.k8s.io": ("PriorityClass",),
    "storage.k8s.io": ("CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"),
}
_PROVIDER_DOMAINS = (".upbound.io", ".crossplane.io")
_NAMESPACED_CORE = ("protection.crossplane.io",)
_NAME_IN_TEMPLATE = re.compile(r"composition-resource-name: *(\S+)|setResourceNameAnnotation +[\"`]([^\"`]+)")


class Misplaced(NamedTuple):
    """A composed resource of a cluster-scoped kind: its name in the Composition, and its kind."""

    name: str
    api_version: str
    kind: str
    advice: str


def misplaced_resources(composition: Object, scopes: Scopes) -> list[Misplaced]:
    """The composed resources of a Composition that a namespaced composite resource cannot have."""
    misplaced = []
    for name, obj in _composed(composition):
        api_version, kind = obj.get("apiVersion"), obj.get("kind")
        if isinstance(api_version, str) and isinstance(kind, str):
            advice = _advice(api_version, kind, obj, scopes)
            if advice:
                misplaced.append(Misplaced(name, api_version, kind, advice))
    return misplaced


def _advice(api_version: str, kind: str, obj: Object, scopes: Scopes) -> str:
    """What to do about a kind that is cluster-scoped; empty for one that is not, or is not known."""
    group = group_of(obj)
    scope = scopes.get((group, kind))
    if scope is not None:
        return "make its definition Namespaced, too" if scope == CLUSTER else ""
    if group in _CLUSTER_GROUPS or kind in _CLUSTER_KINDS.get(group, ()):
        return "have it made by another, cluster-scoped XR"
    if _is_old_managed_resource(group, obj):
        namespaced = f"{_namespaced(group)}/{api_version.rpartition('/')[2]}"
        return f"use the provider's namespaced kind, usually of {namespaced}"
    return ""


def _is_old_managed_resource(group: str, obj: Object) -> bool:
    if "m" in group.split(".") or group in _NAMESPACED_CORE:
        return False
    spec = obj.get("spec")
    return group.endswith(_PROVIDER_DOMAINS) or (isinstance(spec, dict) and "forProvider" in spec)


def _namespaced(group: str) -> str:
    """`s3.aws.upbound.io` becomes `s3.aws.m.upbound.io`."""
    labels = group.split(".")
    return ".".join((*labels[:-2], "m", *labels[-2:]))


def _composed(composition: Object) -> Iterator[tuple[str, Object]]:
    spec = composition.get("spec")
    if not isinstance(spec, dict):
        return
    yield from _templates(spec.get("resources") or spec.get("to"))
    for step in _objects(spec.get("pipeline")):
        step_input = step.get("input")
        if isinstance(step_input, dict):
            yield from _templates(step_input.get("resources"))
            yield from _inline_templates(step_input.get("inline"))


def _templates(templates: Any) -> Iterator[tuple[str, Object]]:
    for index, template in enumerate(_objects(templates)):
        if isinstance(template.get("base"), dict):
            yield str(template.get("name") or f"resource-{index}"), template["base"]


def _inline_templates(inline: Any) -> Iterator[tuple[str, Object]]:
    """The objects in the text of Go templates, as far as their kinds are written out."""
    if not isinstance(inline, dict):
        return
    texts = [inline.get("template"), *_list(inline.get("templates"))]
    for text in texts:
        if isinstance(text, str):
            yield from filter(None, map(_written, re.split(r"^---", text, flags=re.M)))


def _written(document: str) -> tuple[str, Object] | None:
    fields = dict(re.findall(r"^(apiVersion|kind): *([^\s{}#]+) *$", document, re.M))
    if len(fields) < 2:
        return None
    match = _NAME_IN_TEMPLATE.search(document)
    return (match[1] or match[2] if match else ""), fields


def _objects(value: Any) -> Iterable[Object]:
    return (item for item in _list(value) if isinstance(item, dict))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def scopes_of_crds(objects: Iterable[Object]) -> dict[tuple[str, str], str]:
    """The scopes of the kinds that CRDs define."""
    scopes = {}
    for obj in objects:
        spec = obj.get("spec")
        if obj.get("kind") == "CustomResourceDefinition" and isinstance(spec, dict):
            names = spec.get("names")
            kind = names.get("kind") if isinstance(names, dict) else None
            if spec.get("scope") in (CLUSTER, NAMESPACED):
                scopes[str(spec.get("group")), str(kind)] = str(spec["scope"])
    return scopes
