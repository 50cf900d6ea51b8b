"""What a client sees when an answer that has begun cannot go on: never a second answer."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import orjson
import pytest

from crossply.apiserver.http.limits import Limits
from tests.support.apiserver.servers import Threaded

WATCH = "/api/v1/namespaces/default/configmaps?watch=true&labelSelector=a"
PROTOBUF = "application/vnd.kubernetes.protobuf"


@pytest.fixture
def server(tmp_path: pathlib.Path) -> Iterator[Threaded]:
    with Threaded(tmp_path / "data", Limits()) as running:
        yield running


def _store_unreadable(server: Threaded) -> None:
    """Store an object that no selector can be applied to, as a damaged database may hold it."""

    def encode(revision: int) -> bytes:
        metadata = {"name": "bad", "namespace": "default", "labels": 5, "resourceVersion": str(revision)}
        return orjson.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})

    server.run(server.store.write(("configmaps", "default", "bad"), None, encode))


def _all_of(connection: Any) -> bytes:
    """Everything that is sent until the server closes the connection."""
    received = b""
    while piece := connection.recv(65536):
        received += piece
    return received


@pytest.mark.parametrize("accept", ["application/json", PROTOBUF])
def test_a_watch_that_cannot_go_on_ends_with_an_error_event(server: Threaded, accept: str) -> None:
    with closing(server.tls()) as connection:
        connection.sendall(server.head("GET", WATCH, f"Accept: {accept}"))
        recv = connection.recv(65536)
        assert recv.startswith(b"HTTP/1.1 200")
        _store_unreadable(server)
        sent = recv + _all_of(connection)
    assert sent.count(b"HTTP/1.1") == 1
    assert sent.count(b"ERROR") == 1
    assert b"InternalError" in sent
    assert sent.endswith(b"\r\n0\r\n\r\n")


def test_a_watch_that_cannot_begin_ends_with_an_error_event(server: Threaded) -> None:
    _store_unreadable(server)
    with closing(server.tls()) as connection:
        connection.sendall(server.head("GET", WATCH))
        sent = _all_of(connection)
    assert (sent.count(b"HTTP/1.1"), sent.count(b'"type":"ERROR"')) == (1, 1)


def test_a_large_answer_that_cannot_go_on_is_cut(
    server: Threaded, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    """A backup that breaks off must not look complete."""
    from crossply.apiserver.http import backup_endpoint as backup_page

    opened = open

    def lose(path: str, *options: Any) -> Any:
        file = opened(path, *options)
        file.close()
        return file

    monkeypatch.setattr(backup_page, "open", lose, raising=False)
    with closing(server.tls()) as connection:
        connection.sendall(server.head("GET", backup_page.PATH))
        try:
            sent = _all_of(connection)
        except ConnectionResetError:
            sent = b""
    assert sent.count(b"HTTP/1.1") <= 1
    assert b'"kind":"Status"' not in sent
