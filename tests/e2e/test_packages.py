"""Packages and their revisions: which exist, which are active, and their conditions."""

from __future__ import annotations

import asyncio
import secrets

import pytest

from crossply.kube.kind import Kind
from tests.support.e2e.function_versions import PACKAGE, REVISIONS, Installed
from tests.support.e2e.scenario import FUNCTION, condition
from tests.support.e2e.things import message_of, until_event_recorded

pytestmark = pytest.mark.xdist_group("packages")

INSTALLED = condition("Installed", "True", "ActivePackageRevision")
HEALTHY = condition("Healthy", "True", "HealthyPackageRevision")
NOWHERE = "127.0.0.1:1/example/nothing:v1"
"""An image of a registry that does not answer."""


async def settled(function):
    """The Function once it is installed and well."""
    return await function.s.until(FUNCTION, function.name, lambda obj: INSTALLED(obj) and HEALTHY(obj))


def names(revisions):
    return [revision["metadata"]["name"] for revision in revisions]


async def test_a_function_gets_a_revision_and_reports_it(s):
    function = Installed(s)
    common = {"commonLabels": {"team": "a"}, "commonAnnotations": {"note": "b"}}
    await function.apply("localhost:1", {"channel": "stable"}, skipDependencyResolution=True, **common)
    function_package = await settled(function)
    [revision] = await function.until_states("Active")
    name = revision["metadata"]["name"]
    assert name.startswith(f"{function.name}-")
    assert len(name) == len(function.name) + 13
    assert revision["metadata"]["labels"] == {PACKAGE: function.name, "channel": "stable"}
    [owner] = revision["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["controller"], owner["blockOwnerDeletion"]) == ("Function", True, True)
    assert owner["uid"] == function_package["metadata"]["uid"]
    spec = revision["spec"]
    assert {key: spec[key] for key in common} == common
    assert spec["image"] == "example.org/function:v1"
    assert spec["revision"] == 1
    assert spec["skipDependencyResolution"] is True
    assert spec["ignoreCrossplaneConstraints"] is False
    assert spec["packagePullPolicy"] == "IfNotPresent"
    assert spec["runtimeConfigRef"]["name"] == "default"
    assert spec["tlsServerSecretName"] == f"{function.name}-tls-server"
    assert "tlsClientSecretName" not in spec
    status = function_package["status"]
    assert status["currentRevision"] == name
    assert status["currentIdentifier"] == status["resolvedPackage"] == "example.org/function:v1"
    await until_event_recorded(
        s, function_package, "Normal", "InstallPackageRevision", "Successfully installed package revision"
    )


async def test_an_upgrade_keeps_the_revision_before_for_a_rollback(s):
    """The history is one revision beside the current one; the one wanted again gets the highest number."""

    function = Installed(s)
    await function.apply("localhost:1")
    [first] = names(await function.until_states("Active"))
    await function.apply("localhost:2")
    assert names(await function.until_states("Inactive", "Active"))[0] == first
    await function.apply("localhost:1")
    await s.eventually(lambda: _highest(function, 3))
    revisions = await function.until_states("Inactive", "Active")
    assert names(revisions)[1] == first
    assert [revision["spec"]["revision"] for revision in revisions] == [2, 3]
    for number in (4, 5):
        await function.apply(f"localhost:{number}")
        await s.eventually(lambda n=number: _highest(function, n))
    left = await function.until_states("Inactive", "Active")
    assert [revision["spec"]["revision"] for revision in left] == [4, 5]


async def _highest(function, number):
    """Whether the newest revision has this number."""
    return (await function.revisions())[-1]["spec"]["revision"] == number


async def test_with_manual_activation_a_user_activates(s):
    function = Installed(s)
    await function.apply("localhost:1", revisionActivationPolicy="Manual")
    inactive = condition("Installed", "False", "InactivePackageRevision")
    function_package = await s.until(FUNCTION, function.name, inactive)
    assert message_of(function_package, "Installed") == "Package is inactive"
    [revision] = await function.until_states("Inactive")
    name = revision["metadata"]["name"]
    await s.client.patch_merge(REVISIONS, name, {"spec": {"desiredState": "Active"}})
    await settled(function)
    assert await function.states() == ["Active"]


async def test_a_paused_package_is_left_alone_until_it_goes_on(s):
    function = Installed(s)
    await function.apply("localhost:1")
    await settled(function)
    await _annotate(s, function, "true")
    paused = condition("Synced", "False", "ReconcilePaused")
    await s.until(FUNCTION, function.name, paused)
    target = {"render.crossplane.io/runtime-development-target": "localhost:2"}
    await s.client.patch_merge(FUNCTION, function.name, {"metadata": {"annotations": target}})
    await s.until(FUNCTION, function.name, paused)
    assert await function.states() == ["Active"]
    await _annotate(s, function, None)
    function_package = await s.until(FUNCTION, function.name, lambda obj: INSTALLED(obj) and not paused(obj))
    assert {status_condition["type"] for status_condition in function_package["status"]["conditions"]} == {
        "Installed",
        "Healthy",
    }
    await function.until_states("Inactive", "Active")


async def _annotate(s, function, value):
    patch = {"metadata": {"annotations": {"crossplane.io/paused": value}}}
    await s.client.patch_merge(FUNCTION, function.name, patch)


@pytest.mark.parametrize("kind", ["Function", "Configuration", "Provider"])
async def test_a_package_that_cannot_be_fetched_reports_why(s, kind):
    packages = Kind("pkg.crossplane.io", "v1", kind, f"{kind.lower()}s", False)
    body = {
        "apiVersion": packages.api_version,
        "kind": kind,
        "metadata": {"name": f"{s.id}-nothing"},
        "spec": {"package": NOWHERE},
    }
    created = await s.client.create(packages, body)
    unpacking = condition("Installed", "False", "UnpackingPackage")
    package = await s.until(packages, created["metadata"]["name"], unpacking)
    assert condition("Healthy", "False", "UnhealthyPackageRevision")(package)
    message = message_of(package, "Installed")
    assert message.startswith("cannot unpack package: ")
    assert message_of(package, "Healthy") == message
    await until_event_recorded(s, package, "Warning", "UnpackPackage", message)
    await s.client.delete(packages, created["metadata"]["name"])


async def test_a_function_with_an_invalid_runtime_declaration_is_reported(s):
    await s.function(f"{s.id}-odd", "example.org/function:v1", **{"crossply.dev/runtime": "magic"})
    package = await s.until(FUNCTION, f"{s.id}-odd", condition("Installed", "False", "UnpackingPackage"))
    assert 'unsupported "crossply.dev/runtime" annotation value "magic"' in message_of(package, "Installed")


async def test_a_changed_revision_is_restored_and_a_settled_one_costs_nothing(s):
    function = Installed(s)
    await function.apply("localhost:1", {"channel": "stable"})
    await settled(function)
    [revision] = await function.until_states("Active")
    name = revision["metadata"]["name"]
    odd = {"metadata": {"labels": {"channel": "odd", "own": "kept"}}, "spec": {"revision": 7}}
    await s.client.patch_merge(REVISIONS, name, odd)

    def right(obj):
        labels = obj["metadata"]["labels"]
        return labels["channel"] == "stable" and labels.get("own") == "kept"

    await s.until(REVISIONS, name, right)
    await settled(function)

    async def touched_and_left_alone():
        own = {"metadata": {"labels": {"own": secrets.token_hex(4)}}}
        touched = await s.client.patch_merge(REVISIONS, name, own)
        package = await s.client.get(FUNCTION, function.name)
        await asyncio.sleep(1)
        same = await s.client.get(REVISIONS, name) == touched
        return same and await s.client.get(FUNCTION, function.name) == package

    # Other controllers may still write to it.
    await s.eventually(touched_and_left_alone, 10)
