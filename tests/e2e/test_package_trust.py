"""Sources of packages: private registries, mirrors, and required signatures."""

from __future__ import annotations

import base64
import json
import pathlib
import subprocess
from collections.abc import Iterator

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from tests.support.e2e.container_functions import marking_image, packaged
from tests.support.e2e.packages import (
    CONFIGURATION,
    FUNCTION,
    HEALTHY,
    HOME,
    IMAGE_CONFIG,
    REVISIONS,
    Packages,
    condition_message,
)
from tests.support.e2e.pipelines import entry, resources
from tests.support.e2e.private_packages import (
    LOGIN,
    UNHEALTHY,
    UNPACKING,
    image_config,
    private_packages,
    pull_secret,
    sign,
)
from tests.support.e2e.scenario import SECRET, Scenario, condition
from tests.support.e2e.things import READY, Things
from tests.support.programs import ENGINE, needs, path_of
from tests.support.registry import docker_registry, guarded
from tests.support.signatures import trusted

pytestmark = [
    needs("docker-registry"),
    pytest.mark.xdist_group("packages"),
]


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory, registry_certificate: pathlib.Path) -> Iterator[str]:
    """A registry with TLS that requires a password."""
    directory = tmp_path_factory.mktemp("private")
    with docker_registry(directory, *guarded(directory, registry_certificate, LOGIN)) as address:
        yield address


async def test_a_private_package_reports_the_missing_pull_secret_until_it_exists(
    s: Scenario, private, registry_certificate
):
    packages = private_packages(s, private, registry_certificate)
    await packages.push("platform:v1", "Configuration")
    name = await packages.install(CONFIGURATION, "platform:v1", packagePullSecrets=[{"name": s.id}])
    refused = await s.until(CONFIGURATION, name, UNPACKING)
    message = condition_message(refused, "Installed")
    assert message.startswith(
        f"cannot unpack package: cannot resolve {packages.source('platform')}:v1 to digest: "
    )
    assert "UNAUTHORIZED: authentication required" in message
    assert f"there is no pull secret {s.id}" in message
    await pull_secret(s, private)
    installed = await s.until(CONFIGURATION, name, HEALTHY)
    revision = await packages.revision(CONFIGURATION, name)
    everything = json.dumps([refused, installed, revision, *map(str, await s.events(installed))])
    for part in (LOGIN.partition(":")[2], base64.b64encode(LOGIN.encode()).decode()):
        assert part not in everything
    await packages.remove(CONFIGURATION, name)


async def test_an_image_config_brings_the_login_and_the_mirror(s: Scenario, private, registry_certificate):
    """A package has a name that no registry serves, is pulled from a mirror, and locked by its name."""

    packages = private_packages(s, private, registry_certificate)
    await packages.push("platform:v1", "Configuration")
    await pull_secret(s, private)
    elsewhere = f"registry.{s.id}.example/team/"
    await image_config(s, elsewhere, f"{s.id}-mirror", rewriteImage={"prefix": f"{private}/{s.id}/"})
    secret = {"authentication": {"pullSecretRef": {"name": s.id}}}
    await image_config(s, f"{private}/{s.id}/", f"{s.id}-login", registry=secret)
    name = await Packages(s, f"registry.{s.id}.example").install(CONFIGURATION, "platform:v1")
    await s.client.patch_merge(CONFIGURATION, name, {"spec": {"package": f"{elsewhere}platform:v1"}})
    package = await s.until(CONFIGURATION, name, HEALTHY)
    revision = await packages.revision(CONFIGURATION, name)
    assert revision["spec"]["image"] == f"{elsewhere}platform:v1"
    assert revision["status"]["resolvedImage"] == f"{private}/{s.id}/platform:v1"
    assert package["status"]["resolvedPackage"] == revision["status"]["resolvedImage"]
    assert revision["status"]["appliedImageConfigRefs"] == [
        {"name": f"{s.id}-mirror", "reason": "RewriteImage"},
        {"name": f"{s.id}-login", "reason": "SetImagePullSecret"},
    ]
    await packages.remove(CONFIGURATION, name)


@pytest.mark.embedded_only("the controllers of a real cluster run functions as Deployments")
@needs(ENGINE, "busybox")
async def test_a_private_function_is_pulled_and_called(s: Scenario, private, registry_certificate):
    """Its package and the image that it runs from, over TLS and with a password."""

    packages, things = private_packages(s, private, registry_certificate), await Things.defined(s)
    await packages.push_picture("function-private:v1", packaged(marking_image("us"), "function-private"))
    secret = await pull_secret(s, private)
    name = await packages.install(FUNCTION, "function-private:v1", packagePullSecrets=[{"name": secret}])
    await s.until(FUNCTION, name, HEALTHY)
    base = {"data": {"by": "nobody"}}
    await things.compose(resources(entry("made", base=base)), {"step": "t", "functionRef": {"name": name}})
    await things.apply()
    composed = await things.composed(await things.until("mine", READY))
    assert [config_map["data"]["by"] for config_map in composed.values()] == ["us"]
    await packages.remove(FUNCTION, name)


async def test_an_installed_package_stays_while_its_registry_is_gone(s: Scenario, tmp_path):
    """A failed refetch of a package is reported by an event, and the package stays healthy."""

    with docker_registry(tmp_path) as address:
        packages = Packages(s, address)
        await packages.push("platform:v1", "Configuration")
        name = await packages.install(CONFIGURATION, "platform:v1", packagePullPolicy="Always")
        await s.until(CONFIGURATION, name, HEALTHY)
        revision = await packages.revision(CONFIGURATION, name)
    # A new generation has it fetched again.
    change = {"spec": {"commonLabels": {"a": "b"}}}
    await s.client.patch_merge(REVISIONS["Configuration"], revision["metadata"]["name"], change)

    async def unreachable() -> bool:
        return any("connection refused" in message for _, _, message in await s.events(revision))

    await s.eventually(unreachable)
    assert HEALTHY(await s.client.get(CONFIGURATION, name))
    await packages.remove(CONFIGURATION, name)


async def test_an_image_without_a_trusted_signature_is_not_installed(s: Scenario, registry):
    """Without a signature, or with one by another key, nothing is installed; with the right one it is."""

    packages = Packages(s, registry)
    trusted_key, other_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    public = base64.b64encode(trusted(trusted_key).key).decode()
    key = {"metadata": {"name": s.id, "namespace": HOME}, "data": {"cosign.pub": public}}
    await s.client.create(SECRET, key)
    authority = {"name": "us", "key": {"secretRef": {"name": s.id, "key": "cosign.pub"}}}
    cosign = {"provider": "Cosign", "cosign": {"authorities": [authority]}}
    await image_config(s, f"{registry}/{s.id}/", verification=cosign)
    digest = await packages.push("platform:v1", "Configuration")
    name = await packages.install(CONFIGURATION, "platform:v1")
    refused = await packages.revision(CONFIGURATION, name, UNHEALTHY)
    message = condition_message(refused, "RevisionHealthy")
    assert message.startswith("cannot get package: signature verification of ")
    assert message.endswith("failed: us: no signatures found")

    await sign(packages, digest, other_key)
    await packages.revision(
        CONFIGURATION, name, lambda obj: "no matching" in condition_message(obj, "RevisionHealthy")
    )
    await sign(packages, digest, trusted_key)
    package = await s.until(CONFIGURATION, name, HEALTHY)
    assert {"name": s.id, "reason": "VerifyImage"} in package["status"]["appliedImageConfigRefs"]
    await packages.remove(CONFIGURATION, name)


async def test_keys_that_are_not_there_and_signers_that_are_not_understood_let_nothing_in(
    s: Scenario, registry
):
    packages = Packages(s, registry)
    authorities = [
        {"name": "lost", "key": {"secretRef": {"name": s.id, "key": "cosign.pub"}}},
        {"name": "keyless", "keyless": {"identities": [{"issuer": "https://x", "subject": "y"}]}},
    ]
    cosign = {"provider": "Cosign", "cosign": {"authorities": authorities}}
    await image_config(s, f"{registry}/{s.id}/", verification=cosign)
    await packages.push("platform:v1", "Configuration")
    name = await packages.install(CONFIGURATION, "platform:v1")
    message = condition_message(await packages.revision(CONFIGURATION, name, UNHEALTHY), "RevisionHealthy")
    assert f'lost: there is no key "cosign.pub" in the secret {HOME}/{s.id}' in message
    assert "keyless: keyless signatures are not supported" in message
    await packages.remove(CONFIGURATION, name)


async def test_an_installed_package_is_verified_when_a_signature_becomes_required(s: Scenario, registry):
    """It reports the problem and keeps its revision; without the ImageConfig it recovers."""

    packages = Packages(s, registry)
    await packages.push("platform:v1", "Configuration")
    name = await packages.install(CONFIGURATION, "platform:v1")
    await s.until(CONFIGURATION, name, HEALTHY)
    key = {"name": "us", "key": {"secretRef": {"name": "none", "key": "none"}}}
    cosign = {"provider": "Cosign", "cosign": {"authorities": [key]}}
    await image_config(s, f"{registry}/{s.id}/", verification=cosign)
    await packages.revision(CONFIGURATION, name, UNHEALTHY)
    package = await s.until(CONFIGURATION, name, lambda obj: "appliedImageConfigRefs" in obj["status"])
    assert package["status"]["appliedImageConfigRefs"] == [{"name": s.id, "reason": "VerifyImage"}]
    await s.client.delete(IMAGE_CONFIG, s.id)
    await s.until(CONFIGURATION, name, HEALTHY)
    await packages.remove(CONFIGURATION, name)


@needs("skopeo")
async def test_a_package_that_skopeo_pushed_is_installed(s: Scenario, registry):
    """Docker's manifests have no annotations: the package is read from the file system of the image."""

    packages = Packages(s, registry)
    await packages.push("made:v1", "Configuration")
    words = [path_of("skopeo"), "copy", "--src-tls-verify=false", "--dest-tls-verify=false", "-f", "v2s2"]
    pair = [f"docker://{packages.source(name)}:v1" for name in ("made", "copied")]
    done = subprocess.run([*words, *pair], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    name = await packages.install(CONFIGURATION, "copied:v1")
    await s.until(CONFIGURATION, name, HEALTHY)
    await packages.remove(CONFIGURATION, name)


async def test_a_revision_stays_the_same_when_its_tag_is_moved(s: Scenario, registry):
    """It is known by its digest, wherever it is fetched to."""

    packages = Packages(s, registry)
    first = await packages.push("platform:v1", "Configuration", metadata={"annotations": {"which": "first"}})
    name = await packages.install(CONFIGURATION, "platform:v1", packagePullPolicy="Always")
    await s.until(CONFIGURATION, name, HEALTHY)
    revision = await packages.revision(CONFIGURATION, name)
    await packages.push("platform:v1", "Configuration", metadata={"annotations": {"which": "second"}})
    kind = REVISIONS[CONFIGURATION.kind]
    change = {"metadata": {"annotations": {"which": None}}, "spec": {"commonLabels": {"a": "b"}}}
    await s.client.patch_merge(kind, revision["metadata"]["name"], change)
    changed = await s.until(
        kind, revision["metadata"]["name"], lambda obj: "which" in obj["metadata"]["annotations"]
    )
    assert changed["metadata"]["annotations"]["which"] == "first"
    assert changed["metadata"]["annotations"]["crossply.dev/digest"] == first
    await packages.remove(CONFIGURATION, name)


async def test_a_package_cannot_choose_how_its_function_is_run(s: Scenario, registry):
    """The metadata of a package is copied to its revision, except that it is a local process."""

    packages = Packages(s, registry)
    wicked = {
        "crossply.dev/runtime": "process",
        "crossply.dev/command": "touch /owned",
        "render.crossplane.io/runtime": "Development",
        "meta.crossplane.io/license": "Apache-2.0",
    }
    labels = {"pkg.crossplane.io/package": "another", "team": "theirs"}
    await packages.push("function-x:v1", "Function", metadata={"annotations": wicked, "labels": labels})
    name = await packages.install(FUNCTION, "function-x:v1")
    revision = await packages.revision(FUNCTION, name, condition("RevisionHealthy", "True"))
    annotations = revision["metadata"]["annotations"]
    assert annotations["meta.crossplane.io/license"] == "Apache-2.0"
    assert not wicked.keys() & annotations.keys() - {"meta.crossplane.io/license"}
    assert revision["metadata"]["labels"] == {"pkg.crossplane.io/package": name, "team": "theirs"}
    assert revision["status"]["capabilities"] == ["composition"]
    await packages.remove(FUNCTION, name)
