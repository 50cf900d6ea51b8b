"""Checks of what the user of the kubeconfig may do, with the commands that grant what is missing."""

from __future__ import annotations

import asyncio
import shlex
from typing import NamedTuple

import orjson

from crossply.cli.doctor.finding import OK, WARN, Finding
from crossply.kube.client import Client
from crossply.kube.failures import KubeError
from crossply.runs.run_server_addresses import NAME, NAMESPACE
from crossply.values import Object


class Right(NamedTuple):
    """Something that a user does with a resource."""

    verb: str
    group: str
    resource: str

    @property
    def text(self) -> str:
        return f"{self.verb} {self.resource}" + (f".{self.group}" if self.group else "")


_EXTENSIONS, _PACKAGES = "apiextensions.crossplane.io", "pkg.crossplane.io"
SEE = (
    *(
        Right("list", _EXTENSIONS, name)
        for name in ("compositeresourcedefinitions", "compositions", "compositionrevisions")
    ),
    *(
        Right("list", _PACKAGES, name)
        for name in ("providers", "functions", "configurations", "providerrevisions")
    ),
    Right("list", "", "events"),
    Right("get", "apiextensions.k8s.io", "customresourcedefinitions"),
)
"""What trace, explain and the dashboard read."""
INSTALL = (
    *(Right("create", _EXTENSIONS, name) for name in ("compositeresourcedefinitions", "compositions")),
    *(Right("create", _PACKAGES, name) for name in ("providers", "functions", "configurations")),
)
"""What installing packages and definitions takes."""
CONTROL = (
    *(
        Right(verb, "apiextensions.k8s.io", "customresourcedefinitions")
        for verb in ("list", "watch", "create", "update")
    ),
    *(
        Right("update", _EXTENSIONS, f"{name}/status")
        for name in ("compositeresourcedefinitions", "compositionrevisions")
    ),
    Right("create", "", "events"),
    Right("create", "rbac.authorization.k8s.io", "clusterroles"),
    Right("update", "coordination.k8s.io", "leases"),
)
"""What `crossply controller` does itself, besides what is composed."""

_VIEWER = "run-viewer"


async def check_rights(client: Client, for_controller: bool) -> list[Finding]:
    """One finding for each purpose."""
    user = await user_of(client)
    subject = _subject(user)
    purposes = [
        (
            "right to see",
            SEE,
            f"kubectl create clusterrolebinding {{name}} --clusterrole=crossplane-view {subject}",
        ),
        (
            "right to install",
            INSTALL,
            f"kubectl create clusterrolebinding {{name}} --clusterrole=crossplane-admin {subject}",
        ),
    ]
    if for_controller:
        grant = f"kubectl create clusterrolebinding {{name}} --clusterrole=crossplane {subject}"
        purposes = [("rights of the controllers", CONTROL, grant)]
    return [await _purpose(client, user, *purpose) for purpose in purposes]


async def _purpose(client: Client, user: str, check: str, rights: tuple[Right, ...], fix: str) -> Finding:
    allowed = await asyncio.gather(*(_may(client, right) for right in rights))
    missing = [right.text for right, may in zip(rights, allowed, strict=True) if not may]
    if not missing:
        return Finding(check, OK, f"{user} has it")
    name = _binding_name(check, user)
    return Finding(check, WARN, f"{user} may not: {', '.join(missing)}", fix.format(name=name))


def commands_to_see_runs(user: str) -> str:
    """The commands that let a user find where recorded runs are served."""
    role = (
        f"kubectl create role {_VIEWER} -n {NAMESPACE} --verb=get --resource=configmaps"
        f" --resource-name={NAME}"
    )
    bind = f"kubectl create rolebinding {_binding_name(_VIEWER, user)} -n {NAMESPACE} --role={_VIEWER}"
    return f"{role} && {bind} {_subject(user)}"


def _binding_name(purpose: str, user: str) -> str:
    return shlex.quote(f"{purpose.replace(' ', '-')}-{user.rpartition(':')[2]}")


async def _may(client: Client, right: Right) -> bool:
    resource, _, subresource = right.resource.partition("/")
    attributes = {"verb": right.verb, "group": right.group, "resource": resource, "subresource": subresource}
    reply = await _review(
        client,
        "authorization.k8s.io",
        "SelfSubjectAccessReview",
        {"spec": {"resourceAttributes": attributes}},
    )
    return bool(reply["status"].get("allowed"))


async def user_of(client: Client) -> str:
    """The name of the user that the server takes us for."""
    try:
        reply = await _review(client, "authentication.k8s.io", "SelfSubjectReview", {})
    except KubeError:
        return "you"
    return str(reply["status"]["userInfo"].get("username") or "you")


async def _review(client: Client, group: str, kind: str, body: Object) -> Object:
    path = f"/apis/{group}/v1/{kind.lower()}s"
    reply = await client.request("POST", path, body={"apiVersion": f"{group}/v1", "kind": kind, **body})
    answer: Object = orjson.loads(reply.data)
    return answer


def _subject(user: str) -> str:
    account = user.removeprefix("system:serviceaccount:")
    return f"--serviceaccount={account}" if account != user else f"--user={shlex.quote(user)}"
