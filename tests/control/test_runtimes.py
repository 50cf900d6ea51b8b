"""Revisions of packages on Kubernetes, without nodes: the objects that run them, and their status.

No Pods run here. The tests write the status that a kubelet and the controller of Deployments would write.
"""

from __future__ import annotations

import secrets

import orjson
import pytest
from cryptography import x509

from crossply.certificates import FOR_SERVERS, names_of
from crossply.control.kinds import FUNCTION_REVISION, PROVIDER_REVISION
from crossply.control.replica_shared_secret import data_of, files_of
from crossply.control.runtimes.runtime_manifests import STAMP
from crossply.kube.core_kinds import CLUSTER_ROLE_BINDING, DEPLOYMENT, EVENT, SECRET, SERVICE, SERVICE_ACCOUNT
from tests.support.control.crossplane_certificates import certificate_of_crossplane, files_of_crossplane
from tests.support.control.runtimes import (
    POST,
    WAITS,
    Revision,
    eventually,
    make_available,
    runtime_says,
    runtimes,
)

pytestmark = [pytest.mark.xdist_group("packages"), pytest.mark.usefixtures("installed", "alone")]


def writes(client):
    verbs = ("create", "update", "patch", "apply", "delete")
    return {key: count for key, count in client.counts.items() if key[0] in verbs and key[1] != "events"}


async def test_a_function_gets_a_service_certificates_an_account_and_a_deployment(client, ns):
    async with runtimes(client, ns):
        revision = await Revision(client).make()
        live = await revision.until(runtime_says("False", "Package revision is not healthy yet"))
        assert live["status"]["endpoint"] == f"dns:///{revision.name}.{ns}:9443"
        assert live["status"]["tlsServerSecretName"] == f"{revision.package}-tls-server"
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
        # Crossplane calls a function by the name of its package.
        called = (revision.name, revision.package)
        assert names == tuple(f"{name}{end}" for name in called for end in ("", f".{ns}", f".{ns}.svc"))


async def test_health_follows_the_deployment(client, ns):
    async with runtimes(client, ns):
        revision = await (await Revision(client).make()).establish()
        await revision.until(runtime_says("False", WAITS.format("function")))
        await make_available(client, ns, revision.name)
        await revision.until(runtime_says("True"))
        await make_available(client, ns, revision.name, "False", "no room")
        text = "function package deployment is unavailable with message: no room"
        await revision.until(runtime_says("False", f"{POST}: {text}"))
        events = await events_about(client, revision.name)
        assert "Successfully configured package revision" in events


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("dev.crossply.runtime", "the package says so"),
        ("crossply.dev/runtime", "the Function says so"),
    ],
)
async def test_a_function_that_runs_to_completion_gets_no_deployment_and_a_hint(client, ns, key, reason):
    async with runtimes(client, ns):
        revision = await Revision(client).make()
        body = {"metadata": {"annotations": {key: "run-to-completion"}}}
        await client.patch_merge(FUNCTION_REVISION, revision.name, body)
        await revision.establish()
        live = await revision.until(says("gets no Deployment"))
        assert "--package-runtime=Function=Container" in message(live), reason
        assert await client.get(DEPLOYMENT, revision.name, ns) is None, reason


def message(revision):
    conditions = (revision.get("status") or {}).get("conditions") or []
    return next(
        (condition.get("message", "") for condition in conditions if condition["type"] == "RuntimeHealthy"),
        "",
    )


def says(text):
    return lambda revision: text in message(revision)


async def events_about(client, name):
    events = [orjson.loads(data) for data in (await client.list(EVENT, "default")).items]
    return [
        event["message"]
        for event in events
        if event["involvedObject"]["name"] == name and event["reason"] == "SyncPackage"
    ]


async def test_nothing_is_written_once_all_is_well_nor_after_a_restart(client, ns):
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
            assert [entry["manager"] for entry in live["metadata"]["managedFields"]].count(
                "pkg.crossplane.io/runtime"
            ) == 1
        assert writes(own).get(("apply", "deployments.apps"), 0) == 0
        assert writes(own).get(("apply", "services"), 0) == 1, "that of the other one"
        assert writes(own).get(("apply", "serviceaccounts"), 0) == 0


async def test_a_revision_that_crossplane_installed_goes_on_serving_as_it_is(client, ns):
    revision = await (await Revision(client).make()).establish()
    await install_as_crossplane(client, ns, revision)
    runtime = ((SERVICE, revision.package), (SECRET, f"{revision.package}-tls-server"))
    runtime = (*runtime, (SECRET, "crossplane-root-ca"), (DEPLOYMENT, revision.name))
    before = [await client.get(kind, name, ns) for kind, name in runtime]
    async with runtimes(client, ns):
        # Whatever is due is done before the next revision is looked at.
        other = await Revision(client).make()
        await other.until(runtime_says("False"))
        assert [await client.get(kind, name, ns) for kind, name in runtime] == before
        assert (await revision.get())["status"]["endpoint"] == f"dns:///{revision.package}.{ns}:9443"
        assert await client.get(SERVICE, revision.name, ns) is None
        # One that comes after it has a Service of its own, and does not take away that of the first.
        newer = await Revision(client, package=revision.package).make(revision=2)
        await newer.until(lambda live: live["status"]["endpoint"] == f"dns:///{newer.name}.{ns}:9443")
        assert (await client.get(SERVICE, revision.package, ns)) == before[0]

        async def names():
            files = files_of(await client.get(SECRET, f"{revision.package}-tls-server", ns))
            return names_of(x509.load_pem_x509_certificate(files["tls.crt"]))

        await eventually(
            names, lambda listed: {f"{newer.name}.{ns}", f"{revision.package}.{ns}"} <= set(listed)
        )
        secret = await client.get(SECRET, f"{revision.package}-tls-server", ns)
        assert not secret["metadata"].get("ownerReferences"), "it outlives the revision that it was made for"


async def install_as_crossplane(client, ns, revision):
    """Make what Crossplane makes: certificates, one Service for the package, Pods without our stamp."""
    authority = certificate_of_crossplane(("crossplane-root-ca",))
    called = tuple(f"{revision.package}{end}" for end in ("", f".{ns}", f".{ns}.svc"))
    server = certificate_of_crossplane(called, FOR_SERVERS, authority)
    for name, files in (
        ("crossplane-root-ca", files_of_crossplane(authority)),
        (f"{revision.package}-tls-server", files_of_crossplane(server, authority)),
    ):
        owner = {"apiVersion": "pkg.crossplane.io/v1", "kind": "FunctionRevision", "name": revision.name}
        owners = [{**owner, "uid": revision.uid, "controller": True}] if "server" in name else []
        metadata = {"name": name, "namespace": ns, "ownerReferences": owners}
        body = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}
        await client.create(SECRET, {**body, "type": "Opaque", "data": data_of(files)}, "crossplane")
    async with runtimes(client, ns, rollout=False):
        await eventually(lambda: client.get(DEPLOYMENT, revision.name, ns))
        await make_available(client, ns, revision.name)
        await revision.until(runtime_says("True"))
    stamp = {"spec": {"template": {"metadata": {"annotations": {STAMP: None}}}}}
    await client.patch_merge(DEPLOYMENT, revision.name, stamp, ns)


async def test_changed_or_deleted_runtime_objects_are_restored(client, ns):
    async with runtimes(client, ns):
        revision = await (await Revision(client).make()).establish()
        await revision.until(runtime_says("False", WAITS.format("function")))
        await client.patch_merge(DEPLOYMENT, revision.name, {"spec": {"replicas": 3}}, ns)

        async def replicas():
            return (await client.get(DEPLOYMENT, revision.name, ns))["spec"]["replicas"]

        await eventually(replicas, lambda count: count == 1)
        before = await client.get(SECRET, f"{revision.package}-tls-server", ns)
        for kind, name in (
            (DEPLOYMENT, revision.name),
            (SERVICE, revision.name),
            (SECRET, f"{revision.package}-tls-server"),
        ):
            await client.delete(kind, name, ns)

            async def is_restored(kind=kind, name=name):
                return await client.get(kind, name, ns)

            await eventually(is_restored)
        after = await client.get(SECRET, f"{revision.package}-tls-server", ns)
        assert after["metadata"]["uid"] != before["metadata"]["uid"]


async def test_pods_are_restarted_when_the_authority_changes(client, ns):
    """Programs read their certificates when they start."""

    async with runtimes(client, ns):
        revision = await (await Revision(client).make()).establish()
        await revision.until(runtime_says("False", WAITS.format("function")))

        async def stamp():
            live = await client.get(DEPLOYMENT, revision.name, ns)
            return live["spec"]["template"]["metadata"]["annotations"]["crossply.dev/certificates"]

        before = await stamp()
        await client.delete(SECRET, "crossplane-root-ca", ns)
        await eventually(stamp, lambda value: value != before)
        authority = files_of(await client.get(SECRET, "crossplane-root-ca", ns))
        server = files_of(await client.get(SECRET, f"{revision.package}-tls-server", ns))
        assert server["ca.crt"] == authority["tls.crt"]


async def test_an_inactive_revision_loses_its_deployment_and_its_service(client, ns):
    async with runtimes(client, ns):
        revision = await (await Revision(client).make()).establish()
        await revision.until(runtime_says("False", WAITS.format("function")))
        await client.patch_merge(FUNCTION_REVISION, revision.name, {"spec": {"desiredState": "Inactive"}})

        async def deleted():
            return [await client.get(kind, revision.name, ns) for kind in (DEPLOYMENT, SERVICE)]

        await eventually(deleted, lambda objects: objects == [None, None])


async def test_two_active_revisions_share_a_certificate_and_have_their_own_services(client, ns):
    async with runtimes(client, ns):
        old = await (await Revision(client).make()).establish()
        await old.until(runtime_says("False", WAITS.format("function")))
        before = await client.get(DEPLOYMENT, old.name, ns)
        new = await (await Revision(client, package=old.package).make()).establish()
        live = await new.until(runtime_says("False", WAITS.format("function")))
        assert live["status"]["endpoint"] == f"dns:///{new.name}.{ns}:9443"
        files = files_of(await client.get(SECRET, f"{old.package}-tls-server", ns))
        names = names_of(x509.load_pem_x509_certificate(files["tls.crt"]))
        assert {f"{old.name}.{ns}", f"{new.name}.{ns}"} <= set(names)
        after = await client.get(DEPLOYMENT, old.name, ns)
        assert after["metadata"]["generation"] == before["metadata"]["generation"], (
            "Pods that run are not started anew for a name that does not concern them"
        )


async def test_without_rollout_the_service_has_the_name_of_the_package_and_moves(client, ns):
    async with runtimes(client, ns, rollout=False):
        old = await (await Revision(client).make()).establish()
        await old.until(runtime_says("False", WAITS.format("function")))
        new = await (await Revision(client, package=old.package).make("Inactive")).establish()
        await client.patch_merge(FUNCTION_REVISION, old.name, {"spec": {"desiredState": "Inactive"}})
        await client.patch_merge(FUNCTION_REVISION, new.name, {"spec": {"desiredState": "Active"}})

        async def selected():
            service = await client.get(SERVICE, old.package, ns)
            return service["spec"]["selector"]["pkg.crossplane.io/revision"]

        await eventually(selected, lambda name: name == new.name)
        live = await new.until(runtime_says("False", WAITS.format("function")))
        assert live["status"]["endpoint"] == f"dns:///{old.package}.{ns}:9443"


async def test_a_provider_has_a_certificate_to_call_with_and_no_endpoint(client, ns):
    async with runtimes(client, ns):
        revision = Revision(client, PROVIDER_REVISION, f"p-{secrets.token_hex(4)}")
        await revision.make(tlsClientSecretName=f"{revision.package}-tls-client")
        await revision.establish()
        live = await revision.until(runtime_says("False", WAITS.format("provider")))
        assert "endpoint" not in live["status"]
        assert live["status"]["tlsClientSecretName"] == f"{revision.package}-tls-client"
        files = files_of(await client.get(SECRET, f"{revision.package}-tls-client", ns))
        assert names_of(x509.load_pem_x509_certificate(files["tls.crt"])) == (revision.name,)
        service = await client.get(SERVICE, revision.package, ns)
        assert [port["name"] for port in service["spec"]["ports"]] == ["webhook"]
        binding = await client.get(CLUSTER_ROLE_BINDING, f"crossplane:provider:{revision.name}:system")
        assert binding["roleRef"]["name"] == binding["metadata"]["name"]
        account = {"kind": "ServiceAccount", "name": revision.name, "namespace": ns}
        assert binding["subjects"] == [account]


async def test_a_revision_that_is_run_elsewhere_is_left_alone(client, ns):
    async with runtimes(client, ns, "Provider=Deployment;Function=External"):
        external = await (await Revision(client).make()).establish()
        witness = Revision(client, PROVIDER_REVISION)
        await (await witness.make()).establish()
        await witness.until(runtime_says("False", WAITS.format("provider")))
        assert "endpoint" not in (await external.get())["status"]
        assert await client.get(DEPLOYMENT, external.name, ns) is None


async def test_a_function_that_needs_no_package_can_be_called_at_once(client, ns):
    async with runtimes(client, ns, "External"):
        revision = Revision(client)
        image = "xpkg.crossplane.io/crossplane-contrib/function-auto-ready:v0.5.0"
        await revision.make(image=image)
        live = await revision.until(runtime_says("True"))
        assert live["status"]["endpoint"] == "builtin:///auto-ready"
