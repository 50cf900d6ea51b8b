"""Names: of composed resources, and of the field managers that write them."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256

from crossply.values import Object
from crossply.values.api_version import api_group

MAX_NAME = 63
SUFFIX = 12

COMPOSITE_MANAGER = "apiextensions.crossplane.io/composite"
COMPOSED_MANAGER = "apiextensions.crossplane.io/composed"

# RBAC names may hold colons, as in "system:node"; without them they follow the ordinary rules.
_RBAC_GROUP = "rbac.authorization.k8s.io"
_RBAC_KINDS = frozenset({"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"})
_EDGE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_INNER = _EDGE | {"-"}


def child_name(prefix: str, parent_uid: str, child: str) -> str:
    """The name of a composed resource: always the same for the same parent and child."""
    suffix = sha256((parent_uid + child).encode("utf-8", "surrogatepass")).hexdigest()[:SUFFIX]
    if prefix and not prefix.endswith("-"):
        prefix += "-"
    if len(prefix) + SUFFIX <= MAX_NAME:
        return prefix + suffix
    prefix_length = MAX_NAME - SUFFIX
    if prefix[prefix_length - 1] == "-":
        return prefix[:prefix_length] + suffix
    return prefix[: prefix_length - 1] + "-" + suffix


@lru_cache(maxsize=4096)
def is_valid_name(name: str, api_version: str, kind: str) -> bool:
    """Whether an object of this kind may have this name."""
    if kind in _RBAC_KINDS and api_group(api_version) == _RBAC_GROUP:
        name = name.replace(":", "")
    return is_subdomain(name)


def is_subdomain(name: str) -> bool:
    """Whether the name is an RFC 1123 subdomain."""
    return 0 < len(name) <= 253 and all(map(_is_label, name.split(".")))


def _is_label(label: str) -> bool:
    return bool(label) and label[0] in _EDGE and label[-1] in _EDGE and _INNER.issuperset(label)


def composed_manager(xr_name: str, xr: Object) -> str:
    """The field manager that applies the resources of one composite resource."""
    group = api_group(str(xr.get("apiVersion", "")))
    kind = str(xr.get("kind", ""))
    group_kind = f"{kind}.{group}" if group else kind
    return f"{COMPOSED_MANAGER}/{sha256((xr_name + group_kind).encode()).hexdigest()}"
