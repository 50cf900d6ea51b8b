"""`xpkg install` and `xpkg update` create and change a package in a control plane."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from crossply.cli.main import main
from crossply.cli.xpkg.install_target import KINDS
from crossply.cli.xpkg.why import LOCK
from crossply.kube.client import Client
from crossply.kube.config import load_config
from tests.support.cli.trace_cluster import World, condition

INSTALLED = [
    ("function", "acme-function-a"),
    ("provider", "shop-provider"),
    ("function", "ill"),
    ("function", "slow"),
    ("function", "twice"),
]
Run = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def run(world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Run `crossply xpkg …`; what was installed is gone afterwards, since others look at the world, too."""
    monkeypatch.setenv("KUBECONFIG", world.kubeconfig)

    def call(words: str) -> tuple[int, str, str]:
        code = main(["xpkg", *words.split()])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    yield call
    for kind, name in INSTALLED:
        asyncio.run(deleted(world, kind, name))


async def deleted(world: World, kind: str, name: str) -> None:
    async with Client(load_config(world.kubeconfig)) as client:
        await client.delete(KINDS[kind], name)


def stored(world: World, kind: str, name: str, **change: Any) -> dict[str, Any]:
    """The package as it is in the cluster, changed before where a change is given."""

    async def main() -> dict[str, Any]:
        async with Client(load_config(world.kubeconfig)) as client:
            if change:
                await client.patch_merge(KINDS[kind], name, change)
            return await client.get(KINDS[kind], name) or {}

    return asyncio.run(main())


def test_a_package_is_installed_under_a_name_derived_from_its_repository(world: World, run: Run) -> None:
    assert run("install function registry.test/acme/function-a:v1 -m --package-pull-secrets=a,b") == (
        0,
        "function/acme-function-a created\n",
        "",
    )
    assert stored(world, "function", "acme-function-a")["spec"] == {
        "package": "registry.test/acme/function-a:v1",
        "packagePullSecrets": [{"name": "a"}, {"name": "b"}],
        "revisionActivationPolicy": "Manual",
        "revisionHistoryLimit": 0,
    }


def test_a_package_is_updated_to_another_version(world: World, run: Run) -> None:
    run("install provider registry.test/acme/p:v1 shop-provider --runtime-config=small -r 3")
    result = run("update provider registry.test/acme/p:v2 shop-provider")
    assert result == (0, "provider/shop-provider updated\n", "")
    spec = stored(world, "provider", "shop-provider")["spec"]
    assert (spec["package"], spec["revisionHistoryLimit"]) == ("registry.test/acme/p:v2", 3)
    assert spec["runtimeConfigRef"]["name"] == "small"


def test_waiting_ends_when_the_time_is_over(run: Run) -> None:
    code, out, err = run("install function registry.test/acme/slow:v1 slow --wait=500ms")
    assert (code, out) == (1, "")
    assert "error: Package did not become ready: context deadline exceeded" in err
    assert "crossply trace function slow" in err


def test_why_a_package_is_not_healthy_is_part_of_the_error(world: World, run: Run) -> None:
    world.put(
        {
            "apiVersion": "pkg.crossplane.io/v1",
            "kind": "Function",
            "metadata": {"name": "ill"},
            "spec": {"package": "registry.test/acme/ill:v1"},
            "status": {"conditions": [condition("Healthy", "False", "Unhealthy", "it has a cold")]},
        }
    )
    _, _, err = run("update function registry.test/acme/ill:v2 ill --wait=500ms")
    assert err.splitlines()[-1] == (
        "crossply: error: Package did not become ready: context deadline exceeded: it has a cold"
    )
    assert "crossply: try: crossply trace function ill shows how far it is" in err.splitlines()


def test_waiting_ends_when_the_package_is_healthy(world: World, run: Run) -> None:
    async def main() -> tuple[int, str, str]:
        installing = asyncio.create_task(
            asyncio.to_thread(run, "install function registry.test/acme/slow:v1 slow --wait=30s")
        )
        async with Client(load_config(world.kubeconfig)) as client:
            while await client.get(KINDS["function"], "slow") is None:
                await asyncio.sleep(0.05)
            healthy = {"status": {"conditions": [{"type": "Healthy", "status": "True"}]}}
            await client.patch_merge(KINDS["function"], "slow", healthy)
        return await installing

    assert asyncio.run(main()) == (0, "function/slow created\n", "")


MISTAKES = [
    (
        "install function acme/x:v1",
        1,
        "invalid package image identifier: could not parse reference: acme/x:v1",
    ),
    ("install gizmo registry.test/acme/x:v1", 80, 'must be one of "provider","configuration","function"'),
    ("install configuration registry.test/a/b:v1 --runtime-config=x", 1, "does not support runtime"),
    ("update function registry.test/acme/nothing:v1", 1, "cannot update function/acme-nothing: "),
    (
        "update function registry.test/acme/nothing:v1",
        1,
        "try: crossply xpkg install function registry.test/acme/nothing:v1\n",
    ),
    ("install function registry.test/acme/x:v1 --as-group=g", 1, "without impersonating a user"),
]


@pytest.mark.parametrize(("words", "code", "message"), MISTAKES, ids=[row[2] for row in MISTAKES])
def test_usage_errors_are_reported(run: Run, words: str, code: int, message: str) -> None:
    actual, _, err = run(words)
    assert actual == code
    assert message in err


def test_an_installed_package_is_not_reinstalled(run: Run) -> None:
    run("install function registry.test/acme/twice:v1 twice")
    code, _, err = run("install function registry.test/acme/twice:v1 twice")
    assert code == 1
    assert 'cannot create package: functions.pkg.crossplane.io "twice" already exists' in err
    assert "try: crossply xpkg update function registry.test/acme/twice:v1 twice\n" in err


def test_why_reads_the_lock_of_the_cluster(world: World, run: Run) -> None:
    async def lock(packages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Put packages into the Lock; those that were in it."""
        async with Client(load_config(world.kubeconfig)) as client:
            before = await client.get(LOCK, "lock")
            if before is None:
                named = {"apiVersion": LOCK.api_version, "kind": "Lock", "metadata": {"name": "lock"}}
                await client.create(LOCK, named)
            await client.patch_merge(LOCK, "lock", {"packages": packages})
            return list((before or {}).get("packages") or ())

    dependency = {"package": "registry.test/acme/f", "kind": "Function", "constraints": "<v1.0.0"}
    platform = {
        "name": "p-1",
        "source": "registry.test/acme/p",
        "version": "v2.0.0",
        "dependencies": [dependency],
    }
    function = {"name": "f-1", "source": "registry.test/acme/f", "version": "v1.0.0", "dependencies": []}
    before = asyncio.run(lock([platform, function]))
    try:
        for spelling in ("registry.test/acme/f", "acme/f", "f-1"):
            assert run(f"why {spelling} --offline") == (
                0,
                "registry.test/acme/f@v1.0.0\n"
                "└─ <v1.0.0 required by registry.test/acme/p@v2.0.0  ✗ v1.0.0 is not\n",
                "",
            )
    finally:
        asyncio.run(lock(before))
