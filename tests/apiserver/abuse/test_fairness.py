"""Many or slow requests of one user do not keep another user, or an administrator, from being served."""

from __future__ import annotations

import pathlib
import select
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from http.client import HTTPConnection

import pytest

from crossply.apiserver.http.limits import Limits
from tests.support.apiserver.servers import CONFIG_MAPS, SECONDS, Program, Server, Threaded

ALICE, BOB = "alice-token", "bob-token"
LARGEST = 3 << 20


def _tokens(directory: pathlib.Path) -> str:
    path = directory / "tokens.csv"
    path.write_text(f"{ALICE},alice,1,\n{BOB},bob,2,\n")
    return str(path)


def _let_both_in(server: Server) -> None:
    binding = {
        "metadata": {"name": "both"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [
            {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}
            for name in ("alice", "bob")
        ],
    }
    path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
    assert server.ask("POST", path, binding).status == 201
    for token in (ALICE, BOB):
        _wait(lambda token=token: server.ask("GET", f"{CONFIG_MAPS}?limit=1", token=token).status == 200)


def _wait(is_so: Callable[[], bool]) -> None:
    for _ in range(1000):
        if is_so():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen")


@pytest.fixture
def limited(tmp_path: pathlib.Path) -> Iterator[Callable[[Limits], Threaded]]:
    """Starts a server with limits, for two users with all rights."""
    with ExitStack() as servers:

        def start(limits: Limits) -> Threaded:
            tokens = _tokens(tmp_path)
            server = servers.enter_context(Threaded(tmp_path / "data", limits, token_file=tokens))
            _let_both_in(server)
            return server

        yield start


def _slow_bodies(server: Server, token: str, count: int, lines: ExitStack) -> list[ssl.SSLSocket]:
    """Requests that announce the largest body and send one byte of it."""
    head = server.head("POST", CONFIG_MAPS, f"Content-Length: {LARGEST}", token=token) + b"{"
    opened = []
    for _ in range(count):
        opened.append(lines.enter_context(server.tls()))
        opened[-1].sendall(head)
    return opened


def _answered(lines: list[ssl.SSLSocket]) -> list[ssl.SSLSocket]:
    """Those on which something has arrived; after a handshake only an answer does, or the end."""
    poll = select.poll()
    for line in lines:
        poll.register(line, select.POLLIN)
    ready = {descriptor for descriptor, _ in poll.poll(0)}
    return [line for line in lines if line.fileno() in ready or line.pending()]


def _first_line(line: ssl.SSLSocket) -> bytes:
    line.settimeout(SECONDS)
    return line.recv(65536).partition(b"\r\n")[0]


def _in_flight(server: Server) -> float:
    return server.metrics()['apiserver_current_inflight_requests{request_kind="mutating"}']


def _drop_tickets(lines: list[ssl.SSLSocket]) -> None:
    """Read what TLS sends after a handshake, so that whatever arrives later is of HTTP."""
    for line in lines:
        line.setblocking(False)
        try:
            line.recv(1)
        except ssl.SSLWantReadError:
            continue
        raise AssertionError("it was answered")


def test_slow_bodies_of_one_user_take_no_room_of_others(tmp_path: pathlib.Path) -> None:
    with (
        Program(tmp_path / "data", "--in-memory", "--token-file", _tokens(tmp_path)) as server,
        ExitStack() as lines,
    ):
        _let_both_in(server)
        slow = _slow_bodies(server, ALICE, 64, lines)
        _wait(lambda: _in_flight(server) == 64)
        assert [server.create_map(f"bob-{n}", BOB).status for n in range(20)] == [201] * 20
        assert server.create_map("admin").status == 201
        assert server.create_map("alice", ALICE).status == 201, "what was announced does not count"
        assert server.is_well()
        _drop_tickets(slow)
        assert _in_flight(server) == 64, "all of them are still open"


def test_beyond_the_share_of_a_user_only_that_user_is_refused(tmp_path: pathlib.Path) -> None:
    flags = ("--in-memory", "--max-requests-inflight", "120", "--token-file", _tokens(tmp_path))
    with Program(tmp_path / "data", *flags) as server:
        _let_both_in(server)
        with ExitStack() as lines:
            slow = _slow_bodies(server, ALICE, 64, lines)
            refused = [line for line in slow if _is_refused(line)]
            assert len(refused) == 34, "a user alone gets a third of what ordinary users share, 90 of 120"
            assert [server.create_map(f"bob-{n}", BOB).status for n in range(20)] == [201] * 20
            assert [server.create_map(f"admin-{n}").status for n in range(20)] == [201] * 20
            assert server.is_well()
            answer = server.create_map("alice", ALICE)
            assert answer.status == 429
            assert answer.headers["Retry-After"] == "1"
            assert answer.json["reason"] == "TooManyRequests"
            assert answer.message == "Too many requests, please try again later."
            assert answer.json["details"]["retryAfterSeconds"] == 1
            assert _in_flight(server) == 30, "the others are still open"
        _wait(lambda: server.create_map("alice", ALICE).status == 201)


def _is_refused(line: ssl.SSLSocket) -> bool:
    """Whether a request was answered with 429; one that is not answered within a while is under way."""
    line.settimeout(0.2)
    try:
        return line.recv(65536).startswith(b"HTTP/1.1 429 ")
    except TimeoutError:
        return False


def test_administrators_are_served_while_many_users_have_filled_everything_else(
    tmp_path: pathlib.Path,
) -> None:
    tokens = tmp_path / "tokens.csv"
    names = [f"user-{n}" for n in range(30)]
    tokens.write_text("".join(f"{name}-token,{name},{name},\n" for name in names))
    limits = Limits(requests=20)
    with Threaded(tmp_path / "data", limits, token_file=str(tokens)) as server, ExitStack() as lines:
        review = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        for name in names:
            line = lines.enter_context(server.tls())
            line.sendall(server.head("POST", review, "Content-Length: 100", token=f"{name}-token") + b"{")
        _wait(lambda: server.ask("GET", "/api/v1", token="user-29-token").status == 429)
        assert [server.create_map(f"admin-{n}").status for n in range(20)] == [201] * 20


def test_bodies_count_for_their_user_by_the_bytes_received(
    limited: Callable[[Limits], Threaded],
) -> None:
    server = limited(Limits(received_bytes=3_000_000))
    with server.tls() as line:
        line.sendall(server.head("POST", CONFIG_MAPS, f"Content-Length: {LARGEST}", token=ALICE))
        line.sendall(b"x" * 700_000)
        _wait(lambda: server.create_map("alice", ALICE, text="x" * 200_000).status == 429)
        assert server.create_map("bob", BOB, text="x" * 200_000).status == 201
        assert server.create_map("admin", text="x" * 200_000).status == 201
    _wait(lambda: server.create_map("alice", ALICE, text="x" * 200_000).status in (201, 409))


def _never_reading(server: Server, token: str, path: str) -> ssl.SSLSocket:
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.settimeout(SECONDS)
    line.connect(server.address)
    tls = server.context().wrap_socket(line, server_hostname=server.address[0])
    tls.sendall(server.head("GET", path, token=token))
    return tls


def test_answers_that_a_user_does_not_read_take_no_room_of_others(
    limited: Callable[[Limits], Threaded],
) -> None:
    server = limited(Limits(unsent_bytes=120_000_000))
    for number in range(20):
        assert server.create_map(f"large-{number}", text="x" * 900_000).status == 201
    with ExitStack() as lines:
        for _ in range(10):
            lines.enter_context(_never_reading(server, ALICE, CONFIG_MAPS))
        _wait(lambda: server.ask("GET", CONFIG_MAPS, token=ALICE).status == 429)
        assert len(server.ask("GET", CONFIG_MAPS, token=BOB).body) > 18_000_000
        assert len(server.ask("GET", CONFIG_MAPS).body) > 18_000_000
        assert (
            server.ask("GET", f"{CONFIG_MAPS}?limit=0&fieldSelector=metadata.name%3Dx", token=ALICE).status
            == 200
        )
    _wait(lambda: server.ask("GET", CONFIG_MAPS, token=ALICE).status == 200)


def test_watches_of_one_user_leave_connections_for_others(
    limited: Callable[[Limits], Threaded],
) -> None:
    server = limited(Limits(connections=40))
    watch = f"{CONFIG_MAPS}?watch=1"
    with ExitStack() as watches:
        opened = [watches.enter_context(server.watch(watch, ALICE)).status for _ in range(20)]
        assert opened == [200] * 10 + [429] * 10, "a third of what ordinary users share, 30 of 40"
        for token in (BOB, None):
            assert watches.enter_context(server.watch(watch, token)).status == 200
        assert server.create_map("bob", BOB).status == 201
    _wait(lambda: _opens(server, watch, ALICE))


def _opens(server: Server, path: str, token: str) -> bool:
    with server.watch(path, token) as response:
        return response.status == 200


def test_idle_connections_of_one_user_do_not_push_out_those_of_others(
    limited: Callable[[Limits], Threaded],
) -> None:
    server = limited(Limits(connections=8))
    with ExitStack() as lines, closing(server.connect()) as bobs, closing(server.connect()) as admins:
        assert _reads(server, bobs, BOB)
        assert _reads(server, admins, None)
        for _ in range(20):
            assert _reads(server, lines.enter_context(closing(server.connect())), ALICE)
        assert _reads(server, bobs, BOB), "the same connection still works"
        assert _reads(server, admins, None)


def _reads(server: Server, connection: HTTPConnection, token: str | None) -> bool:
    reconnects, connection.auto_open = connection.auto_open, connection.sock is None
    try:
        return server.ask_on(connection, "GET", f"{CONFIG_MAPS}?limit=1", token=token).status == 200
    finally:
        connection.auto_open = reconnects


def test_connections_without_a_handshake_or_a_credential_do_not_push_out_users(
    limited: Callable[[Limits], Threaded],
) -> None:
    server = limited(Limits(connections=8))
    with ExitStack() as lines, closing(server.connect()) as bobs:
        assert _reads(server, bobs, BOB)
        for _ in range(10):
            lines.enter_context(server.tcp())
            silent = lines.enter_context(server.tls())
            silent.sendall(server.head("GET", CONFIG_MAPS, token="wrong"))
        assert _reads(server, bobs, BOB), "the same connection still works"
        assert server.create_map("admin").status == 201
