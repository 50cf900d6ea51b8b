"""The digest of a package's image: resolved by its registry when needed, and cached."""

from __future__ import annotations

import orjson
import pytest

from crossply.control.calls.endpoint import revision_endpoint
from crossply.control.controller_context import plane_for
from crossply.control.package_manager.package_fetcher import PackageFetcher
from crossply.control.package_manager.package_image_resolution import FRESH_SECONDS, Identities
from crossply.control.package_manager.package_kinds import FUNCTIONS
from crossply.control.package_manager.package_reconciler import PackageReconciler
from crossply.control.package_manager.package_revision import revision_name
from crossply.control.package_manager.settings import PackageSettings
from crossply.xpkg.failures import PackagesError
from crossply.xpkg.image import encode
from tests.support.images import STREAM, package
from tests.support.registry import ScriptedRegistry

pytestmark = pytest.mark.usefixtures("installed")

FIRST, SECOND = package(), package(STREAM.replace(b"function-x", b"function-y"))


def hash_of(picture):
    return encode(picture).manifest.digest.removeprefix("sha256:")


class Case:
    """A registry, a Function in it, and a clock."""

    def __init__(self, client, registry, ns):
        self.client, self.registry, self.now = client, registry, 0.0
        self.image = f"{registry.address}/acme/x:v1"
        settings = PackageSettings(namespace=ns, service_account="")
        self.identities = Identities(PackageFetcher(client, settings), lambda: self.now)

    async def hash(self, current=None, status=None, **spec):
        function = {
            "kind": "Function",
            "metadata": {"name": "x"},
            "spec": {"package": self.image, **spec},
            "status": status or {},
        }
        return (await self.identities.of(function, FUNCTIONS, current)).hash

    @property
    def was_requested(self):
        """Whether the registry got a request since the last check."""
        was_requested = bool(self.registry.requests)
        self.registry.requests.clear()
        return was_requested


@pytest.fixture
async def c(client, ns):
    async with ScriptedRegistry().running() as registry:
        registry.serve_image(FIRST)
        yield Case(client, registry, ns)


async def test_a_registry_gets_one_request_for_an_image(c):
    assert (await c.hash(), c.was_requested) == (hash_of(FIRST), True)
    assert (await c.hash(), c.was_requested) == (hash_of(FIRST), False)
    await c.hash(packagePullSecrets=[{"name": "another"}])
    assert c.was_requested, "it may have another answer for somebody else"
    c.identities.forget(FUNCTIONS, "x")
    await c.hash(packagePullSecrets=[{"name": "another"}])
    assert c.was_requested, "an ImageConfig may have changed where it is"


async def test_the_policy_always_resolves_the_tag_after_an_interval(c):
    await c.hash(packagePullPolicy="Always")
    c.registry.serve_image(SECOND)
    assert await c.hash(packagePullPolicy="Always") == hash_of(FIRST)
    c.now += FRESH_SECONDS + 1
    assert await c.hash() == hash_of(FIRST), "once there, it stays"
    assert await c.hash(packagePullPolicy="Always") == hash_of(SECOND)


async def test_an_installed_package_stays_while_its_registry_is_unreachable(c):
    c.registry.handlers.clear()
    digest = f"sha256:{hash_of(FIRST)}"
    current = {"metadata": {"annotations": {"crossply.dev/digest": digest}}}
    status = {"currentIdentifier": c.image, "resolvedPackage": c.image}
    assert await c.hash(current, status) == hash_of(FIRST)
    for change, why in (
        ({"current": None, "status": status}, "it was never installed"),
        ({"current": current, "status": {}}, "another image was"),
        ({"current": current, "status": status, "packagePullPolicy": "Always"}, "it is to be asked"),
    ):
        with pytest.raises(PackagesError):
            print(why, await c.hash(**change))


async def test_a_version_that_does_not_run_leaves_the_one_before_active(c):
    """The old revision becomes inactive once the new one runs, and not before."""

    plane = plane_for(c.client)
    controller = PackageReconciler(plane, FUNCTIONS, c.identities)
    kind, name = FUNCTIONS.package, f"f{id(c):x}"
    body = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}}
    for cache in (controller.packages, controller.revisions):
        await cache.synced.wait()

    async def looked_at(image=None):
        if image is not None:
            c.registry.serve_image(image)
            c.identities.forget(FUNCTIONS, name)
        controller.packages.record_write(
            await c.client.apply(kind, {**body, "spec": {"package": c.image}}, "test")
        )
        for _ in range(3):
            await controller.reconcile(name)
        live = await revisions()
        return sorted((item["spec"]["revision"], item["spec"]["desiredState"]) for item in live)

    async def revisions():
        label = f"pkg.crossplane.io/package={name}"
        listed = await c.client.list(FUNCTIONS.revision, label_selector=label)
        return list(map(orjson.loads, listed.items))

    async def runs(number):
        [revision] = [item for item in await revisions() if item["spec"]["revision"] == number]
        well = {"status": "True", "reason": "Well", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        conditions = [{**well, "type": type_} for type_ in ("RevisionHealthy", "RuntimeHealthy")]
        body = {**revision, "status": {"conditions": conditions}}
        controller.revisions.record_write(await c.client.update_status(FUNCTIONS.revision, body))

    assert await looked_at() == [(1, "Active")]
    await runs(1)
    assert await looked_at(SECOND) == [(1, "Active"), (2, "Active")]
    await runs(2)
    assert await looked_at() == [(1, "Inactive"), (2, "Active")]
    await c.client.delete(kind, name)
    await plane.informers.close()


BUILT_IN = "registry.example.org/crossplane-contrib/function-auto-ready:v1"
SERVED = {
    "apiVersion": "pkg.crossplane.io/v1",
    "kind": "FunctionRevision",
    "metadata": {"name": "x-0123456789ab", "labels": {"pkg.crossplane.io/package": "x"}},
    "spec": {"image": BUILT_IN, "revision": 1, "desiredState": "Active"},
    "status": {
        "resolvedImage": BUILT_IN,
        "endpoint": "dns:///x.crossplane-system:9443",
        "conditions": [
            {"type": "RevisionHealthy", "status": "True"},
            {"type": "RuntimeHealthy", "status": "True"},
        ],
    },
}
INSTALLED = {
    "currentIdentifier": BUILT_IN,
    "currentRevision": "x-0123456789ab",
    "resolvedPackage": "mirror/x:v1",
}
ILL = {**SERVED, "status": {**SERVED["status"], "conditions": []}}
UNCALLED = {**SERVED, "status": {"resolvedImage": BUILT_IN}}


@pytest.mark.parametrize(
    ("revision", "changes", "stays", "reason"),
    [
        (SERVED, {}, True, "it serves"),
        (ILL, {}, True, "it served, and its Pods may come back"),
        (UNCALLED, {}, False, "it was never called"),
        (None, {}, False, "there is none"),
        (SERVED, {"spec": {"package": f"{BUILT_IN}.1"}}, False, "another version is wanted"),
        (
            SERVED,
            {"metadata": {"name": "x", "annotations": {"crossply.dev/runtime": "builtin"}}},
            False,
            "the Function says that it is to run built in",
        ),
    ],
)
async def test_a_built_in_function_stays_with_the_revision_that_crossplane_installed(
    c, revision, changes, stays, reason
):
    function = {
        "kind": "Function",
        "metadata": {"name": "x"},
        "spec": {"package": BUILT_IN},
        "status": INSTALLED,
    }
    function = {**function, **changes}
    identity = await c.identities.of(function, FUNCTIONS, revision)
    assert (revision_name(function, identity) == SERVED["metadata"]["name"]) is stays, reason
    if stays:
        assert identity.resolved == "mirror/x:v1"
        assert identity.config_refs == []


@pytest.mark.parametrize(
    ("repository", "tells"), [("acme/function-auto-ready", True), ("acme/function-x", False)]
)
async def test_an_unfetchable_function_with_a_built_in_name_gives_a_hint(c, repository, tells):
    function = {
        "kind": "Function",
        "metadata": {"name": "x"},
        "spec": {"package": f"localhost:1/{repository}:v1"},
    }
    with pytest.raises(PackagesError) as refused:
        await c.identities.of(function, FUNCTIONS, None)
    choice = "to use that, annotate the Function with crossply.dev/runtime: builtin"
    assert (choice in str(refused.value)) is tells


def test_a_revision_that_crossplane_installed_is_called_at_its_endpoint():
    assert revision_endpoint(SERVED).address == "dns:///x.crossplane-system:9443"
    own = {**SERVED, "status": {"endpoint": "builtin:///auto-ready"}}
    assert revision_endpoint(own).address == ""


async def test_a_package_that_crossplane_installed_stays_while_its_registry_is_unreachable(c):
    c.registry.handlers.clear()
    installed = {**SERVED, "spec": {**SERVED["spec"], "image": c.image}}
    status = {"currentIdentifier": c.image, "resolvedPackage": c.image}
    assert await c.hash(installed, status) == "0123456789ab"
