"""Roles and bindings of one case."""

from __future__ import annotations

import secrets
from typing import Any

from tests.support.api.client import Client, Object

RBAC = "/apis/rbac.authorization.k8s.io/v1"


GROUP = "rbac.authorization.k8s.io"


class Grants:
    """Roles and bindings that go with the case."""

    def __init__(self, admin: Client, ns: str) -> None:
        self.admin, self.ns = admin, ns
        self.cluster_wide: list[str] = []

    def role(self, name: str, rules: list[Object]) -> None:
        self.admin.post(
            f"{RBAC}/namespaces/{self.ns}/roles", {"metadata": {"name": name}, "rules": rules}
        ).ok(201)

    def cluster_role(self, rules: list[Object], **fields: Any) -> str:
        name = f"case-{secrets.token_hex(6)}"
        metadata = {"name": name, **fields.pop("metadata", {})}
        self.admin.post(f"{RBAC}/clusterroles", {"metadata": metadata, "rules": rules, **fields}).ok(201)
        self.cluster_wide.append(f"{RBAC}/clusterroles/{name}")
        return name

    def bind(self, user: str, role: str, kind: str = "Role") -> None:
        body = self.binding(user, role, kind)
        self.admin.post(f"{RBAC}/namespaces/{self.ns}/rolebindings", body).ok(201)

    def bind_everywhere(self, user: str, role: str) -> None:
        body = self.binding(user, role, "ClusterRole")
        self.admin.post(f"{RBAC}/clusterrolebindings", body).ok(201)
        self.cluster_wide.append(f"{RBAC}/clusterrolebindings/{body['metadata']['name']}")

    def binding(self, user: str, role: str, kind: str) -> Object:
        return {
            "metadata": {"name": f"case-{secrets.token_hex(6)}"},
            "subjects": [{"kind": "User", "name": user, "apiGroup": GROUP}],
            "roleRef": {"kind": kind, "name": role, "apiGroup": GROUP},
        }
