"""Channels to functions over mutual TLS: authentication, round robin, and new certificates under load."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from concurrent import futures

import grpc
import pytest

from crossply.certificates import FOR_CLIENTS, FOR_SERVERS
from crossply.compose.function_messages import Response, Result
from crossply.compose.wire_codec import encode_response
from crossply.functions import channels
from crossply.functions.failures import FunctionError, FunctionTimedOut, FunctionUnavailable
from crossply.functions.remote import Remote
from tests.support.function_servers import V1, Methods
from tests.support.mutual_tls_functions import NAME, Authority, at, calling, files, message_from, serving


def test_a_caller_with_a_certificate_is_answered(server_files, client_files):
    with serving("hello", server_files.directory) as port:
        remote = Remote("f", "f", client_files.directory, resolve=at(port))
        assert message_from(remote) == "hello"
        remote.close()


@pytest.mark.parametrize(
    "caller",
    ["nobody", "somebody else's", "plain"],
)
def test_a_caller_without_our_certificate_gets_nothing(authority, server_files, caller):
    """fn-auth: neither without a certificate, nor with one of another authority, nor without TLS."""
    with serving("secret", server_files.directory) as port:
        target = f"127.0.0.1:{port}"
        options = [("grpc.ssl_target_name_override", NAME)]
        trusted = authority.issue(FOR_CLIENTS)["ca.crt"]
        if caller == "plain":
            channel = grpc.insecure_channel(target)
        elif caller == "nobody":
            channel = grpc.secure_channel(target, grpc.ssl_channel_credentials(trusted), options)
        else:
            stranger = Authority().issue(FOR_CLIENTS, "crossplane.crossplane-system")
            shown = grpc.ssl_channel_credentials(trusted, stranger["tls.key"], stranger["tls.crt"])
            channel = grpc.secure_channel(target, shown, options)
        with channel, pytest.raises(grpc.RpcError) as refused:
            channel.unary_unary(V1)(b"", timeout=5)
        assert refused.value.code() == grpc.StatusCode.UNAVAILABLE


@pytest.mark.parametrize(
    ("shown", "why"),
    [
        (lambda authority: Authority().issue(FOR_SERVERS, NAME), "it is by another authority"),
        (lambda authority: authority.issue(FOR_SERVERS, "other.elsewhere"), "it is for another function"),
        (lambda authority: authority.issue(FOR_CLIENTS, NAME), "it is for who calls, not for who is called"),
    ],
)
def test_a_server_with_a_wrong_certificate_is_not_called(authority, client_files, shown, why):
    """fn-auth: a request for one function is never sent to another."""
    files_of_server = {**shown(authority), "ca.crt": authority.issue(FOR_SERVERS)["ca.crt"]}
    with files(files_of_server) as wrong, serving("taken", wrong.directory) as port:
        remote = Remote("f", "f", client_files.directory, resolve=at(port))
        with pytest.raises((FunctionTimedOut, FunctionUnavailable)):
            message_from(remote, 0.7)
        remote.close()


def test_a_server_without_tls_is_not_called(client_files):
    """fn-garbage: TLS to a plain port."""
    answered = threading.Event()
    server = grpc.server(
        futures.ThreadPoolExecutor(1), handlers=[Methods({V1: lambda *_: answered.set() or b""})]
    )
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    remote = Remote("f", "f", client_files.directory, resolve=at(port))
    with pytest.raises((FunctionTimedOut, FunctionUnavailable)):
        message_from(remote, 0.7)
    assert not answered.is_set()
    remote.close()
    server.stop(None).wait()


@pytest.mark.parametrize("garbage", [b"HTTP/1.1 200 OK\r\n\r\n<html>", b"\x16\x03\x01\x00\x05junk!", b""])
def test_a_port_that_speaks_something_else_is_an_error_in_time(client_files, garbage):
    """fn-garbage: wrong protocol, truncated handshake, nothing at all."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        over = threading.Event()

        def speak():
            with contextlib.suppress(OSError):
                while not over.is_set():
                    connection, _ = listening.accept()
                    with connection:
                        connection.sendall(garbage)

        thread = threading.Thread(target=speak, daemon=True)
        thread.start()
        remote = Remote("f", "f", client_files.directory, resolve=at(listening.getsockname()[1]))
        with pytest.raises(FunctionError):
            message_from(remote, 0.5)
        remote.close()
        over.set()
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def test_calls_alternate_between_all_addresses(server_files, client_files):
    with serving("a", server_files.directory) as one, serving("b", server_files.directory) as two:
        remote = Remote("f", "f", client_files.directory, resolve=at(one, two))
        wait_for_both(remote)
        messages = [message_from(remote) for _ in range(20)]
        remote.close()
    assert sorted(messages) == ["a"] * 10 + ["b"] * 10


def wait_for_both(remote):
    """The second connection may be established shortly after the first."""
    end = time.monotonic() + 10
    while {message_from(remote), message_from(remote)} != {"a", "b"}:
        assert time.monotonic() < end


def test_a_replica_that_goes_away_costs_no_call(server_files, client_files):
    with serving("a", server_files.directory, delay=0.01) as one, contextlib.ExitStack() as stack:
        two = stack.enter_context(serving("b", server_files.directory, delay=0.01))
        remote = Remote("f", "f", client_files.directory, resolve=at(one, two))
        wait_for_both(remote)
        with calling(remote) as calls:
            calls.wait_for(40)
            stack.close()  # it ends what it has begun, and takes no more
            calls.wait_for(calls.finished + 40)
        remote.close()
    assert calls.failed == []
    assert {"a", "b"} == set(calls.messages)


@pytest.mark.parametrize(("cancelled", "calls"), [(1, 2), (9, 2)])
def test_a_call_that_a_stopping_replica_cancels_is_repeated_once(
    server_files, client_files, cancelled, calls
):
    received = []

    def answer(data, context):
        received.append(data)
        if len(received) <= cancelled:
            context.abort(grpc.StatusCode.CANCELLED, "the server stops")
        return encode_response(Response(results=(Result(3, "here"),)))

    with serving("a", server_files.directory, answer=answer) as port:
        remote = Remote("f", "f", client_files.directory, resolve=at(port))
        outcome = contextlib.nullcontext() if cancelled < calls else pytest.raises(FunctionError)
        with outcome:
            assert message_from(remote) == "here"
        remote.close()
    assert len(received) == calls


def test_a_new_authority_takes_over_under_load_without_a_failed_call(monkeypatch):
    """Every phase, in the worst order: servers and callers get each at different times."""
    monkeypatch.setattr(channels, "_CHECK_SECONDS", 0.0)
    first = Authority(ago=0.9)
    announced = Authority(first, ago=0.2)
    promoted = Authority(announced)
    assert promoted.files["tls.crt"] == announced.files["next.crt"] != first.files["tls.crt"]
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(files(first.issue(FOR_SERVERS, NAME)))
        client = stack.enter_context(files(first.issue(FOR_CLIENTS, "crossplane")))
        port = stack.enter_context(serving("hello", server.directory, delay=0.002))
        remote = Remote("f", "f", client.directory, resolve=at(port))
        stack.callback(remote.close)
        calls = stack.enter_context(calling(remote))
        calls.wait_for(20)
        for phase in (announced, promoted):
            for certificate_files, usage, name in (
                (client, FOR_CLIENTS, "crossplane"),
                (server, FOR_SERVERS, NAME),
            ):
                certificate_files.replace(phase.issue(usage, name))
                calls.wait_for(calls.finished + 20)
            # A restarted server, as with Pods.
            other = stack.enter_context(serving("hello", server.directory))
            fresh = Remote("f", "f", client.directory, resolve=at(other))
            assert message_from(fresh) == "hello"
            fresh.close()
        calls.over.set()
    assert calls.failed == []


def test_a_server_shows_a_new_certificate_without_a_restart(authority):
    with files(authority.issue(FOR_SERVERS, "old.name")) as server, serving("x", server.directory) as port:
        assert b"old.name" in shown_at(port, authority)
        server.replace(authority.issue(FOR_SERVERS, "new.name"))
        assert b"new.name" in shown_at(port, authority)


def shown_at(port, authority):
    """The certificate that a server shows."""
    import ssl

    context = ssl.create_default_context(cadata=authority.issue(FOR_CLIENTS)["ca.crt"].decode())
    context.check_hostname = False
    context.set_alpn_protocols(["h2"])
    with socket.create_connection(("127.0.0.1", port)) as plain, context.wrap_socket(plain) as line:
        return line.getpeercert(True)


def test_a_briefly_missing_certificate_does_no_harm(authority, client_files):
    with files(authority.issue(FOR_SERVERS, NAME)) as server, serving("hello", server.directory) as port:
        os.unlink(os.path.join(server.directory, "tls.crt"))
        remote = Remote("f", "f", client_files.directory, resolve=at(port))
        assert message_from(remote) == "hello"
        remote.close()
