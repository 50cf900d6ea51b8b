"""Revisions of packages on Kubernetes, without nodes: the objects that run them, and what their status says.

Nobody runs Pods here. What a kubelet and the controller of Deployments would say is written by the cases.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time

import orjson
import pytest
from cryptography import x509

from crossply.certificates import names_of
from crossply.control.kinds import (
    CLUSTER_ROLE_BINDING,
    DEPLOYMENT,
    EVENT,
    FUNCTION_REVISION,
    IMAGE_CONFIG,
    PROVIDER_REVISION,
    RUNTIME_CONFIG,
    SECRET,
    SERVICE,
    SERVICE_ACCOUNT,
)
from crossply.control.plane import plane_for
from crossply.control.runtimes.choice import parse_runtimes
from crossply.control.runtimes.credentials import CredentialSettings
from crossply.control.runtimes.runtimes import Runtimes, RuntimeSettings
from crossply.control.shared_secret import files_of
from crossply.kube.client import Client

pytestmark = [pytest.mark.xdist_group("e2e"), pytest.mark.usefixtures("installed")]

PATIENCE = 30.0
POST = "post establish runtime hook failed for package"
WAITS = POST + ': {} package deployment has no condition of type "Available" yet'


@contextlib.asynccontextmanager
async def runtimes(client, ns, packages="Deployment", rollout=True):
    """The part of a control plane that runs packages, in a namespace of its own; gives its client."""
    settings = RuntimeSettings(parse_runtimes(packages), CredentialSettings(ns))
    async with Client(client.config) as own:
        plane = plane_for(own)
        running = Runtimes(plane, settings, rollout)
        async with plane.caches:
            try:
                await running.start()
                yield own
            finally:
                await running.stop()
                await plane.recorder.settle()


@pytest.fixture(autouse=True)
def alone(connect):
    """Revisions belong to no namespace: none is left for the next case."""
    yield

    async def clean(client):
        for kind in (FUNCTION_REVISION, PROVIDER_REVISION):
            for data in (await client.list(kind)).items:
                await client.delete(kind, orjson.loads(data)["metadata"]["name"])

    connect(clean)


class Revision:
    """A revision that somebody made and established."""

    def __init__(self, client, kind=FUNCTION_REVISION, package=""):
        self.client, self.kind = client, kind
        self.package = package or f"fn-{secrets.token_hex(4)}"
        self.name = f"{self.package}-{secrets.token_hex(6)}"

    async def make(self, state="Active", **spec):
        body = {
            "apiVersion": self.kind.api_version,
            "kind": self.kind.kind,
            "metadata": {"name": self.name, "labels": {"pkg.crossplane.io/package": self.package}},
            "spec": {
                "image": "registry.example.org/somebody/fn:v1",
                "revision": 1,
                "desiredState": state,
                "tlsServerSecretName": f"{self.package}-tls-server",
                **spec,
            },
        }
        self.uid = (await self.client.create(self.kind, body))["metadata"]["uid"]
        return self

    async def get(self):
        return await self.client.get(self.kind, self.name)

    async def establish(self):
        """Say that the revision is healthy, as its controller would."""
        condition = {
            "type": "RevisionHealthy",
            "status": "True",
            "reason": "HealthyPackageRevision",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        await self.set_status(conditions=[condition])
        return self

    async def set_status(self, **fields):
        async def write():
            live = await self.get()
            status = {**(live.get("status") or {}), **fields}
            await self.client.update_status(self.kind, {**live, "status": status})
            return True

        await eventually(write)

    async def until(self, check):
        return await eventually(self.get, check)


async def eventually(look, check=bool):
    end = time.monotonic() + PATIENCE
    while True:
        found, why = None, None
        try:
            found = await look()
            if check(found):
                return found
        except Exception as problem:  # noqa: BLE001 - not yet
            why = problem
        assert time.monotonic() < end, (found, why)
        await asyncio.sleep(0.02)


def runtime_says(status, message=None):
    def check(revision):
        [told] = [
            each for each in revision["status"].get("conditions") or () if each["type"] == "RuntimeHealthy"
        ]
        return told["status"] == status and message in (None, told.get("message", ""))

    return check


async def make_available(client, ns, name, status="True", message=""):
    """Say what the controller of Deployments would."""
    live = await client.get(DEPLOYMENT, name, ns)
    condition = {"type": "Available", "status": status, "reason": "Said", "message": message}
    await client.update_status(DEPLOYMENT, {**live, "status": {"conditions": [condition]}})


def writes(client):
    verbs = ("create", "update", "patch", "apply", "delete")
    return {key: count for key, count in client.counts.items() if key[0] in verbs and key[1] != "events"}


def test_a_function_gets_a_service_certificates_an_account_and_a_deployment(connect, ns):
    async def case(client):
        async with runtimes(client, ns):
            revision = await Revision(client).make()
            told = await revision.until(runtime_says("False", "Package revision is not healthy yet"))
            assert told["status"]["endpoint"] == f"dns:///{revision.name}.{ns}:9443"
            assert told["status"]["tlsServerSecretName"] == f"{revision.package}-tls-server"
            assert await client.get(DEPLOYMENT, revision.name, ns) is None, "it waits for what it may need"
            await revision.establish()
            await revision.until(runtime_says("False", WAITS.format("function")))
            service = await client.get(SERVICE, revision.name, ns)
            assert service["spec"]["clusterIP"] == "None"
            deployment = await client.get(DEPLOYMENT, revision.name, ns)
            assert deployment["metadata"]["ownerReferences"][0]["uid"] == revision.uid
            [container] = deployment["spec"]["template"]["spec"]["containers"]
            assert container["image"] == "registry.example.org/somebody/fn:v1"
            assert await client.get(SERVICE_ACCOUNT, revision.name, ns) is not None
            files = files_of(await client.get(SECRET, f"{revision.package}-tls-server", ns))
            names = names_of(x509.load_pem_x509_certificate(files["tls.crt"]))
            assert names == (revision.name, f"{revision.name}.{ns}", f"{revision.name}.{ns}.svc")

    connect(case)


def test_health_follows_the_deployment(connect, ns):
    async def case(client):
        async with runtimes(client, ns):
            revision = await (await Revision(client).make()).establish()
            await revision.until(runtime_says("False", WAITS.format("function")))
            await make_available(client, ns, revision.name)
            await revision.until(runtime_says("True"))
            await make_available(client, ns, revision.name, "False", "no room")
            told = "function package deployment is unavailable with message: no room"
            await revision.until(runtime_says("False", f"{POST}: {told}"))
            events = await events_about(client, revision.name)
            assert "Successfully configured package revision" in events

    connect(case)


async def events_about(client, name):
    events = [orjson.loads(data) for data in (await client.list(EVENT, "default")).items]
    return [
        each["message"]
        for each in events
        if each["involvedObject"]["name"] == name and each["reason"] == "SyncPackage"
    ]


def test_nothing_is_written_once_all_is_well_nor_after_a_restart(connect, ns):
    async def case(client):
        revision = await (await Revision(client).make()).establish()
        async with runtimes(client, ns):
            await eventually(lambda: client.get(DEPLOYMENT, revision.name, ns))
            await make_available(client, ns, revision.name)
            await revision.until(runtime_says("True"))
        async with runtimes(client, ns) as own:
            # Whatever is due is done before the next revision is looked at.
            other = await Revision(client).make()
            await other.until(runtime_says("False"))
            for kind in (SERVICE, SERVICE_ACCOUNT, DEPLOYMENT):
                live = await client.get(kind, revision.name, ns)
                assert [each["manager"] for each in live["metadata"]["managedFields"]].count(
                    "pkg.crossplane.io/runtime"
                ) == 1
            assert writes(own).get(("apply", "deployments.apps"), 0) == 0
            assert writes(own).get(("apply", "services"), 0) == 1, "that of the other one"
            assert writes(own).get(("apply", "serviceaccounts"), 0) == 0

    connect(case)


def test_what_somebody_changes_or_deletes_is_put_right(connect, ns):
    async def case(client):
        async with runtimes(client, ns):
            revision = await (await Revision(client).make()).establish()
            await revision.until(runtime_says("False", WAITS.format("function")))
            await client.patch_merge(DEPLOYMENT, revision.name, {"spec": {"replicas": 3}}, ns)

            async def replicas():
                return (await client.get(DEPLOYMENT, revision.name, ns))["spec"]["replicas"]

            await eventually(replicas, lambda found: found == 1)
            before = await client.get(SECRET, f"{revision.package}-tls-server", ns)
            for kind, name in (
                (DEPLOYMENT, revision.name),
                (SERVICE, revision.name),
                (SECRET, f"{revision.package}-tls-server"),
            ):
                await client.delete(kind, name, ns)

                async def again(kind=kind, name=name):
                    return await client.get(kind, name, ns)

                await eventually(again)
            after = await client.get(SECRET, f"{revision.package}-tls-server", ns)
            assert after["metadata"]["uid"] != before["metadata"]["uid"]

    connect(case)


def test_pods_are_started_anew_when_others_are_to_be_trusted(connect, ns):
    """Programs read their certificates when they start."""

    async def case(client):
        async with runtimes(client, ns):
            revision = await (await Revision(client).make()).establish()
            await revision.until(runtime_says("False", WAITS.format("function")))

            async def stamp():
                live = await client.get(DEPLOYMENT, revision.name, ns)
                return live["spec"]["template"]["metadata"]["annotations"]["crossply.dev/certificates"]

            before = await stamp()
            await client.delete(SECRET, "crossplane-root-ca", ns)
            await eventually(stamp, lambda found: found != before)
            authority = files_of(await client.get(SECRET, "crossplane-root-ca", ns))
            server = files_of(await client.get(SECRET, f"{revision.package}-tls-server", ns))
            assert server["ca.crt"] == authority["tls.crt"]

    connect(case)


def test_an_inactive_revision_loses_its_deployment_and_its_service(connect, ns):
    async def case(client):
        async with runtimes(client, ns):
            revision = await (await Revision(client).make()).establish()
            await revision.until(runtime_says("False", WAITS.format("function")))
            await client.patch_merge(FUNCTION_REVISION, revision.name, {"spec": {"desiredState": "Inactive"}})

            async def gone():
                return [await client.get(kind, revision.name, ns) for kind in (DEPLOYMENT, SERVICE)]

            await eventually(gone, lambda found: found == [None, None])

    connect(case)


def test_two_active_revisions_share_a_certificate_and_have_a_service_each(connect, ns):
    async def case(client):
        async with runtimes(client, ns):
            old = await (await Revision(client).make()).establish()
            await old.until(runtime_says("False", WAITS.format("function")))
            before = await client.get(DEPLOYMENT, old.name, ns)
            new = await (await Revision(client, package=old.package).make()).establish()
            told = await new.until(runtime_says("False", WAITS.format("function")))
            assert told["status"]["endpoint"] == f"dns:///{new.name}.{ns}:9443"
            files = files_of(await client.get(SECRET, f"{old.package}-tls-server", ns))
            names = names_of(x509.load_pem_x509_certificate(files["tls.crt"]))
            assert {f"{old.name}.{ns}", f"{new.name}.{ns}"} <= set(names)
            after = await client.get(DEPLOYMENT, old.name, ns)
            assert after["metadata"]["generation"] == before["metadata"]["generation"], (
                "Pods that run are not started anew for a name that does not concern them"
            )

    connect(case)


def test_without_rollout_the_service_has_the_name_of_the_package_and_moves(connect, ns):
    async def case(client):
        async with runtimes(client, ns, rollout=False):
            old = await (await Revision(client).make()).establish()
            await old.until(runtime_says("False", WAITS.format("function")))
            new = await (await Revision(client, package=old.package).make("Inactive")).establish()
            await client.patch_merge(FUNCTION_REVISION, old.name, {"spec": {"desiredState": "Inactive"}})
            await client.patch_merge(FUNCTION_REVISION, new.name, {"spec": {"desiredState": "Active"}})

            async def selected():
                service = await client.get(SERVICE, old.package, ns)
                return service["spec"]["selector"]["pkg.crossplane.io/revision"]

            await eventually(selected, lambda found: found == new.name)
            told = await new.until(runtime_says("False", WAITS.format("function")))
            assert told["status"]["endpoint"] == f"dns:///{old.package}.{ns}:9443"

    connect(case)


def test_a_provider_has_a_certificate_to_call_with_and_no_endpoint(connect, ns):
    async def case(client):
        async with runtimes(client, ns):
            revision = Revision(client, PROVIDER_REVISION, f"p-{secrets.token_hex(4)}")
            await revision.make(tlsClientSecretName=f"{revision.package}-tls-client")
            await revision.establish()
            told = await revision.until(runtime_says("False", WAITS.format("provider")))
            assert "endpoint" not in told["status"]
            assert told["status"]["tlsClientSecretName"] == f"{revision.package}-tls-client"
            files = files_of(await client.get(SECRET, f"{revision.package}-tls-client", ns))
            assert names_of(x509.load_pem_x509_certificate(files["tls.crt"])) == (revision.name,)
            service = await client.get(SERVICE, revision.package, ns)
            assert [each["name"] for each in service["spec"]["ports"]] == ["webhook"]
            binding = await client.get(CLUSTER_ROLE_BINDING, f"crossplane:provider:{revision.name}:system")
            assert binding["roleRef"]["name"] == binding["metadata"]["name"]
            account = {"kind": "ServiceAccount", "name": revision.name, "namespace": ns}
            assert binding["subjects"] == [account]

    connect(case)


def test_a_runtime_config_shapes_the_deployment_and_so_does_its_change(connect, ns):
    async def case(client):
        name = f"config-{secrets.token_hex(4)}"
        body = {"apiVersion": RUNTIME_CONFIG.api_version, "kind": RUNTIME_CONFIG.kind}
        spec = {"deploymentTemplate": {"spec": {"replicas": 2, "selector": {}, "template": {}}}}
        async with runtimes(client, ns):
            revision = await Revision(client).make(runtimeConfigRef={"name": name})
            missing = f'DeploymentRuntimeConfig.pkg.crossplane.io "{name}" not found'
            told = f"cannot get referenced deployment runtime config: {missing}"
            await revision.until(
                runtime_says("False", f"pre establish runtime hook failed for package: {told}")
            )
            await client.create(RUNTIME_CONFIG, {**body, "metadata": {"name": name}, "spec": spec})
            await revision.establish()

            async def replicas():
                return (await client.get(DEPLOYMENT, revision.name, ns))["spec"]["replicas"]

            await eventually(replicas, lambda found: found == 2)
            change = {"spec": {"deploymentTemplate": {"spec": {"replicas": 5}}}}
            await client.patch_merge(RUNTIME_CONFIG, name, change)
            await eventually(replicas, lambda found: found == 5)
            await client.delete(RUNTIME_CONFIG, name)
            rest = {"spec": {"desiredState": "Inactive"}}
            await client.patch_merge(FUNCTION_REVISION, revision.name, rest)

            async def gone():
                return await client.get(DEPLOYMENT, revision.name, ns) is None

            await eventually(gone)

    connect(case)


def test_an_image_config_chooses_the_runtime_config_of_images_and_their_pull_secret(connect, ns):
    async def case(client):
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

            await eventually(deployment, lambda found: found["metadata"]["labels"] == {"chosen": "yes"})
            await eventually(
                deployment,
                lambda found: found["spec"]["template"]["spec"]["imagePullSecrets"] == [{"name": "login"}],
            )
        for kind in (IMAGE_CONFIG, RUNTIME_CONFIG):
            await client.delete(kind, name)

    connect(case)


def test_pull_secrets_of_accounts_are_kept_and_passed_on(connect, ns):
    async def case(client):
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
            await client.patch_merge(
                SERVICE_ACCOUNT, revision.name, {"metadata": {"ownerReferences": None}}, ns
            )

            async def names():
                live = await client.get(SERVICE_ACCOUNT, revision.name, ns)
                assert live["metadata"].get("ownerReferences"), "it was put right"
                return [each["name"] for each in live["imagePullSecrets"]]

            await eventually(names, lambda found: found == ["package", "ours", "theirs"])

    connect(case)


def test_a_revision_that_is_run_elsewhere_is_left_alone(connect, ns):
    async def case(client):
        async with runtimes(client, ns, "Provider=Deployment;Function=External"):
            external = await (await Revision(client).make()).establish()
            witness = Revision(client, PROVIDER_REVISION)
            await (await witness.make()).establish()
            await witness.until(runtime_says("False", WAITS.format("provider")))
            assert "endpoint" not in (await external.get())["status"]
            assert await client.get(DEPLOYMENT, external.name, ns) is None

    connect(case)


def test_a_function_that_needs_no_package_can_be_called_at_once(connect, ns):
    async def case(client):
        async with runtimes(client, ns, "External"):
            revision = Revision(client)
            image = "xpkg.crossplane.io/crossplane-contrib/function-auto-ready:v0.5.0"
            await revision.make(image=image)
            told = await revision.until(runtime_says("True"))
            assert told["status"]["endpoint"] == "builtin:///auto-ready"

    connect(case)
