"""Checks of the control plane in the cluster: versions, packages, definitions, and the recorder of runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import orjson

from crossply.cli.doctor.finding import FAIL, OK, WARN, Finding
from crossply.cli.doctor.rights import commands_to_see_runs, user_of
from crossply.cli.version import ServerVersionUnknown, server_version
from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.failures import Forbidden, KubeError
from crossply.kube.kind import Kind
from crossply.resource_tree.node import Node
from crossply.version import __version__

_PACKAGES = "pkg.crossplane.io"
PACKAGE_KINDS = tuple(
    Kind(_PACKAGES, "v1", name, f"{name.lower()}s", False)
    for name in ("Provider", "Function", "Configuration")
)
_DEFINITION = Kind(
    "apiextensions.crossplane.io", "v1", "CompositeResourceDefinition", "compositeresourcedefinitions", False
)


async def check_version(client: Client) -> Finding:
    """The version of the control plane beside ours."""
    try:
        version = await server_version(client)
    except ServerVersionUnknown:
        return Finding(
            "control plane",
            FAIL,
            "no control plane is installed in the cluster",
            "crossply up runs one here; docs/how-to/install-on-kubernetes.md installs it",
        )
    except Forbidden as problem:
        return _unchecked("versions", problem)
    text = f"client v{__version__}, control plane {version}"
    if version.removeprefix("v").split(".")[:2] == __version__.split(".")[:2]:
        return Finding("versions", OK, text)
    return Finding("versions", WARN, text, "use the client of the control plane's version")


class Packages(NamedTuple):
    """All packages that can be read, and why some cannot."""

    nodes: list[Node]
    refusal: Forbidden | None = None


async def load_packages(client: Client) -> Packages:
    """All packages."""
    try:
        return Packages([node for kind in PACKAGE_KINDS for node in await _all(client, kind)])
    except Forbidden as refusal:
        return Packages([], refusal)


def check_packages(loaded: Packages) -> Iterator[Finding]:
    """Those that do not work, one by one, and how many do."""
    if loaded.refusal:
        yield _unchecked("packages", loaded.refusal)
        return
    packages, healthy = loaded.nodes, 0
    for package in packages:
        reference = package.reference
        conditions = [package.condition(name) for name in ("Installed", "Healthy")]
        wrong = [condition for condition in conditions if condition.status != "True"]
        if not wrong:
            healthy += 1
            continue
        text = (
            ": ".join(part for part in (wrong[0].reason, wrong[0].message) if part)
            or "it has not reported yet"
        )
        name = f"{reference.kind.lower()}/{reference.name}"
        yield Finding(name, FAIL, " ".join(text.split()), f"crossply explain {name}")
    yield Finding("packages", OK, f"{healthy} of {len(packages)} installed and healthy")


async def check_definitions(client: Client) -> list[Finding]:
    """Definitions whose kinds are not served."""
    try:
        nodes = await _all(client, _DEFINITION)
    except Forbidden as refusal:
        return [_unchecked("definitions", refusal)]
    broken = [node for node in nodes if node.condition("Established").status != "True"]
    findings = [
        Finding(
            f"xrd/{node.reference.name}",
            FAIL,
            "it is not established: " + (node.condition("Established").message or "see its events"),
            f"kubectl describe xrd {node.reference.name}",
        )
        for node in broken
    ]
    return [*findings, Finding("definitions", OK, f"{len(nodes) - len(broken)} of {len(nodes)} established")]


async def check_recorder(client: Client) -> Finding:
    """Whether runs are recorded, for `crossply runs`."""
    from crossply.runs.client import RunClient

    try:
        runs = await RunClient(client).list_runs(limit=1)
    except Forbidden as problem:
        return Finding("recorder", WARN, str(problem), commands_to_see_runs(await user_of(client)))
    except CrossplyError as problem:
        return Finding("recorder", WARN, str(problem), problem.hint)
    return Finding("recorder", OK, "it has recorded runs" if runs else "it has recorded no run yet")


def _unchecked(check: str, problem: KubeError) -> Finding:
    return Finding(check, WARN, f"cannot be checked: {problem}", "ask an administrator for the right")


async def _all(client: Client, kind: Kind) -> list[Node]:
    """Everything of a kind; nothing where it is not served. Raises Forbidden."""
    try:
        listed = await client.list(kind)
    except Forbidden:
        raise
    except KubeError:
        return []
    return [
        Node({"kind": kind.kind, "apiVersion": kind.api_version, **orjson.loads(item)}, kind)
        for item in listed.items
    ]
