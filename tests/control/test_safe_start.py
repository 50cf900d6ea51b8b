"""A Provider that starts safely has no Pods until one of its kinds is active."""

from __future__ import annotations

import pytest

from crossply.control.kinds import MANAGED_DEFINITION, PROVIDER_REVISION
from crossply.kube.core_kinds import DEPLOYMENT
from tests.support.control.runtimes import Revision, eventually, make_available, runtimes
from tests.support.e2e.packages import crd

pytestmark = pytest.mark.usefixtures("installed", "alone")


def activity(revision):
    conditions = revision["status"].get("conditions") or ()
    return [(c["status"], c["reason"]) for c in conditions if c["type"] == "RuntimeActive"]


async def test_a_safe_start_provider_runs_with_its_first_active_kind_and_from_then_on(client, ns):
    async with runtimes(client, ns):
        revision = await Revision(client, PROVIDER_REVISION).make()
        definition = crd(f"{revision.package}.example.org")
        name = definition["metadata"]["name"]
        owner = {
            "apiVersion": PROVIDER_REVISION.api_version,
            "kind": PROVIDER_REVISION.kind,
            "name": revision.name,
            "uid": revision.uid,
            "controller": True,
        }
        head = {"apiVersion": MANAGED_DEFINITION.api_version, "kind": MANAGED_DEFINITION.kind}
        body = {**definition, **head, "metadata": {"name": name, "ownerReferences": [owner]}}
        await client.create(MANAGED_DEFINITION, body)
        reference = {**head, "name": name}
        await revision.set_status(capabilities=["SafeStart"], objectRefs=[reference])
        await revision.establish()
        deployment = await eventually(lambda: client.get(DEPLOYMENT, revision.name, ns))
        assert deployment["spec"]["replicas"] == 0
        await make_available(client, ns, revision.name)
        await revision.until(lambda live: activity(live) == [("False", "AwaitingActivation")])

        await client.patch_merge(MANAGED_DEFINITION, name, {"spec": {"state": "Active"}})
        await revision.until(lambda live: activity(live) == [("True", "ActiveRuntime")])
        deployment = await client.get(DEPLOYMENT, revision.name, ns)
        assert deployment["spec"]["replicas"] == 1

        await client.delete(MANAGED_DEFINITION, name)
        await client.delete(DEPLOYMENT, revision.name, ns)
        deployment = await eventually(lambda: client.get(DEPLOYMENT, revision.name, ns))
        assert deployment["spec"]["replicas"] == 1
