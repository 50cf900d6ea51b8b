"""What shapes the objects that run a revision: runtime configs, image configs, pull secrets of accounts."""

from __future__ import annotations

import secrets

import pytest

from crossply.control.kinds import FUNCTION_REVISION, IMAGE_CONFIG, RUNTIME_CONFIG
from crossply.kube.core_kinds import DEPLOYMENT, SERVICE_ACCOUNT
from tests.support.control.runtimes import WAITS, Revision, eventually, runtime_says, runtimes

pytestmark = [pytest.mark.xdist_group("packages"), pytest.mark.usefixtures("installed", "alone")]


async def test_a_runtime_config_shapes_the_deployment_and_so_does_its_change(client, ns):
    name = f"config-{secrets.token_hex(4)}"
    body = {"apiVersion": RUNTIME_CONFIG.api_version, "kind": RUNTIME_CONFIG.kind}
    spec = {"deploymentTemplate": {"spec": {"replicas": 2, "selector": {}, "template": {}}}}
    async with runtimes(client, ns):
        revision = await Revision(client).make(runtimeConfigRef={"name": name})
        missing = f'DeploymentRuntimeConfig.pkg.crossplane.io "{name}" not found'
        message = f"cannot get referenced deployment runtime config: {missing}"
        await revision.until(
            runtime_says("False", f"pre establish runtime hook failed for package: {message}")
        )
        await client.create(RUNTIME_CONFIG, {**body, "metadata": {"name": name}, "spec": spec})
        await revision.establish()

        async def replicas():
            return (await client.get(DEPLOYMENT, revision.name, ns))["spec"]["replicas"]

        await eventually(replicas, lambda count: count == 2)
        change = {"spec": {"deploymentTemplate": {"spec": {"replicas": 5}}}}
        await client.patch_merge(RUNTIME_CONFIG, name, change)
        await eventually(replicas, lambda count: count == 5)
        await client.delete(RUNTIME_CONFIG, name)
        rest = {"spec": {"desiredState": "Inactive"}}
        await client.patch_merge(FUNCTION_REVISION, revision.name, rest)

        async def is_deleted():
            return await client.get(DEPLOYMENT, revision.name, ns) is None

        await eventually(is_deleted)


async def test_an_image_config_chooses_the_runtime_config_of_images_and_their_pull_secret(client, ns):
    name = f"config-{secrets.token_hex(4)}"
    image = f"{name}.example.org/fn:v1"
    await client.create(
        RUNTIME_CONFIG,
        {
            "apiVersion": RUNTIME_CONFIG.api_version,
            "kind": RUNTIME_CONFIG.kind,
            "metadata": {"name": name},
            "spec": {"deploymentTemplate": {"metadata": {"labels": {"chosen": "yes"}}}},
        },
    )
    await client.create(
        IMAGE_CONFIG,
        {
            "apiVersion": IMAGE_CONFIG.api_version,
            "kind": IMAGE_CONFIG.kind,
            "metadata": {"name": name},
            "spec": {
                "matchImages": [{"prefix": f"{name}.example.org"}],
                "runtime": {"configRef": {"name": name}},
                "registry": {"authentication": {"pullSecretRef": {"name": "login"}}},
            },
        },
    )
    async with runtimes(client, ns):
        revision = await (await Revision(client).make(image=image)).establish()
        applied = [{"name": name, "reason": "SetImagePullSecret"}]
        await revision.set_status(appliedImageConfigRefs=applied)

        async def deployment():
            return await client.get(DEPLOYMENT, revision.name, ns)

        await eventually(deployment, lambda live: live["metadata"]["labels"] == {"chosen": "yes"})
        await eventually(
            deployment,
            lambda live: live["spec"]["template"]["spec"]["imagePullSecrets"] == [{"name": "login"}],
        )
    for kind in (IMAGE_CONFIG, RUNTIME_CONFIG):
        await client.delete(kind, name)


async def test_pull_secrets_of_accounts_are_preserved_and_passed_on(client, ns):
    account = {
        "metadata": {"name": "crossplane", "namespace": ns},
        "imagePullSecrets": [{"name": "ours"}],
    }
    await client.create(SERVICE_ACCOUNT, account)
    async with runtimes(client, ns):
        revision = await Revision(client).make(packagePullSecrets=[{"name": "package"}])
        await revision.establish()
        await revision.until(runtime_says("False", WAITS.format("function")))
        added = {"imagePullSecrets": [{"name": "package"}, {"name": "ours"}, {"name": "theirs"}]}
        await client.patch_merge(SERVICE_ACCOUNT, revision.name, added, ns)
        await client.patch_merge(SERVICE_ACCOUNT, revision.name, {"metadata": {"ownerReferences": None}}, ns)

        async def names():
            live = await client.get(SERVICE_ACCOUNT, revision.name, ns)
            assert live["metadata"].get("ownerReferences"), "it was put right"
            return [secret["name"] for secret in live["imagePullSecrets"]]

        await eventually(names, lambda listed: listed == ["package", "ours", "theirs"])
