"""What somebody does who installs the chart, as far as it needs no nodes: the account and its rights."""

from __future__ import annotations

import asyncio
import pathlib
from typing import Any

from crossply.kube.client import Client
from crossply.kube.config import load_config
from crossply.kube.discovery import Discovery
from crossply.kube.kind import Kind
from crossply.values import Object, yaml
from tests.support.paths import ROOT

MANIFESTS = ROOT / "deploy" / "manifests" / "install.yaml"
RUNS = MANIFESTS.with_name("runs.yaml")
"""What serving recorded runs needs beside."""
NAMESPACE, ACCOUNT = "crossplane-system", "crossply"
CLUSTER_ROLE = Kind("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", False)
_ROLE = Kind(CLUSTER_ROLE.group, "v1", "Role", "roles", True)
_ROLE_BINDING = Kind(CLUSTER_ROLE.group, "v1", "RoleBinding", "rolebindings", True)
_ACCESS_REVIEW = Kind("authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews", False)
_RUN_BY_NODES = ("Deployment", "PodDisruptionBudget", "Service")
_HOURS = 6 * 3600
_SHAPE = """\
apiVersion: v1
kind: Config
current-context: crossply
clusters: [{{name: it, cluster: {{server: "{server}", certificate-authority: "{authority}"}}}}]
users: [{{name: crossply, user: {{token: "{token}"}}}}]
contexts: [{{name: crossply, context: {{cluster: it, user: crossply}}}}]
"""


def manifests(path: pathlib.Path = MANIFESTS) -> list[Object]:
    """All objects of the plain manifests."""
    return [document.value for document in yaml.read_stream(path.read_text()) if document.value]


def controller_flags() -> list[str]:
    """The flags of the controllers in the Deployment, without those about a Service that leads to Pods."""
    [deployment] = [obj for obj in manifests() if obj["kind"] == "Deployment"]
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    return [word for word in container["args"] if not word.startswith("--webhook-service")]


def composing(*rules: Object, name: str = "test:composed") -> Object:
    """A role that lets the control plane compose more."""
    labels = {"rbac.crossplane.io/aggregate-to-crossplane": "true"}
    return {
        "apiVersion": CLUSTER_ROLE.api_version,
        "kind": CLUSTER_ROLE.kind,
        "metadata": {"name": name, "labels": labels},
        "rules": list(rules),
    }


def allowing(groups: list[str], resources: list[str]) -> Object:
    """A rule for kinds that are composed."""
    verbs = ["get", "list", "watch", "create", "update", "patch", "delete"]
    return {"apiGroups": groups, "resources": resources, "verbs": verbs}


async def let_impersonate(client: Client, namespace: str, name: str) -> None:
    """Let the controllers compose on behalf of a service account, as the chart does."""
    rule = {"apiGroups": [""], "resources": ["serviceaccounts"], "verbs": ["impersonate"]}
    metadata = {"name": f"crossply-composes-as-{name}", "namespace": namespace}
    role = {"metadata": metadata, "rules": [{**rule, "resourceNames": [name]}]}
    reference = {"apiGroup": _ROLE.group, "kind": "Role", "name": metadata["name"]}
    subject = {"kind": "ServiceAccount", "namespace": NAMESPACE, "name": ACCOUNT}
    binding = {"metadata": metadata, "roleRef": reference, "subjects": [subject]}
    for kind, obj in ((_ROLE, role), (_ROLE_BINDING, binding)):
        await client.apply(kind, {"apiVersion": kind.api_version, "kind": kind.kind, **obj}, "installer")


async def may_compose(client: Client, kind: Kind) -> bool:
    """Whether the account of the controllers may write objects of a kind by now."""
    resource = {"group": kind.group, "resource": kind.plural, "verb": "patch"}
    spec = {"user": f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}", "resourceAttributes": resource}
    return bool((await client.create(_ACCESS_REVIEW, {"spec": spec}))["status"]["allowed"])


def install(kubeconfig: str, authority: str, directory: pathlib.Path, *more: Object) -> str:
    """Apply the manifests and `more`; the kubeconfig of the account that the controllers run as."""
    return asyncio.run(_install(kubeconfig, authority, directory, more))


async def _install(kubeconfig: str, authority: str, directory: pathlib.Path, more: tuple[Object, ...]) -> str:
    async with Client(load_config(kubeconfig)) as client:
        return await install_objects(client, authority, directory, [*manifests(), *more], force=True)


async def install_objects(
    client: Client, authority: str, directory: pathlib.Path, objects: list[Object], force: bool = False
) -> str:
    """Apply what the chart makes; the kubeconfig of the account. `force` takes over what others installed."""
    discovery = Discovery(client)
    for obj in objects:
        if obj["kind"] not in _RUN_BY_NODES:
            kind = await discovery.kind_for(obj["apiVersion"], obj["kind"])
            await client.apply(kind, obj, "installer", force=force)
    path = directory / "crossply.kubeconfig"
    token = await _token(client)
    path.write_text(_SHAPE.format(server=client.config.server, authority=authority, token=token))
    return str(path)


async def _token(client: Client) -> Any:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}
    path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{ACCOUNT}/token"
    reply = await client.request("POST", path, body={**body, "spec": {"expirationSeconds": _HOURS}})
    return yaml.load(reply.data.decode())["status"]["token"]
