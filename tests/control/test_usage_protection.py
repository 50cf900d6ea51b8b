"""Protection as a part that starts and stops: costs, replicas, certificates, and what is left behind."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from datetime import UTC, datetime, timedelta

import orjson
import pytest

from crossply.control.replica_shared_secret import data_of
from crossply.control.usages.usage_model import USAGE
from crossply.control.webhooks.certificates import (
    LIFE,
    SharedCertificate,
    certificate_files,
    new_certificate,
    read_certificate,
    selection_in,
)
from crossply.control.webhooks.certificates import NAME as TLS
from crossply.control.webhooks.configuration import CONFIGURATIONS, LEFT, url_in
from crossply.control.webhooks.configuration import LEGACY_NAME as CROSSPLANES
from crossply.control.webhooks.configuration import NAME as CONFIGURATION
from crossply.control.webhooks.webhook_address import WebhookSettings
from crossply.control.webhooks.webhook_lifecycle import InformerNotSynced
from crossply.kube import informer
from crossply.kube.client import Client
from crossply.kube.core_kinds import EVENT, SECRET
from crossply.kube.failures import AlreadyExists, KubeError
from crossply.kube.kind import Kind
from crossply.kube.request_types import Actor
from crossply.kube.shared_informers import SharedInformers
from tests.support.control.usage_controllers import control_plane, delete_usages, is_ready, until, use
from tests.support.ports import free_port
from tests.support.server_process import CONFIG_MAP, NAMESPACE, config_map

pytestmark = [
    pytest.mark.embedded_only("the control plane of a real cluster is that of the end-to-end tests"),
    pytest.mark.usefixtures("installed"),
]


HOME = "crossplane-system"
SERVICES = Kind("", "v1", "Service", "services", True)
ENDPOINTS = Kind("", "v1", "Endpoints", "endpoints", True)
ROLES = Kind("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", False)
ROLE_BINDINGS = ROLES._replace(kind="ClusterRoleBinding", plural="clusterrolebindings")
POLICIES = CONFIGURATIONS._replace(kind="ValidatingAdmissionPolicy", plural="validatingadmissionpolicies")
BINDINGS = CONFIGURATIONS._replace(
    kind="ValidatingAdmissionPolicyBinding", plural="validatingadmissionpolicybindings"
)


def configuration(client):
    return client.get(CONFIGURATIONS, CONFIGURATION)


async def test_settled_usages_cost_nothing_and_a_restart_little(client, ns):
    count = 20

    for number in range(count):
        for role in ("used", "using"):
            await client.create(CONFIG_MAP, config_map(f"{role}-{number}", ns))
    async with control_plane(client) as own:
        for number in range(count):
            by = {"apiVersion": "v1", "kind": "ConfigMap", "resourceRef": {"name": f"using-{number}"}}
            await use(client, ns, f"u-{number}", f"used-{number}", by=by)
        for number in range(count):
            await until(lambda number=number: is_ready(client, ns, f"u-{number}"))
        await asyncio.sleep(0.5)
        writes = {key: n for key, n in own.counts.items() if key[1].startswith(("usages", "configmaps"))}
        assert writes["patch", USAGE.resource] == count, "finalizer, details and owner in one"
        assert writes["patch", f"{USAGE.resource}/status"] == count
        assert writes["patch", "configmaps"] == count
        before = dict(own.counts)
        await asyncio.sleep(1)
        assert dict(own.counts) == before, "0 requests at rest"
    async with control_plane(client) as own:
        await asyncio.sleep(1)
        requests = {key for key in own.counts if key[1].startswith((USAGE.resource, "configmaps"))}
        assert requests == {("watch", USAGE.resource), ("watch", "configmaps")}
        await delete_usages(client, ns)


async def test_a_stop_takes_the_configuration_away_unless_something_is_in_use(client, ns):
    async with control_plane(client):
        assert await configuration(client)
    assert await configuration(client) is None
    await client.create(CONFIG_MAP, config_map("used", ns))
    async with control_plane(client):
        await use(client, ns)
        await until(lambda: is_ready(client, ns))
    left = await configuration(client)
    assert left["metadata"]["annotations"][LEFT]
    with pytest.raises(KubeError, match="failed calling webhook"):
        await client.delete(CONFIG_MAP, "used", ns)
    async with control_plane(client):
        assert LEFT not in ((await configuration(client))["metadata"].get("annotations") or {})
        with pytest.raises(KubeError, match="in-use by 1 usage"):
            await client.delete(CONFIG_MAP, "used", ns)
        await delete_usages(client, ns)
    assert await client.delete(CONFIG_MAP, "used", ns)


async def test_the_configuration_can_always_be_deleted_by_hand(client, ns):
    await client.create(CONFIG_MAP, config_map("used", ns))
    async with control_plane(client):
        await use(client, ns)
        await until(lambda: is_ready(client, ns))
    await client.delete(CONFIGURATIONS, CONFIGURATION)
    assert await client.delete(CONFIG_MAP, "used", ns)
    async with control_plane(client):
        await delete_usages(client, ns)


@pytest.mark.parametrize("in_use", [False, True], ids=["nothing is in use", "something is in use"])
async def test_another_replica_takes_over_when_the_serving_one_stops(client, ns, in_use):
    await client.create(CONFIG_MAP, config_map("used", ns))
    async with control_plane(client):
        first = url_in(await configuration(client))
        async with control_plane(client):
            assert url_in(await configuration(client)) != first
            if in_use:
                await use(client, ns)
                await until(lambda: is_ready(client, ns))

        async def is_back():
            live = await configuration(client)
            return live and url_in(live) == first

        await until(is_back)
        if in_use:
            with pytest.raises(KubeError, match="in-use by 1 usage"):
                await client.delete(CONFIG_MAP, "used", ns)
            await delete_usages(client, ns)


async def test_behind_a_service_its_name_leads_to_the_replicas(client, ns):
    port = free_port()
    named = {"metadata": {"name": ns, "namespace": ns}}
    await client.create(SERVICES, {**named, "spec": {"ports": [{"port": 443, "targetPort": port}]}})
    subset = {"addresses": [{"ip": "127.0.0.1"}], "ports": [{"port": port}]}
    await client.create(ENDPOINTS, {**named, "subsets": [subset]})
    await client.create(CONFIG_MAP, config_map("used", ns))
    async with control_plane(client, WebhookSettings(port, "", ns, ns)):
        await use(client, ns)
        await until(lambda: is_ready(client, ns))
        with pytest.raises(KubeError, match="in-use by 1 usage"):
            await client.delete(CONFIG_MAP, "used", ns)
        await delete_usages(client, ns)
    await client.delete(CONFIGURATIONS, CONFIGURATION)


async def test_behind_a_service_a_stop_changes_nothing(client):
    settings = WebhookSettings(service_name="hooks")
    async with control_plane(client, settings):
        before = await configuration(client)
        async with control_plane(client, settings):
            pass
    assert await configuration(client) == before
    [webhook] = before["webhooks"]
    assert webhook["clientConfig"]["service"]["name"] == "hooks"
    await client.delete(CONFIGURATIONS, CONFIGURATION)


async def test_the_configuration_of_crossplane_stays_beside_ours(client):
    async with control_plane(client):
        crossplane_configuration = await configuration(client)
    service = {
        "name": "crossplane-webhooks",
        "namespace": HOME,
        "path": "/validate-no-usages",
        "port": 9443,
    }
    crossplane_configuration["webhooks"][0]["clientConfig"] = {"service": service}
    crossplane_configuration["metadata"] = {"name": CROSSPLANES}
    created = await client.create(CONFIGURATIONS, crossplane_configuration, "crossplane")
    async with control_plane(client):
        assert url_in(await configuration(client)).startswith("https://127.0.0.1:")
    assert await client.get(CONFIGURATIONS, CROSSPLANES) == created
    await client.delete(CONFIGURATIONS, CROSSPLANES)


async def test_a_configuration_that_we_wrote_under_crossplanes_name_is_deleted(client):
    async with control_plane(client):
        former = await configuration(client)
    former["metadata"] = {"name": CROSSPLANES}
    await client.create(CONFIGURATIONS, former, "crossply")
    async with control_plane(client):
        assert await client.get(CONFIGURATIONS, CROSSPLANES) is None
        assert await configuration(client) is not None


async def test_without_webhooks_usages_only_mark_their_resources(client, ns):
    await client.create(CONFIG_MAP, config_map("used", ns))
    async with control_plane(client, None):
        await use(client, ns)
        await until(lambda: is_ready(client, ns))
        assert await configuration(client) is None
        assert await client.delete(CONFIG_MAP, "used", ns)
        await delete_usages(client, ns)


async def test_a_mark_without_a_usage_blocks_nothing(client, ns):
    body = config_map("used", ns)
    body["metadata"]["labels"]["crossplane.io/in-use"] = "true"
    async with control_plane(client):
        await client.create(CONFIG_MAP, body)
        assert await client.delete(CONFIG_MAP, "used", ns)


async def test_a_start_without_the_rights_for_webhooks_names_the_missing_ones(client, ns, monkeypatch):
    monkeypatch.setattr(informer, "SYNC_SECONDS", 0.5)
    rule = {"apiGroups": ["*"], "resources": ["usages", "clusterusages"], "verbs": ["list", "watch"]}
    subject = {"apiGroup": ROLES.group, "kind": "User", "name": ns}

    await client.create(ROLES, {"metadata": {"name": ns}, "rules": [rule]})
    reference = {"apiGroup": ROLES.group, "kind": ROLES.kind, "name": ns}
    await client.create(
        ROLE_BINDINGS, {"metadata": {"name": ns}, "roleRef": reference, "subjects": [subject]}
    )
    weak = Client(dataclasses.replace(client.config, actor=Actor(ns)))
    with pytest.raises(InformerNotSynced, match=f'User "{ns}" cannot watch resource "secrets"'):
        async with control_plane(client, own=weak):
            pass


async def test_a_usage_reports_why_it_cannot_mark_its_resource(client, ns):
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["configmaps"]}
    spec = {
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": f"object.metadata.namespace != '{ns}'", "message": "frozen"}],
    }

    await client.create(CONFIG_MAP, config_map("used", ns))
    await client.create(POLICIES, {"metadata": {"name": ns}, "spec": spec})
    bound = {"policyName": ns, "validationActions": ["Deny"]}
    await client.create(BINDINGS, {"metadata": {"name": ns}, "spec": bound})
    async with control_plane(client):
        await use(client, ns)

        async def events_recorded():
            events = [orjson.loads(data) for data in (await client.list(EVENT, ns)).items]
            return [event for event in events if event["reason"] == "AddInUseLabel"]

        [event] = await until(events_recorded)
        assert event["message"].startswith("cannot add in use label to the used resource: ")
        assert "frozen" in event["message"]
        await client.delete(POLICIES, ns)
        await until(lambda: is_ready(client, ns))
        await delete_usages(client, ns)
        await client.delete(BINDINGS, ns)


@contextlib.asynccontextmanager
async def sharing(client, *clocks):
    """Replicas that share a certificate, each with its own clock."""
    with contextlib.suppress(AlreadyExists):
        await client.create(NAMESPACE, {"metadata": {"name": HOME}})
    async with contextlib.AsyncExitStack() as stack:
        certificates = []
        for clock in clocks:
            caches = await stack.enter_async_context(SharedInformers(client))
            cache = caches.acquire(SECRET, selection_in(HOME))
            await cache.synced.wait()
            certificates.append(SharedCertificate(client, cache, ("127.0.0.1",), clock))
        yield certificates


async def test_replicas_that_start_at_once_agree_on_one_certificate(client):
    now = datetime.now(UTC)
    await client.delete(SECRET, TLS, HOME)
    async with sharing(client, *[lambda: now] * 4) as replicas:
        certificates = await asyncio.gather(*(replica.ensure() for replica in replicas))
    assert len(set(certificates)) == 1
    assert read_certificate(await client.get(SECRET, TLS, HOME)) == certificates[0]


async def test_a_certificate_is_renewed_before_it_ends_and_the_old_one_stays_trusted(client):
    now = datetime.now(UTC)
    async with sharing(client, lambda: now, lambda: now + LIFE * 0.7) as [early, late]:
        before = await early.ensure()
        after = await late.ensure()
    assert after.renewal - before.renewal > timedelta(days=200)
    assert before.authorities.split(b"-----END")[0] in after.authorities


async def test_a_damaged_secret_is_replaced_while_the_control_plane_runs(client):
    async with control_plane(client):
        before = (await configuration(client))["webhooks"][0]["clientConfig"]["caBundle"]
        await client.patch_merge(SECRET, TLS, {"data": {"tls.crt": "eA=="}}, HOME)

        async def is_replaced():
            live = await configuration(client)
            return live and live["webhooks"][0]["clientConfig"]["caBundle"] != before

        await until(is_replaced)


async def test_a_certificate_of_another_replica_is_shown_as_soon_as_it_is_there(client, ns):
    await client.create(CONFIG_MAP, config_map("used", ns))
    async with control_plane(client):
        await use(client, ns)
        await until(lambda: is_ready(client, ns))
        secret = await client.get(SECRET, TLS, HOME)
        renewed = new_certificate(("127.0.0.1",), datetime.now(UTC), read_certificate(secret))
        await client.update(SECRET, {**secret, "data": data_of(certificate_files(renewed))})

        async def is_published():
            bundle = data_of(certificate_files(renewed))["ca.crt"]
            return (await configuration(client))["webhooks"][0]["clientConfig"]["caBundle"] == bundle

        await until(is_published)
        with pytest.raises(KubeError, match="in-use by 1 usage"):
            await client.delete(CONFIG_MAP, "used", ns)
        await delete_usages(client, ns)
