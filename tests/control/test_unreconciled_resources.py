"""Events on managed resources whose Provider does not run."""

from __future__ import annotations

import orjson
import pytest

from crossply.control.kinds import PROVIDER, PROVIDER_REVISION
from crossply.control.package_manager.managed_definitions import Conversion
from crossply.control.package_manager.unreconciled_resources import REASON, UnreconciledResources
from crossply.kube.core_kinds import EVENT
from crossply.kube.kind import Kind
from tests.support.control.managed_definitions import InstalledProvider, definitions_controlled, with_field
from tests.support.control.runtimes import eventually

pytestmark = pytest.mark.usefixtures("installed", "alone")


async def test_an_unreconciled_resource_names_the_provider_that_does_not_run(client, ns):
    async with definitions_controlled(client) as plane:
        installed = InstalledProvider(client, plane, ns)
        revision = await installed.revision()
        crd = with_field(installed.crd, "size")
        schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        schema["x-kubernetes-preserve-unknown-fields"] = True
        schema["properties"]["spec"]["x-kubernetes-preserve-unknown-fields"] = True
        established = await installed.establish(revision, crd, conversion=Conversion())
        buckets = Kind(installed.group, "v1", "Bucket", "buckets", False)
        for name, rest in (("new", {}), ("known", {"status": {"conditions": []}})):
            body = {"apiVersion": buckets.api_version, "kind": buckets.kind, "metadata": {"name": name}}
            await eventually(lambda: client.list(buckets), lambda listed: listed is not None)
            await client.create(buckets, {**body, "spec": {"forProvider": {}}, **rest})
        name = revision["metadata"]["name"]
        await _set_status(client, PROVIDER_REVISION, name, {"objectRefs": established.references})
        now = "2026-01-01T00:00:00Z"
        conditions = [
            {"type": "Installed", "status": "True", "reason": "ActivePackageRevision"},
            {"type": "Healthy", "status": "False", "reason": "Unhealthy", "message": "no image"},
        ]
        status = {
            "currentRevision": name,
            "conditions": [{**c, "lastTransitionTime": now} for c in conditions],
        }
        await _set_status(client, PROVIDER, installed.package, status)
        reconciler = UnreconciledResources(plane, first_seconds=0.0)
        await eventually(lambda: _reconciled(reconciler, installed.package))
        events = await eventually(lambda: _events(client))
        [event] = [event for event in events if event["involvedObject"]["kind"] == "Bucket"]
        assert event["involvedObject"]["name"] == "new"
        assert event["message"] == (
            f"its kind comes from Provider {installed.package}, which is not running: Unhealthy: no image"
        )


async def _set_status(client, kind, name, status):
    live = await client.get(kind, name)
    await client.update_status(kind, {**live, "status": {**(live.get("status") or {}), **status}})


async def _reconciled(reconciler, name):
    data = reconciler.providers.get("", name)
    return data is not None and b"no image" in data and await reconciler.reconcile(name)


async def _events(client):
    events = [orjson.loads(data) for data in (await client.list(EVENT)).items]
    return [event for event in events if event["reason"] == REASON]
