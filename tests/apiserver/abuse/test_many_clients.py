"""Many clients at once: what is beyond the limits is refused, and what was used is given back."""

from __future__ import annotations

import pathlib
import resource
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from http.client import RemoteDisconnected

import pytest

from crossply.apiserver.http.limits import Limits
from tests.support.apiserver.servers import CONFIG_MAPS, Program, Server, Threaded

IDLE = 2000


def _wait(is_so: Callable[[], bool]) -> None:
    for _ in range(6000):
        if is_so():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen")


def _hanging_request(server: Server) -> ssl.SSLSocket:
    """A request that is under way until its client sends the rest."""
    line = server.tls()
    line.sendall(server.head("POST", CONFIG_MAPS, "Content-Length: 100") + b"{")
    return line


def test_beyond_the_request_limit_clients_get_retry_after(tmp_path: pathlib.Path) -> None:
    with Threaded(tmp_path, Limits(requests=3)) as server, ExitStack() as open_lines:
        for _ in range(3):
            open_lines.enter_context(_hanging_request(server))
        _wait(lambda: server.ask("GET", CONFIG_MAPS).status == 429)
        refused = server.ask("GET", CONFIG_MAPS)
        assert refused.headers["Retry-After"] == "1"
        assert refused.json["reason"] == "TooManyRequests"
        assert server.is_well(), "health is answered all the same"
        with server.watch(f"{CONFIG_MAPS}?watch=1") as response:
            assert response.status == 200, "and so are watches"
        open_lines.close()
        _wait(lambda: server.ask("GET", CONFIG_MAPS).status == 200)


def test_bodies_of_all_requests_together_are_bounded(tmp_path: pathlib.Path) -> None:
    with Threaded(tmp_path, Limits(received_bytes=1000)) as server, ExitStack() as open_lines:
        line = open_lines.enter_context(server.tls())
        line.sendall(server.head("POST", CONFIG_MAPS, "Content-Length: 900") + b"x" * 800)
        _wait(lambda: server.create_map("small", text="x" * 200).status == 429)
        open_lines.close()
        _wait(lambda: server.create_map("small", text="x" * 200).status == 201)


def test_unread_responses_are_bounded(tmp_path: pathlib.Path) -> None:
    with Threaded(tmp_path, Limits(unsent_bytes=1 << 20)) as server:
        for number in range(3):
            server.create_map(f"large-{number}", text="x" * 500_000)
        assert server.ask("GET", CONFIG_MAPS).status == 429
        assert server.ask("GET", f"{CONFIG_MAPS}?limit=1").status == 200


def test_when_all_connections_are_in_use_the_idle_one_is_closed(tmp_path: pathlib.Path) -> None:
    with Threaded(tmp_path, Limits(connections=4)) as server, ExitStack() as lines:
        idle = [lines.enter_context(server.tls()) for _ in range(4)]
        assert server.is_well()
        assert server.is_well()
        idle[0].settimeout(10)
        with suppress(ConnectionError, ssl.SSLError):
            assert idle[0].recv(1) == b"", "the one that was idle longest is closed"


def test_when_all_connections_are_busy_new_ones_are_refused(tmp_path: pathlib.Path) -> None:
    with Threaded(tmp_path, Limits(connections=2)) as server, ExitStack() as lines:
        for _ in range(2):
            lines.enter_context(server.watch(f"{CONFIG_MAPS}?watch=1"))
        with pytest.raises((OSError, RemoteDisconnected)):
            server.ask("GET", "/readyz")
        lines.close()
        _wait(lambda: _answers(server))


def _answers(server: Server) -> bool:
    try:
        return server.is_well()
    except (OSError, RemoteDisconnected):
        return False


def test_with_few_files_the_server_stays_up_and_warns_once(tmp_path: pathlib.Path) -> None:
    with Program(tmp_path / "data", files=256) as server, ExitStack() as lines:
        for _ in range(220):
            with suppress(OSError):
                lines.enter_context(server.watch(f"{CONFIG_MAPS}?watch=1"))
        assert server.process.poll() is None
        lines.close()
        _wait(lambda: _answers(server))
        assert server.create_map("after").status == 201
        warnings_ = server.log_text().splitlines()
        assert len(warnings_) == 1
        assert "connections are in use" in warnings_[0]


@pytest.mark.skipif(resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 2 * IDLE + 200, reason="needs open files")
def test_two_thousand_idle_connections_cost_little_and_leave_nothing(tmp_path: pathlib.Path) -> None:
    with Program(tmp_path / "data", "--in-memory") as server:
        before = server.memory()
        for _ in range(2):
            with ExitStack() as lines:
                for line in _open_idle(server, IDLE):
                    lines.enter_context(line)
                assert server.metrics()["crossply_connections"] == IDLE + 1
                assert server.is_well()
                assert (server.memory() - before) / IDLE < 64 << 10, "bytes a connection"
            _wait(lambda: server.metrics()["crossply_connections"] == 1)
            _wait(lambda: server.memory() - before < 24 << 20)
        assert server.log_text() == ""


def _open_idle(server: Server, count: int) -> list[ssl.SSLSocket]:
    context = server.context()
    lines: list[ssl.SSLSocket] = []
    lock = threading.Lock()

    def some() -> None:
        for _ in range(count // 4):
            line = context.wrap_socket(server.tcp(), server_hostname=server.address[0])
            with lock:
                lines.append(line)

    threads = [threading.Thread(target=some) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return lines
