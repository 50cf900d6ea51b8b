"""A disk without any space left: objects are read and deleted, and deleting makes space."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pytest

from tests.support.apiserver.servers import CONFIG_MAPS, Program, config_map
from tests.support.small_disk import empty, fill, small_disk

_TEXT = "x" * 500_000


@pytest.fixture
def disk(tmp_path: pathlib.Path) -> Iterator[pathlib.Path]:
    with small_disk(tmp_path / "disk", "64m") as path:
        yield path


def _create_until_full(server: Program) -> list[str]:
    """Create objects until one is refused."""
    for number in range(200):
        answer = server.create_map(f"m{number}", text=_TEXT)
        if answer.status != 201:
            assert answer.status == 507, answer.body
            assert answer.json["reason"] == "InsufficientStorage"
            return [f"m{done}" for done in range(number)]
    raise AssertionError("the disk was never full")


def _listed(server: Program) -> set[str]:
    items = server.ask("GET", CONFIG_MAPS).json["items"]
    return {item["metadata"]["name"] for item in items} - {"kube-root-ca.crt"}


def _delete(server: Program, name: str) -> int:
    return server.ask("DELETE", f"{CONFIG_MAPS}/{name}").status


@pytest.mark.parametrize("filled_by_another", [False, True])
def test_objects_are_read_and_deleted_on_a_full_disk_and_deleting_makes_space(
    disk: pathlib.Path, filled_by_another: bool
) -> None:
    with Program(disk / "server", log=disk.with_name("log")) as server:
        names = _create_until_full(server)
        if filled_by_another:
            fill(disk)
        assert _listed(server) == set(names)
        assert server.is_well()
        assert server.ask("PUT", f"{CONFIG_MAPS}/m0", config_map("m0", text="y" * 500_000)).status == 507
        assert server.create_map("one-more", text=_TEXT).status == 507
        assert {_delete(server, name) for name in names} == {200}
        assert _listed(server) == set()
        second = [server.create_map(f"n{number}", text=_TEXT).status for number in range(len(names) // 3)]
        assert set(second) == {201}
    with Program(disk / "server", log=disk.with_name("log")) as server:
        assert len(_listed(server)) == len(second)


def test_an_object_with_a_finalizer_is_deleted_on_a_full_disk(disk: pathlib.Path) -> None:
    with Program(disk / "server", log=disk.with_name("log")) as server:
        terminating = config_map("held", text=_TEXT)
        terminating["metadata"]["finalizers"] = ["example.org/wait"]
        assert server.ask("POST", CONFIG_MAPS, terminating).status == 201
        _create_until_full(server)
        fill(disk)
        assert _delete(server, "held") == 200
        marked = server.ask("GET", f"{CONFIG_MAPS}/held").json
        assert marked["metadata"]["deletionTimestamp"]
        marked["metadata"].pop("finalizers")
        assert server.ask("PUT", f"{CONFIG_MAPS}/held", marked).status == 200
        assert "held" not in _listed(server)


def test_a_lease_is_renewed_on_a_full_disk_as_often_as_it_has_to_be(disk: pathlib.Path) -> None:
    """Controllers that lose their Lease could not finish a deletion."""
    leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "mine"}}
    with Program(disk / "server", log=disk.with_name("log")) as server:
        assert server.ask("POST", leases, {**lease, "spec": {"leaseDurationSeconds": 1}}).status == 201
        _create_until_full(server)
        fill(disk)
        answers = [
            server.ask(
                "PATCH",
                f"{leases}/mine",
                {"spec": {"leaseDurationSeconds": 2 + number}},
                Content_Type="application/merge-patch+json",
            ).status
            for number in range(200)
        ]
        assert set(answers) == {200}
        assert server.create_map("one-more").status == 507


def test_an_object_that_is_being_deleted_cannot_grow_on_a_full_disk(disk: pathlib.Path) -> None:
    with Program(disk / "server", log=disk.with_name("log")) as server:
        terminating = config_map("held")
        terminating["metadata"]["finalizers"] = ["example.org/wait"]
        assert server.ask("POST", CONFIG_MAPS, terminating).status == 201
        _create_until_full(server)
        fill(disk)
        assert _delete(server, "held") == 200
        marked = server.ask("GET", f"{CONFIG_MAPS}/held").json
        assert server.ask("PUT", f"{CONFIG_MAPS}/held", {**marked, "data": {"text": _TEXT}}).status == 507


def test_a_server_starts_on_a_full_disk_and_deletes(disk: pathlib.Path) -> None:
    with Program(disk / "server", log=disk.with_name("log")) as server:
        names = _create_until_full(server)
        fill(disk)
        server.kill()
    fill(disk)
    for _ in range(2):
        with Program(disk / "server", log=disk.with_name("log")) as server:
            assert _listed(server) == set(names)
            assert server.create_map("one-more", text=_TEXT).status == 507
            assert _delete(server, names.pop()) == 200
            assert _listed(server) == set(names)
        fill(disk)


def test_the_reserve_is_released_on_a_full_disk_and_restored_when_there_is_space(disk: pathlib.Path) -> None:
    reserve = disk / "server" / "data" / "crossply.db-reserve"
    with Program(disk / "server", log=disk.with_name("log")) as server:
        size = reserve.stat().st_blocks
        assert size > 0
        fill(disk)
        _create_until_full(server)
        assert not reserve.exists()
        empty(disk)
        assert server.create_map("after", text=_TEXT).status == 201
        assert reserve.stat().st_blocks == size


def test_a_start_with_everything_in_place_writes_no_file(disk: pathlib.Path) -> None:
    address = "127.0.0.1:0"
    with Program(disk / "server", log=disk.with_name("log")) as server:
        address = "{}:{}".format(*server.address)
        server.create_map("kept")
    before = _files(disk / "server")
    with Program(disk / "server", listen=address, log=disk.with_name("log")) as server:
        assert server.is_well()
        during = _files(disk / "server")
    changed = {path for path in before | during if before.get(path) != during.get(path)}
    assert changed == {"lock", "data/lock", "data/crossply.db-wal"}


def _files(directory: pathlib.Path) -> dict[str, tuple[int, int]]:
    """Every file, with what changes when it is written or replaced."""
    files = [path for path in directory.rglob("*") if path.is_file()]
    return {str(path.relative_to(directory)): (path.stat().st_ino, path.stat().st_mtime_ns) for path in files}
