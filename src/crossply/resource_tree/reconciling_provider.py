"""Which Provider reconciles a resource, and why it does not: asked only for resources that are not ready.

The CRD of a managed resource is controlled by a revision of its Provider. A kind that is not served may have
a ManagedResourceDefinition that is not active.
"""

from __future__ import annotations

import asyncio
import shlex

import orjson

from crossply.kinds.activation_policy import activates
from crossply.resource_tree.node import NOT_FOUND, NOT_SERVED, Node, Origin, Reference
from crossply.resource_tree.object_reader import Reader
from crossply.resource_tree.trace_target import TraceError
from crossply.values import Object

_EXTENSIONS = "apiextensions.crossplane.io"
_DEFINITION = (f"{_EXTENSIONS}/v1alpha1", "ManagedResourceDefinition")
_POLICY = (f"{_EXTENSIONS}/v1alpha1", "ManagedResourceActivationPolicy")
_PROVIDER = ("pkg.crossplane.io/v1", "Provider")
_REVISION = ("pkg.crossplane.io/v1", "ProviderRevision")
_CRD = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
_PACKAGE = "pkg.crossplane.io/package"
_NOT_MANAGED = (_EXTENSIONS, "pkg.crossplane.io", "ops.crossplane.io", "protection.crossplane.io")
_MOST_DEFINITIONS = 100
"""So many definitions of one API group are read to find the one of a kind."""

_OLD_CONDITIONS = Origin(
    "its CustomResourceDefinition belongs to no Provider: what it reports is old, unless something else "
    "reconciles it",
    "kubectl get providers.pkg.crossplane.io",
)


class Origins:
    """Finds the origins of kinds, each of them once for a tree."""

    def __init__(self, reader: Reader, with_ready: bool = False) -> None:
        """With `with_ready`, also of resources that were ready before their Provider stopped."""
        self._reader = reader
        self._with_ready = with_ready

    async def add(self, root: Node) -> None:
        """Set the origin of every resource that no controller reconciles."""
        nodes = [node for node in root.walk() if _may_have_provider(node) and self._is_requested(node)]
        kinds: dict[tuple[str, str], list[Node]] = {}
        for node in nodes:
            kinds.setdefault((node.group, node.reference.kind), []).append(node)
        await asyncio.gather(*(self._add(alike) for alike in kinds.values()))

    def _is_requested(self, node: Node) -> bool:
        return self._with_ready or node.problem is not None or node.condition("Ready").status != "True"

    async def _add(self, nodes: list[Node]) -> None:
        try:
            if nodes[0].problem:
                origin, is_running = await self._of_unserved(nodes[0]), False
            else:
                origin, is_running = await self._of_served(nodes[0])
        except TraceError:
            return  # a user who may not read Providers sees what they may read
        for node in nodes:
            if not is_running or not node.object.get("status"):
                node.origin = origin

    async def _of_served(self, node: Node) -> tuple[Origin | None, bool]:
        """Also whether the Provider runs."""
        assert node.kind is not None
        crd = await self._reader.get(Reference(*_CRD, node.kind.resource))
        revision = _owner(crd, _REVISION[1])
        if crd.problem or (not revision and not _is_managed(node)):
            return None, False
        if not revision and node.object.get("status"):
            return (_OLD_CONDITIONS if self._with_ready else None), False
        if not revision:
            why = "its CustomResourceDefinition belongs to no Provider: install the one that reconciles it"
            return Origin(why, "kubectl get providers.pkg.crossplane.io"), False
        return await self._of_revision(revision)

    async def _of_revision(self, name: str) -> tuple[Origin, bool]:
        revision = await self._reader.get(Reference(*_REVISION, name))
        labels = revision.metadata.get("labels")
        package = str(labels.get(_PACKAGE) or "") if isinstance(labels, dict) else ""
        provider = await self._reader.get(Reference(*_PROVIDER, package or name.rpartition("-")[0]))
        return provider_origin(provider)

    async def _of_unserved(self, node: Node) -> Origin | None:
        definition = await self._definition(node)
        if definition is None:
            return await self._of_unhealthy_provider()
        name = definition.reference.name
        if (definition.object.get("spec") or {}).get("state") == "Active":
            message = definition.condition("Established").message or "it is not established yet"
            return Origin(f"its ManagedResourceDefinition {name} is active: {message}", _describe(definition))
        policies = [policy.object for policy in await self._all(_POLICY)]
        provider = _owner(definition, _PROVIDER[1])
        return inactive_origin(name, provider, policies)

    async def _definition(self, node: Node) -> Node | None:
        """The definition of a kind; its name is only known in part."""
        of_group = [
            definition
            for definition in await self._all(_DEFINITION, metadata_only=True)
            if definition.reference.name.partition(".")[2] == node.group
        ]
        for definition in of_group[:_MOST_DEFINITIONS]:
            definition_node = await self._reader.get(Reference(*_DEFINITION, definition.reference.name))
            names = (definition_node.object.get("spec") or {}).get("names") or {}
            if names.get("kind") == node.reference.kind:
                return definition_node
        return None

    async def _of_unhealthy_provider(self) -> Origin | None:
        for provider in await self._all(_PROVIDER):
            origin, is_running = provider_origin(provider)
            if not is_running:
                name = provider.reference.name
                state = origin.why.partition(", which ")[2]
                return Origin(f"Provider {name} may bring it, which {state}", origin.command, name)
        return None

    async def _all(self, kind: tuple[str, str], metadata_only: bool = False) -> list[Node]:
        served = await self._reader.kind(*kind)
        return [] if served is None else await self._reader.everything(served, "", "", metadata_only)


def provider_origin(provider: Node) -> tuple[Origin, bool]:
    """Why a Provider does not reconcile its resources, and whether it runs nevertheless."""
    name = provider.reference.name
    if provider.problem:
        gone = "is no longer installed" if provider.problem.sort == NOT_FOUND else provider.problem.message
        return Origin(f"its kind comes from Provider {name}, which {gone}", _describe(provider), name), False
    installed, healthy = provider.condition("Installed"), provider.condition("Healthy")
    if installed.status != "True":
        state = f"is not installed: {_text(installed.reason, installed.message)}"
    elif healthy.status != "True":
        state = f"is not running: {_text(healthy.reason, healthy.message)}"
    elif healthy.reason == "AwaitingActivation":
        state = "is not running: it waits until one of its kinds is activated"
    else:
        why = f"its kind comes from Provider {name}, which is healthy and has not reconciled it yet"
        return Origin(why, provider=name), True
    return Origin(f"its kind comes from Provider {name}, which {state}", _describe(provider), name), False


def inactive_origin(definition: str, provider: str, policies: list[Object]) -> Origin:
    """What would activate a definition."""
    origin = f" of Provider {provider}" if provider else ""
    why = f"its ManagedResourceDefinition {definition}{origin} is inactive"
    matching = [policy["metadata"]["name"] for policy in policies if activates(policy, definition)]
    if matching:
        policy = f"managedresourceactivationpolicies.{_EXTENSIONS} {matching[0]}"
        message = f"ManagedResourceActivationPolicy {matching[0]} is to activate it, and has not yet"
        return Origin(f"{why}; {message}", f"kubectl describe {policy}")
    if policies:
        policy_name = policies[0]["metadata"]["name"]
        patch = [{"op": "add", "path": "/spec/activate/-", "value": definition}]
        words = shlex.quote(orjson.dumps(patch).decode())
        command = f"kubectl patch mrap {policy_name} --type=json -p {words}"
    else:
        words = shlex.quote(orjson.dumps({"spec": {"state": "Active"}}).decode())
        command = f"kubectl patch mrd {definition} --type=merge -p {words}"
    message = f"a ManagedResourceActivationPolicy whose spec.activate has {definition} activates it"
    return Origin(f"{why}; {message}", command)


def _may_have_provider(node: Node) -> bool:
    """Whether a Provider may reconcile a resource, or should."""
    if node.problem:
        return node.problem.sort == NOT_SERVED and "." in node.group
    if node.kind is None or "." not in node.group or node.group.endswith(".k8s.io"):
        return False
    return node.group not in _NOT_MANAGED


def _is_managed(node: Node) -> bool:
    spec = node.object.get("spec")
    return isinstance(spec, dict) and "forProvider" in spec


def _owner(node: Node, kind: str) -> str:
    """The name of an owner of a kind; that which controls it where there are several."""
    references = node.metadata.get("ownerReferences")
    owners = [owner for owner in references or () if owner.get("kind") == kind]
    owners.sort(key=lambda owner: owner.get("controller") is not True)
    return str(owners[0].get("name") or "") if owners else ""


def _text(reason: str, message: str) -> str:
    return ": ".join(part for part in (reason, message) if part) or "it has not reported yet"


def _describe(node: Node) -> str:
    kind = node.kind.resource if node.kind else node.reference.kind
    return f"kubectl describe {kind} {node.reference.name}"
