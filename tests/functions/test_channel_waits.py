"""Calls of functions that are not there yet, or no longer; real gRPC and real certificates."""

from __future__ import annotations

import threading
import time
from concurrent import futures

import grpc
import pytest

from crossply.functions.channels import NOWHERE
from crossply.functions.failures import FunctionUnavailable
from crossply.functions.remote import Remote
from crossply.functions.server import server_credentials
from tests.support.function_servers import V1, Methods
from tests.support.mutual_tls_functions import at, message_from, serving
from tests.support.ports import free_port
from tests.support.slow_connections import slow_connections


def test_a_call_waits_for_a_function_that_is_not_there_yet(server_files, client_files):
    port = free_port()
    remote = Remote("f", "f", client_files.directory, resolve=at(port))
    messages = []
    waiting = threading.Thread(target=lambda: messages.append(message_from(remote, 20.0)))
    waiting.start()
    time.sleep(0.2)
    with serving("at last", server_files.directory, port):
        waiting.join(20)
    remote.close()
    assert messages == ["at last"]


def test_a_waiting_call_goes_to_the_new_address_of_the_function(server_files, client_files):
    """Its Pod may be replaced by one with another address while it cannot be reached."""
    places = [NOWHERE]
    remote = Remote("f", "f", client_files.directory, resolve=lambda: places[-1])
    messages = []
    waiting = threading.Thread(target=lambda: messages.append(message_from(remote, 20.0)))
    waiting.start()
    time.sleep(0.15)
    places.append(at(free_port())())
    time.sleep(0.15)
    with serving("here", server_files.directory) as port:
        places.append(at(port)())
        waiting.join(20)
    remote.close()
    assert messages == ["here"]


def test_a_function_with_a_slow_handshake_is_waited_for(server_files, client_files):
    """A busy machine takes long for a handshake; to begin again would make it busier."""
    with (
        serving("slowly", server_files.directory) as port,
        slow_connections(port, delay=1.0) as slow,
    ):
        remote = Remote("f", "f", client_files.directory, resolve=at(slow.port))
        assert message_from(remote, 20.0) == "slowly"
        remote.close()
    assert slow.accepted == 1


def test_an_unreachable_function_is_reported_in_time(client_files):
    remote = Remote("f", "dns:///fn.home:9443", client_files.directory, resolve=lambda: NOWHERE)
    with pytest.raises(FunctionUnavailable, match=r"no replica of dns:///fn.home:9443 is ready"):
        message_from(remote, 0.3)


def test_a_call_that_may_have_reached_a_replica_is_not_repeated(server_files, client_files):
    """Only a call that cannot have reached a function is repeated."""
    calls = []

    def die(data, context):
        calls.append(data)
        context.abort(grpc.StatusCode.UNAVAILABLE, "I saw it, and I will not tell what I did")

    server = grpc.server(futures.ThreadPoolExecutor(2), handlers=[Methods({V1: die})])
    port = server.add_secure_port("127.0.0.1:0", server_credentials(server_files.directory))
    server.start()
    remote = Remote("f", "f", client_files.directory, resolve=at(port))
    with pytest.raises(FunctionUnavailable, match="I saw it"):
        message_from(remote, 3.0)
    assert len(calls) == 1
    remote.close()
    server.stop(None).wait()


def test_closing_waits_for_no_caller_and_cuts_none_off(server_files, client_files):
    with serving("slow", server_files.directory, delay=0.4) as port:
        remote = Remote("f", "f", client_files.directory, resolve=at(port))
        messages = []
        calling = threading.Thread(target=lambda: messages.append(message_from(remote)))
        calling.start()
        time.sleep(0.2)
        remote.close()
        calling.join(10)
    assert messages == ["slow"]


def test_missing_files_are_reported(tmp_path):
    remote = Remote("f", "f", str(tmp_path), resolve=at(1))
    with pytest.raises(FunctionUnavailable, match=r"cannot load certificates: open .*ca\.crt"):
        message_from(remote)
