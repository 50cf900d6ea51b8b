"""Version 0.1.0, this version, and 0.1.0 once more on the same data: nothing is lost, and each does its work.

With `--server=real` (make test-cluster) the controllers of both versions run on a real kube-apiserver,
otherwise `crossply up` runs on one data directory. The tests of this file are one scenario, in their order.
"""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest

from crossply.kube.client import Client
from crossply.kube.config import load_config
from crossply.values import Object
from crossply.version import __version__
from tests.support.e2e.scenario import CONFIG_MAP
from tests.support.server_fixtures import own_cluster
from tests.support.takeover import fleet
from tests.support.takeover.fleet import BOX, Member
from tests.support.takeover.snapshot import Key, altered, rewritten
from tests.support.upgrade.estate import Estate
from tests.support.upgrade.releases import Release, release_before

pytestmark = pytest.mark.xdist_group("upgrade")

Snapshot = dict[str, dict[Key, Object]]
Run = Callable[[Release], contextlib.AbstractContextManager[None]]


class Upgrade:
    """One place where control planes run one after the other."""

    def __init__(self, old: Release, run: Run, kubeconfig: pathlib.Path) -> None:
        self.old, self.new = old, Release(__version__)
        self._run, self._kubeconfig = run, kubeconfig

    def play(self, release: Release, work: Callable[[Estate], Coroutine[Any, Any, Any]]) -> Any:
        """Do something while a version is running."""

        async def scenario() -> Any:
            async with Client(load_config(str(self._kubeconfig))) as client:
                return await work(Estate(client))

        with self._run(release):
            return asyncio.run(scenario())


@pytest.fixture(scope="module")
def upgrade(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upgrade]:
    directory = tmp_path_factory.mktemp("upgrade")
    directory.chmod(0o700)
    old = release_before(directory / "old")
    if request.config.getoption("--server") == "real":
        with own_cluster(str(directory / "cluster")) as cluster:
            path = pathlib.Path(cluster.kubeconfig)
            yield Upgrade(old, lambda release: release.controllers(str(path), directory), path)
        return
    data = directory / "data"
    yield Upgrade(old, lambda release: release.up(data), data / "kubeconfig")


@pytest.fixture(scope="module")
def before(upgrade: Upgrade) -> Snapshot:
    """What the old version left."""

    async def scenario(estate: Estate) -> Snapshot:
        await estate.create()
        await estate.settle("first")
        return await estate.look()

    return upgrade.play(upgrade.old, scenario)


@pytest.fixture(scope="module")
def after(upgrade: Upgrade, before: Snapshot) -> Snapshot:
    """What is there when the new version has seen all of it; it follows an edit and a deletion then."""

    async def scenario(estate: Estate) -> Snapshot:
        await estate.settle("second")
        snapshot = await estate.look()
        edited, deleted = Member(BOX, "box-0"), Member(BOX, "box-first")
        await estate.write(edited, "large")
        await estate.until_size(edited, "large")
        [composed] = composed_of(snapshot, deleted)
        await estate.client.delete(deleted.kind, deleted.name, fleet.NAMESPACE)
        await estate.until_gone(deleted.kind, deleted.name)
        await estate.until_gone(CONFIG_MAP, composed)
        await estate.compose("second")
        await estate.settle("third")
        return snapshot

    return upgrade.play(upgrade.new, scenario)


def composed_of(snapshot: Snapshot, member: Member) -> list[str]:
    """The names of the ConfigMaps of an XR."""
    return [
        name
        for (kind, _, name), obj in snapshot["composed"].items()
        if kind == "ConfigMap"
        and (obj["metadata"].get("labels") or {}).get("crossplane.io/composite") == member.name
    ]


def identities(objects: dict[Key, Object]) -> dict[Key, str]:
    return {key: obj["metadata"]["uid"] for key, obj in objects.items()}


@pytest.mark.parametrize("part", ["users", "composed", "defined", "packages", "crds"])
def test_nothing_is_deleted_or_recreated(before: Snapshot, after: Snapshot, part: str) -> None:
    surviving = {key: uid for key, uid in identities(after[part]).items() if key in before[part]}
    assert surviving == identities(before[part])


@pytest.mark.parametrize("part", ["users", "composed", "defined"])
def test_nothing_loses_a_field(before: Snapshot, after: Snapshot, part: str) -> None:
    assert altered(before[part], after[part]) == {}


def test_composed_resources_are_not_written_to(before: Snapshot, after: Snapshot) -> None:
    assert len(before["composed"]) > 8
    assert rewritten(before["composed"], after["composed"]) == {}


def test_the_version_before_goes_on_with_it(upgrade: Upgrade, after: Snapshot) -> None:
    async def scenario(estate: Estate) -> None:
        await estate.settle("fourth")
        back = await estate.look()
        present = {key: uid for key, uid in identities(after["users"]).items() if key[2] != "box-first"}
        assert identities(back["users"]).items() >= present.items()
        edited = Member(BOX, "box-1")
        await estate.write(edited, "huge")
        await estate.until_size(edited, "huge")
        await estate.until_size(Member(BOX, "box-0"), "large")

    upgrade.play(upgrade.old, scenario)


def test_and_back_to_this_version(upgrade: Upgrade, after: Snapshot) -> None:
    async def scenario(estate: Estate) -> None:
        await estate.settle("fifth")
        await estate.until_size(Member(BOX, "box-1"), "huge")

    upgrade.play(upgrade.new, scenario)
