"""Bytes that are not HTTP, or two things at once: one answer at most, and a closed connection."""

from __future__ import annotations

import re
import socket
import ssl
from contextlib import suppress

import pytest

from tests.support.apiserver.servers import CONFIG_MAPS, Program

STATUS = re.compile(rb"HTTP/1\.[01] (\d+) ")
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"


def _say(server: Program, data: bytes) -> bytes:
    """All that comes back until the server closes."""
    answer = b""
    with server.tls() as line, suppress(ConnectionError, ssl.SSLError):
        line.sendall(data)
        while piece := line.recv(65536):
            answer += piece
    return answer


def _post(*headers: str) -> bytes:
    return "\r\n".join([f"POST {CONFIG_MAPS} HTTP/1.1", "Host: x", *headers, "", ""]).encode()


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(_post("Content-Length: 5", "Content-Length: 6") + b"hello" + SMUGGLED, id="two lengths"),
        pytest.param(_post("Content-Length: 5, 6") + b"hello" + SMUGGLED, id="two lengths in one"),
        pytest.param(
            _post("Content-Length: 4", "Transfer-Encoding: chunked") + b"0\r\n\r\n" + SMUGGLED,
            id="a length and chunks",
        ),
        pytest.param(_post("Transfer-Encoding: xchunked") + SMUGGLED, id="an unknown encoding"),
        pytest.param(_post("Transfer-Encoding: chunked, identity") + SMUGGLED, id="chunked, but not last"),
        pytest.param(
            _post("Transfer-Encoding : chunked") + b"0\r\n\r\n" + SMUGGLED, id="space before a colon"
        ),
        pytest.param(_post("X: a\r\n b") + SMUGGLED, id="a header on two lines"),
        pytest.param(_post("X: a\nContent-Length: 0") + SMUGGLED, id="a bare line feed"),
        pytest.param(_post("X: a\0b") + SMUGGLED, id="NUL in a header"),
        pytest.param(_post("Content-Length: -1") + SMUGGLED, id="a negative length"),
        pytest.param(_post("Content-Length: +5") + b"hello" + SMUGGLED, id="a length with a sign"),
        pytest.param(_post("Content-Length: 0x5") + b"hello" + SMUGGLED, id="a length in hexadecimal"),
        pytest.param(
            _post("Content-Length: 99999999999999999999999999") + SMUGGLED, id="a length beyond words"
        ),
        pytest.param(b"GET / HTTP/1.1\r\nHost x\r\n\r\n" + SMUGGLED, id="a header without a colon"),
        pytest.param(b"GET / HTTP/9.9\r\n\r\n" + SMUGGLED, id="HTTP of the far future"),
        pytest.param(b"GET /\r\n\r\n" + SMUGGLED, id="HTTP of the far past"),
        pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", id="HTTP/2 without agreement"),
        pytest.param(b"\0" * 100 + b"\r\n\r\n", id="zeros"),
        pytest.param(b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n", id="a long line"),
        pytest.param(_post("X: " + "a" * 100_000), id="a long header"),
        pytest.param(_post(*[f"X-{number}: a" for number in range(1000)]), id="a thousand headers"),
    ],
)
def test_bytes_that_are_not_http_get_one_refusal_and_a_closed_connection(
    server: Program, data: bytes
) -> None:
    answer = _say(server, data)
    assert len(STATUS.findall(answer)) <= 1, "nothing was taken for a second request"
    assert answer == b"" or STATUS.findall(answer) in ([b"400"], [b"401"])


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param(b"zz\r\nhello\r\n0\r\n\r\n", id="a size that is no number"),
        pytest.param(b"5\r\nhelloworld\r\n0\r\n\r\n", id="more than was said"),
        pytest.param(b"ffffffffffffffffff\r\nhello\r\n", id="a size beyond words"),
        pytest.param(b"-5\r\nhello\r\n0\r\n\r\n", id="a negative size"),
        pytest.param(b"5;" + b"x" * 100_000 + b"\r\nhello\r\n", id="a long extension"),
    ],
)
def test_bad_chunks_are_refused(server: Program, chunks: bytes) -> None:
    head = server.head("POST", CONFIG_MAPS, "Transfer-Encoding: chunked", "Content-Type: application/json")
    answer = _say(server, head + chunks + SMUGGLED)
    assert STATUS.findall(answer) == [b"400"]


def test_an_error_repeats_nothing_that_was_sent(server: Program) -> None:
    answer = _say(server, b"GET / HTTP/1.1\r\nAuthorization Bearer canary-token\r\n\r\n")
    assert STATUS.findall(answer) == [b"400"]
    assert b"canary" not in answer
    assert "canary" not in server.log_text()


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n", id="HTTP without TLS"),
        pytest.param(b"\x16\x03\x01\xff\xff" + b"\0" * 200, id="a broken handshake"),
        pytest.param(b"\0" * 1000, id="zeros"),
        pytest.param(b"", id="nothing at all"),
    ],
)
def test_a_client_that_does_not_speak_tls_is_disconnected(server: Program, data: bytes) -> None:
    answer = b""
    with server.tcp() as line, suppress(ConnectionError):
        line.sendall(data)
        line.shutdown(socket.SHUT_WR)
        while piece := line.recv(4096):
            answer += piece
    assert b"200" not in answer


def test_requests_one_after_the_other_on_a_connection_are_all_answered(server: Program) -> None:
    request = b"GET /version HTTP/1.1\r\nHost: x\r\n\r\n"
    last = b"GET /version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    assert _say(server, request * 99 + last).count(b"HTTP/1.1 200 ") == 100


def test_a_client_that_leaves_in_the_middle_of_a_body_leaves_nothing_behind(server: Program) -> None:
    head = server.head("POST", CONFIG_MAPS, "Content-Length: 1000", "Content-Type: application/json")
    for _ in range(20):
        with server.tls() as line:
            line.sendall(head + b'{"apiVersion')
    assert server.is_well()
    assert server.metrics()['apiserver_current_inflight_requests{request_kind="mutating"}'] == 0
