"""Whether what a user named exists, where no run of it is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

import orjson

from crossply.cli.framework.suggestions import nearest_command
from crossply.compose.object_metadata import name_of, namespace_of
from crossply.kube.client import Client
from crossply.kube.failures import KubeError
from crossply.kube.kind import Kind
from crossply.resource_tree.served_kinds import Kinds
from crossply.resource_tree.trace_target import parse_target
from crossply.runs.errors import RunNotFound


async def check_target(client: Client, resource: str, name: str, namespace: str) -> None:
    """Raise RunNotFound where there is no such kind or no such object."""
    target = parse_target(resource, name)
    kinds = Kinds(client)
    kind = await kinds.named(target.type)
    if kind is None:
        raise RunNotFound(
            f'no run of "{target.type}" is recorded, and the cluster has no such kind',
            hint=kinds.question(target.type)
            or nearest_command("runs", target.type)
            or "crossply runs lists the runs of all kinds, crossply runs --help the commands below it",
        )
    if target.name:
        await _check_name(client, kind, target.name, namespace)


async def _check_name(client: Client, kind: Kind, name: str, namespace: str) -> None:
    try:
        listed = await client.list(kind, namespace if kind.namespaced else "")
    except KubeError:
        return  # without the right to list there is nothing to suggest
    objects = [orjson.loads(item) for item in listed.items]
    namespaces = {name_of(obj): namespace_of(obj) for obj in objects}
    if name in namespaces:
        return
    place = f" in namespace {namespace}" if namespace and kind.namespaced else ""
    raise RunNotFound(
        f"no run of {kind.kind}/{name} is recorded, and there is no such object{place}",
        hint=_did_you_mean(kind, name, namespaces),
    )


def _did_you_mean(kind: Kind, name: str, namespaces: Mapping[str, str]) -> str:
    near = get_close_matches(name, namespaces, 1)
    if not near:
        return "crossply runs lists the runs of all XRs"
    flag = f" -n {namespaces[near[0]]}" if namespaces[near[0]] else ""
    return f"did you mean crossply runs {kind.kind.lower()}/{near[0]}{flag}?"
