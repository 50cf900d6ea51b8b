"""Containers that serve: started by the first call, replaced when they end, and gone in the end."""

from __future__ import annotations

import contextlib
import glob
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from crossply.compose.function_messages import Request, Resource, State
from crossply.containers.failures import ContainerError, ContainerExited, NotListening, OutOfMemory
from crossply.containers.image_store import StoredImage
from crossply.containers.limit_enforcement import BY_CGROUP, enforced_limits, places
from crossply.containers.served_container import RestartBackoff, ServedContainer
from crossply.containers.settings import MEBIBYTE, Limits, Settings
from crossply.containers.warm_pool import WarmPool
from crossply.functions.failures import (
    FunctionError,
    FunctionReplyTooLarge,
    FunctionTimedOut,
    FunctionUnavailable,
)
from crossply.functions.remote import Remote

pytestmark = pytest.mark.xdist_group("containers")

Serve = Callable[..., ServedContainer]
THINGS = {"r": Resource({"kind": "Thing"})}
LIMITS = ("memory.limit_in_bytes", "memory.max", "cpu.cfs_quota_us", "cpu.max", "pids.max")
SMALL = Limits(memory=64 * MEBIBYTE)


@pytest.fixture
def serve(engine: str, function: StoredImage) -> Iterator[Serve]:
    containers: list[ServedContainer] = []

    def start(**settings: object) -> ServedContainer:
        container_settings = Settings(engine=engine, limits=SMALL)._replace(**settings)
        containers.append(ServedContainer("f", function, container_settings))
        return containers[-1]

    yield start
    for container in containers:
        container.close()


def call(
    container: ServedContainer, word: str = "", timeout: float = 10.0, tls: str | None = None
) -> Request:
    """Call it, and give what it desires."""
    request = Request(State(Resource({"kind": word})), State(None, THINGS))
    with container.calling(timeout) as target, contextlib.closing(Remote("f", target, tls)) as remote:
        try:
            answer = remote(request, timeout)
        except FunctionUnavailable:
            container.raise_if_exited(within=5)
            raise
    assert answer.desired is not None
    return answer.desired.resources


def test_it_is_started_by_the_first_call_and_answers_the_next_ones_too(serve: Serve) -> None:
    container = serve()
    assert call(container) == call(container) == THINGS
    assert "about to serve" in container.log()
    assert container.target(5) == container.target(5)


@pytest.mark.parametrize("address", ["127.0.0.1:9443", "[::1]:9443"])
def test_it_may_listen_on_its_loopback_alone(serve: Serve, address: str) -> None:
    if "::1" in address and not os.path.exists("/proc/net/if_inet6"):
        pytest.skip("NOT TESTED WITH IPV6: this machine has none")
    assert call(serve(environment=(f"LISTEN={address}",))) == THINGS


def test_it_is_called_over_mutual_tls(serve: Serve, certificates: Path) -> None:
    container = serve(tls_certificates=str(certificates / "server"))
    assert call(container, tls=str(certificates / "client")) == THINGS
    for nobody in (None, str(certificates / "stranger")):
        with pytest.raises(FunctionError):
            call(container, timeout=1.0, tls=nobody)


def test_a_container_over_its_memory_limit_is_killed_and_the_next_call_works(serve: Serve) -> None:
    container = serve()
    with pytest.raises(OutOfMemory, match="the function was killed: it exceeded its 64 MiB"):
        call(container, "please-hog")
    assert call(container) == THINGS


def test_all_callers_get_the_reason_of_the_exit(serve: Serve) -> None:
    container = serve()
    container.target(10)
    with ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(call, container, "please-hang", 20.0) for _ in range(2)]
        wait_until(lambda: container.log().count("about to hang") == 2)
        with pytest.raises(OutOfMemory):
            call(container, "please-hog")
        for future in waiting:
            assert isinstance(future.exception(30), OutOfMemory)


def test_an_exit_is_reported_with_the_last_lines_and_the_container_is_replaced(serve: Serve) -> None:
    container = serve()
    with pytest.raises(ContainerExited, match=r"(?s)ended with exit status 4: .*about to crash"):
        call(container, "please-crash")
    assert call(container) == THINGS


def test_a_container_that_exits_repeatedly_is_backed_off(serve: Serve) -> None:
    container = serve(arguments=("fail",))
    for _ in range(2):
        with pytest.raises(ContainerExited, match=r"ended with exit status 7: it went wrong$"):
            container.target(10)
    with pytest.raises(ContainerExited, match=r"it went wrong \(it is started again in 1 s\)"):
        container.target(10)


def test_the_pauses_between_starts_grow_and_are_forgotten() -> None:
    pauses, waits = RestartBackoff(), []
    for _ in range(9):
        pauses.record_exit(began=100.0, now=101.0)
        waits.append(pauses.left(101.0))
    assert waits == [0, 1, 2, 4, 8, 16, 32, 60, 60]
    pauses.record_exit(began=101.0, now=500.0)
    assert pauses.left(500.0) == 0, "it had settled"


def test_one_that_never_answers_costs_no_more_than_the_time_of_the_call(serve: Serve) -> None:
    container = serve()
    with pytest.raises(FunctionTimedOut):
        call(container, "please-hang", timeout=1.0)
    assert call(container) == THINGS, "others are not held up"


def test_an_answer_of_a_gibibyte_is_refused(serve: Serve) -> None:
    container = serve()
    with pytest.raises(FunctionReplyTooLarge):
        call(container, "please-be-large")
    assert call(container) == THINGS


def test_a_container_that_does_not_listen_is_reported(serve: Serve) -> None:
    container = serve(arguments=("hang",))
    with pytest.raises(NotListening, match="does not listen on port 9443"):
        container.target(0.5)


def test_an_idle_container_is_stopped_and_restarted_on_demand(serve: Serve) -> None:
    container = serve(idle_seconds=0.3)
    path = container.target(10).removeprefix("unix:")
    wait_until(lambda: not os.path.exists(path))
    assert call(container) == THINGS


def test_it_is_not_stopped_while_a_caller_waits_for_its_response(serve: Serve) -> None:
    container = serve(idle_seconds=0.0)
    with pytest.raises(FunctionTimedOut):
        call(container, "please-hang", timeout=1.0)
    container.cool_down()
    with container.calling(10) as target:
        container.cool_down()
        assert os.path.exists(target.removeprefix("unix:"))


def test_it_can_be_started_before_it_is_called(serve: Serve) -> None:
    container = serve()
    container.warm()
    wait_until(lambda: "about to serve" in container.log())
    assert call(container) == THINGS


def test_the_number_of_idle_containers_is_bounded(engine: str, function: StoredImage) -> None:
    pool = WarmPool(2)
    containers = [
        ServedContainer(str(n), function, Settings(engine=engine, limits=SMALL), pool) for n in range(3)
    ]
    try:
        first, second, third = (container.target(10).removeprefix("unix:") for container in containers)
        wait_until(lambda: len(pool) == 2)
        assert [os.path.exists(path) for path in (first, second, third)] == [False, True, True]
        assert call(containers[0]) == THINGS, "it is started again, and another one makes room"
        assert [os.path.exists(path) for path in (second, third)] == [False, True]
    finally:
        for container in containers:
            container.close()
    assert len(pool) == 0


def test_nothing_is_left_of_it_when_it_is_closed(serve: Serve) -> None:
    container = serve()
    path = container.target(10).removeprefix("unix:")
    container.close()
    assert not os.path.exists(path)
    assert call(container) == THINGS, "it may be used again"


def test_missing_certificates_are_reported(serve: Serve, tmp_path: Path) -> None:
    with pytest.raises(ContainerError, match=f"cannot read ca.crt in {tmp_path}: no such file"):
        serve(tls_certificates=str(tmp_path)).target(5)


def wait_until(true: Callable[[], bool]) -> None:
    for _ in range(1000):
        if true():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen")


def test_the_kernel_holds_its_limits_where_it_can(serve: Serve) -> None:
    if enforced_limits().warning():
        pytest.skip(f"NOT TESTED WITH CONTROL GROUPS: {enforced_limits().warning()}")
    container = serve(limits=Limits(memory=96 * MEBIBYTE, cpu=0.25, pids=33))
    container.target(10)
    values: dict[str, str] = {}
    for directory in places().directories.values():
        for group in Path(directory).glob(f"crossply-{os.getpid()}-*"):
            values |= {path.name: path.read_text().strip() for path in group.iterdir() if path.name in LIMITS}
            assert (group / "cgroup.procs").read_text().strip(), "its processes are in the group"
    if places().version == 1:
        expected = {
            "memory.limit_in_bytes": str(96 * MEBIBYTE),
            "cpu.cfs_quota_us": "25000",
            "pids.max": "33",
        }
    else:
        expected = {"memory.max": str(96 * MEBIBYTE), "cpu.max": "25000 100000", "pids.max": "33"}
    assert values == expected


def test_a_limit_that_is_refused_is_not_passed_over(serve: Serve) -> None:
    if enforced_limits().memory != BY_CGROUP:
        pytest.skip("NOT TESTED WITH CONTROL GROUPS: this user may make none")
    with pytest.raises(ContainerError, match=r"cannot set its limit pids\.max to -5: invalid argument"):
        serve(limits=SMALL._replace(pids=-5)).target(10)
    assert not glob.glob(f"/sys/fs/cgroup/*/**/crossply-{os.getpid()}-*", recursive=True)
