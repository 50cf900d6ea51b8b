"""SIGTERM finishes running requests; a restart continues where the server stopped."""

from __future__ import annotations

import json
import pathlib
import signal
import ssl
import time
from contextlib import suppress

import pytest

from tests.support.apiserver.servers import CONFIG_MAPS, Program, config_map, events


def test_running_requests_finish_watches_end_and_no_new_connection_is_accepted(
    tmp_path: pathlib.Path,
) -> None:
    server = Program(tmp_path / "data")
    body = json.dumps(config_map("late")).encode()
    head = server.head("POST", CONFIG_MAPS, f"Content-Length: {len(body)}", "Content-Type: application/json")
    with server.watch(f"{CONFIG_MAPS}?watch=1") as watch, server.tls() as line:
        line.sendall(head + body[:10])
        _wait_for_running_request(server)
        server.process.send_signal(signal.SIGTERM)
        assert _last_event_of(watch)["type"] == "ADDED"
        assert watch.read() == b"", "the watch ended as one that is complete, not as one that broke"
        with pytest.raises(OSError, match="refused"):
            server.tcp()
        line.sendall(body[10:])
        assert line.recv(65536).startswith(b"HTTP/1.1 201 ")
    assert server.wait() == 0
    assert server.log_text() == ""
    with Program(tmp_path / "data") as second:
        assert second.ask("GET", f"{CONFIG_MAPS}/late").status == 200


def _wait_for_running_request(server: Program) -> None:
    while server.metrics()['apiserver_current_inflight_requests{request_kind="mutating"}'] != 1:
        time.sleep(0.01)


def _last_event_of(watch: object) -> dict[str, str]:
    return list(events(watch))[-1]  # type: ignore[arg-type]


def test_a_second_signal_ends_it_at_once(tmp_path: pathlib.Path) -> None:
    server = Program(tmp_path / "data")
    with server.tls() as line:
        line.sendall(server.head("POST", CONFIG_MAPS, "Content-Length: 100") + b"{")
        _wait_for_running_request(server)
        server.process.send_signal(signal.SIGINT)
        with suppress(ConnectionError, ssl.SSLError, OSError):
            while True:
                server.tcp().close()
                time.sleep(0.01)
        server.process.send_signal(signal.SIGTERM)
        assert server.wait() == -signal.SIGTERM


def test_a_watch_is_resumed_after_a_restart_without_a_gap(tmp_path: pathlib.Path) -> None:
    with Program(tmp_path / "data") as server:
        versions = [
            server.create_map(f"m{number}").json["metadata"]["resourceVersion"] for number in range(5)
        ]
        token, authority = server.token, (tmp_path / "data" / "pki" / "ca.crt").read_bytes()
    with Program(tmp_path / "data") as server:
        assert (server.token, (tmp_path / "data" / "pki" / "ca.crt").read_bytes()) == (token, authority)
        resumed = f"{CONFIG_MAPS}?watch=1&timeoutSeconds=1&resourceVersion={versions[1]}"
        versions.append(server.create_map("m5").json["metadata"]["resourceVersion"])
        with server.watch(resumed) as watch:
            observed = [event["object"]["metadata"]["resourceVersion"] for event in events(watch)]
    assert observed == versions[2:]
    assert sorted(versions, key=int) == versions
