"""Clients that take their time: each limit of time cuts them, and only them."""

from __future__ import annotations

import json
import pathlib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.client import HTTPResponse

import pytest

from crossply.apiserver.http.limits import Limits
from crossply.apiserver.verbs import watch as watching
from tests.support.apiserver.servers import CONFIG_MAPS, Server, Threaded, config_map, events

HASTY = Limits(
    header_seconds=0.3,
    idle_seconds=1.0,
    handshake_seconds=0.3,
    request_seconds=0.5,
    stall_seconds=0.5,
)
LARGE = "x" * 500_000


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Threaded]:
    with Threaded(tmp_path_factory.mktemp("hasty"), HASTY) as server:
        yield server


def _is_closed(line: socket.socket) -> bool:
    """Whether the server closes without a response before the timeout of the test."""
    try:
        return line.recv(1024) == b""
    except (ConnectionError, ssl.SSLError):
        return True


def test_headers_have_to_be_complete_in_time(hasty: Threaded) -> None:
    with hasty.tls() as line:
        line.sendall(b"GET /version HTTP/1.1\r\nX: ")
        assert _is_closed(line)


def test_headers_have_to_be_complete_in_time_on_a_used_connection_too(hasty: Threaded) -> None:
    with hasty.tls() as line:
        line.sendall(b"GET /version HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200 OK" in line.recv(65536)
        line.sendall(b"GET /ver")
        assert _is_closed(line)


def test_a_handshake_has_to_be_complete_in_time(hasty: Threaded) -> None:
    with hasty.tcp() as line:
        assert _is_closed(line)


def test_a_connection_without_requests_is_closed_after_a_while(hasty: Threaded) -> None:
    with hasty.tls() as line:
        assert _is_closed(line)


def test_a_body_has_to_come_in_time(hasty: Threaded) -> None:
    with hasty.tls() as line:
        line.sendall(hasty.head("POST", CONFIG_MAPS, "Content-Length: 100") + b"{")
        answer = line.recv(65536)
    assert answer.startswith(b"HTTP/1.1 504 ")
    assert b"did not complete within the allotted timeout" in answer


def test_a_stalled_body_is_aborted_before_the_request_times_out(tmp_path: pathlib.Path) -> None:
    limits = Limits(body_idle_seconds=0.3, request_seconds=3600)
    with Threaded(tmp_path, limits) as server, server.tls() as line:
        line.sendall(server.head("POST", CONFIG_MAPS, "Content-Length: 100") + b"{")
        assert line.recv(65536).startswith(b"HTTP/1.1 504 ")


def test_a_client_may_set_a_shorter_time(hasty: Threaded) -> None:
    with hasty.tls() as line:
        line.sendall(hasty.head("POST", f"{CONFIG_MAPS}?timeout=10ms", "Content-Length: 100") + b"{")
        assert line.recv(65536).startswith(b"HTTP/1.1 504 ")


def _lazy(server: Server) -> ssl.SSLSocket:
    """A connection with little room for what its owner does not read."""
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.settimeout(20)
    line.connect(server.address)
    return server.context().wrap_socket(line, server_hostname=server.address[0])


def test_an_unread_response_is_dropped(hasty: Threaded) -> None:
    for number in range(20):
        assert hasty.create_map(f"large-{number}", text=LARGE).status == 201
    with _lazy(hasty) as line:
        line.sendall(hasty.head("GET", CONFIG_MAPS))
        line.recv(100)
        _wait_for(hasty, "crossply_connections", lambda open_now: open_now == 1)
    assert _metric(hasty, 'apiserver_current_inflight_requests{request_kind="readOnly"}') == 1, (
        "only this one"
    )


def test_a_watch_that_is_not_read_is_cut_and_others_go_on(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "MAX_QUEUED", 20)
    observed: list[str] = []
    busy = f"{CONFIG_MAPS}?watch=1&fieldSelector=metadata.name%3Dbusy"
    with Threaded(tmp_path, Limits()) as server, server.watch(busy) as healthy, _lazy(server) as line:
        reader = threading.Thread(target=_read_versions, args=(healthy, observed, 31))
        reader.start()
        line.sendall(server.head("GET", f"{CONFIG_MAPS}?watch=1"))
        assert b"200 OK" in line.recv(100)
        written = [server.create_map("busy", text=LARGE)]
        for number in range(30):
            changed = config_map("busy", text=f"{LARGE}{number}")
            written.append(server.ask("PUT", f"{CONFIG_MAPS}/busy", changed))
        _wait_for(server, 'crossply_watches_ended_total{reason="slow"}', lambda count: count == 1)
        reader.join(20)
    assert observed == [answer.json["metadata"]["resourceVersion"] for answer in written]


def test_a_watch_that_is_left_lying_is_cut_though_little_happens(hasty: Threaded) -> None:
    before = _metric(hasty, 'crossply_connections_cut_total{reason="stalled"}')
    for number in range(20):
        hasty.create_map(f"unread-{number}", text=LARGE)
    with _lazy(hasty) as line:
        line.sendall(hasty.head("GET", f"{CONFIG_MAPS}?watch=1"))
        assert b"200 OK" in line.recv(100)
        name = 'crossply_connections_cut_total{reason="stalled"}'
        _wait_for(hasty, name, lambda count: count == before + 1)


def _read_versions(response: HTTPResponse, observed: list[str], count: int) -> None:
    for event in events(response):
        observed.append(event["object"]["metadata"]["resourceVersion"])
        if len(observed) == count:
            return


def test_a_watch_whose_client_is_gone_ends(hasty: Threaded) -> None:
    before = _metric(hasty, _WATCHES)
    with ExitStack() as clients:
        for _ in range(10):
            clients.enter_context(hasty.watch("/api/v1/secrets?watch=1"))
        assert _metric(hasty, _WATCHES) == before + 10
    _wait_for(hasty, _WATCHES, lambda count: count == before)


def test_a_watch_begins_at_once_also_if_nothing_happens(hasty: Threaded) -> None:
    with hasty.watch("/api/v1/services?watch=1") as response:
        assert response.status == 200


_WATCHES = 'apiserver_longrunning_requests{verb="WATCH",component="apiserver"}'


def _metric(server: Server, name: str) -> float:
    return server.metrics().get(name, 0)


def _wait_for(server: Server, name: str, is_reached: Callable[[float], bool]) -> None:
    """Repeat a request until a condition holds or the timeout of the test expires."""
    for _ in range(600):
        if is_reached(_metric(server, name)):
            return
        time.sleep(0.02)
    raise AssertionError(f"{name} is {_metric(server, name)}")


def test_events_of_a_watch_are_whole_lines(hasty: Threaded) -> None:
    with hasty.watch(f"{CONFIG_MAPS}?watch=1&timeoutSeconds=1") as response:
        assert {json.loads(line)["type"] for line in response} == {"ADDED"}
