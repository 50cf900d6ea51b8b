"""Objects: a manifest that is applied to a cluster, and observed there."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import orjson

from crossply.errors import CrossplyError
from crossply.kube.failures import KubeError
from crossply.provider import ConnectionDetails, Context, Doc, ExternalError, Observation, managed
from crossply.provider.decode import decode
from crossply.provider.managed_kind import managed_kind
from crossply.values import Object as Manifest
from crossply.values.field_path import get

from . import references
from .clusters import LOCAL, Cluster, cluster_of
from .object_spec import ObjectSpec
from .provider_config import GROUP, ProviderConfig
from .readiness import readiness

WRITING = frozenset({"*", "Create", "Update"})


@managed(
    group=GROUP,
    version="v1alpha2",
    kind="Object",
    scope="Cluster",
    config=ProviderConfig,
    categories=("crossplane", "managed", "kubernetes"),
    creation_grace_period=0.0,
)
class Object:
    """An object of a Kubernetes cluster."""

    Spec = ObjectSpec

    @dataclass
    class Parameters:
        manifest: Annotated[dict[str, Any], Doc("The object. Its name is by default that of the Object.")]
        deletion_propagation_policy: Annotated[
            Literal["Orphan", "Background", "Foreground"], Doc("What happens to what the object owns.")
        ] = "Background"

    @dataclass
    class Observed:
        manifest: Annotated[dict[str, Any] | None, Doc("The object as it is in the cluster.")] = None

    async def connect(self, config: ProviderConfig) -> Cluster:
        if config.credentials.source == "InjectedIdentity":
            return await cluster_of(LOCAL)
        return await cluster_of(config.credentials.data)

    async def observe(self, ctx: Context, params: Parameters) -> Observation | None:
        spec = _spec(ctx)
        if ctx.is_being_deleted:
            return await self._observe_deletion(ctx, params, spec)
        manifest = await _resolved(ctx, params, spec, hold=_may_delete(ctx))
        live = await _live(ctx.client, manifest)
        if live is None:
            return None
        is_up_to_date = not _may_write(ctx) or await _is_applied(ctx, live, manifest)
        return Observation(
            observed=Object.Observed(_shown(live)),
            up_to_date=is_up_to_date,
            ready=readiness(spec.readiness, live, is_up_to_date or _was_ready(ctx)),
            connection=await _details(ctx.client, spec) if is_up_to_date else {},
        )

    async def _observe_deletion(
        self, ctx: Context, params: Parameters, spec: ObjectSpec
    ) -> Observation | None:
        live = await _live(ctx.client, _named(ctx, params.manifest))
        if live is None:
            await references.release(await cluster_of(LOCAL), spec.references, ctx.uid)
            ctx.client.applied_states.pop(ctx.uid, None)
            return None
        return Observation(observed=Object.Observed(_shown(live)), up_to_date=True)

    async def create(self, ctx: Context, params: Parameters) -> ConnectionDetails | None:
        return await self.update(ctx, params)

    async def update(self, ctx: Context, params: Parameters) -> ConnectionDetails | None:
        manifest = await _resolved(ctx, params, _spec(ctx), hold=_may_delete(ctx))
        kind = await ctx.client.kind_of(manifest)
        await ctx.client.client.apply(kind, manifest, _manager(ctx))
        return None

    async def delete(self, ctx: Context, params: Parameters) -> None:
        manifest = _named(ctx, params.manifest)
        kind, metadata = await ctx.client.kind_of(manifest), manifest["metadata"]
        await ctx.client.client.delete(
            kind, metadata["name"], _namespace(kind, metadata), params.deletion_propagation_policy
        )


def _spec(ctx: Context) -> ObjectSpec:
    struct = managed_kind(Object).spec
    assert struct is not None
    spec: ObjectSpec = decode(struct, ctx.resource.get("spec") or {})
    return spec


def _policies(ctx: Context) -> set[str]:
    return set((ctx.resource.get("spec") or {}).get("managementPolicies") or ["*"])


def _may_write(ctx: Context) -> bool:
    return bool(_policies(ctx) & WRITING)


def _may_delete(ctx: Context) -> bool:
    """Whether `observe` is still called once the Object is deleted, so that what it holds is let go."""
    spec = ctx.resource.get("spec") or {}
    policies = _policies(ctx)
    return "Delete" in policies or ("*" in policies and spec.get("deletionPolicy") != "Orphan")


def _was_ready(ctx: Context) -> bool:
    conditions = (ctx.resource.get("status") or {}).get("conditions") or ()
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


async def _resolved(ctx: Context, params: Object.Parameters, spec: ObjectSpec, hold: bool) -> Manifest:
    if not spec.references:
        return _named(ctx, params.manifest)
    local = await cluster_of(LOCAL)
    return _named(ctx, await references.resolve(local, spec.references, params.manifest, ctx.uid, hold))


def _named(ctx: Context, manifest: Manifest | None) -> Manifest:
    if not manifest:  # required, but not of a resource that is only observed
        raise ExternalError("the Object has no manifest", hint="set spec.forProvider.manifest")
    metadata = manifest.get("metadata") or {}
    return {**manifest, "metadata": {**metadata, "name": metadata.get("name") or ctx.name}}


def _manager(ctx: Context) -> str:
    return f"provider-kubernetes/{ctx.name}"[:128]


def _namespace(kind: Any, metadata: Manifest) -> str:
    return str(metadata.get("namespace") or "") if kind.namespaced else ""


async def _live(cluster: Cluster, manifest: Manifest) -> Manifest | None:
    kind, metadata = await cluster.kind_of(manifest), manifest["metadata"]
    if kind.namespaced and not metadata.get("namespace"):
        raise ExternalError(
            f"the manifest of kind {kind.kind} has no namespace",
            hint="set metadata.namespace in the manifest",
        )
    return await cluster.client.get(kind, metadata["name"], _namespace(kind, metadata))


async def _is_applied(ctx: Context, live: Manifest, manifest: Manifest) -> bool:
    """Whether applying the manifest would change nothing; the server decides that, by a dry run.

    It is not asked again while neither the object nor the manifest changes.
    """
    state = (
        str(live["metadata"].get("resourceVersion")),
        orjson.dumps(manifest, option=orjson.OPT_SORT_KEYS).decode(),
    )
    if ctx.client.applied_states.get(ctx.uid) == state:
        return True
    kind, metadata = await ctx.client.kind_of(manifest), manifest["metadata"]
    try:
        applied = await ctx.client.client.apply(kind, manifest, _manager(ctx), dry_run=True)
    except KubeError:
        return False  # `update` shows what is wrong with it
    if _comparable(applied) != _comparable(live):
        # Somebody may have changed the object between the two requests.
        live = await ctx.client.client.get(kind, metadata["name"], _namespace(kind, metadata)) or live
    manager = _manager(ctx)
    if _comparable(applied) != _comparable(live) or _is_managed(live, manager) != _is_managed(
        applied, manager
    ):
        return False
    ctx.client.applied_states[ctx.uid] = state
    return True


def _comparable(obj: Manifest) -> Manifest:
    metadata = dict(obj["metadata"])
    for name in ("managedFields", "resourceVersion", "generation"):
        metadata.pop(name, None)
    return {**obj, "metadata": metadata}


def _is_managed(live: Manifest, manager: str) -> bool:
    """Whether some field is ours; a manifest with nothing but a name has none."""
    return any(entry.get("manager") == manager for entry in live["metadata"].get("managedFields") or ())


def _shown(live: Manifest) -> Manifest:
    metadata = {name: value for name, value in live["metadata"].items() if name != "managedFields"}
    return {**live, "metadata": metadata}


async def _details(cluster: Cluster, spec: ObjectSpec) -> dict[str, bytes]:
    details = {}
    for detail in spec.connection_details:
        reference = {
            "apiVersion": detail.api_version,
            "kind": detail.kind,
            "name": detail.name,
            "namespace": detail.namespace,
        }
        source = await cluster.get(reference)
        if source is None:
            raise ExternalError(f"cannot get connection details: {detail.kind} {detail.name} not found")
        try:
            value = get(source, detail.field_path)
            is_secret = (detail.api_version, detail.kind) == ("v1", "Secret")
            if is_secret and detail.field_path.startswith("data"):
                details[detail.to_connection_secret_key] = base64.b64decode(value, validate=True)
            else:
                details[detail.to_connection_secret_key] = str(value).encode()
        except (CrossplyError, binascii.Error, TypeError) as problem:
            raise ExternalError(f"cannot get connection details: {problem}") from None
    return details
