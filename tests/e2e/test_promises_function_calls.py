"""Promises about calls of functions (docs/reliability.md): a missing or wrong response blocks no other XR."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from crossply.compose.wire_codec import decode_request, encode_response
from tests.support.e2e.function_checks import spec_of, still_works
from tests.support.e2e.pipelines import SIZE, calling, entry, resources, served
from tests.support.e2e.things import FAILED, READY, SYNCED, Things, config_map, desiring, failing, message_of
from tests.support.function_servers import serving
from tests.support.ports import free_port

pytestmark = pytest.mark.xdist_group("e2e")


async def test_fn_hang_a_function_that_never_answers_holds_up_only_its_own_xrs(s):
    """Others go on; after the deadline the XR reports it, and recovers once the function answers."""
    release = threading.Event()

    def function(request):
        if spec_of(request).get("mode") == "hang":
            release.wait(60)
        return desiring(request, one=config_map())

    with served(function) as address:
        try:
            things = await Things.defined(s)
            await things.compose(await calling(s, address))
            for number in range(3):
                await things.apply(f"hanging-{number}", {"mode": "hang"})
            await things.apply("free")
            await things.until("free", SYNCED, READY)
            other = await Things.defined(s, kind="Other")
            await other.compose(resources(entry("one", SIZE)), name=f"{s.id}-other")
            await other.apply("mine", {"size": "1"})
            await other.until("mine", SYNCED, READY)
            for number in range(3):
                await things.until(f"hanging-{number}", failing("context deadline exceeded"))
            release.set()
            for number in range(3):
                await things.until(f"hanging-{number}", SYNCED, READY)
        finally:
            release.set()


DYING = """
    import sys
    from crossply.compose.function_messages import *
    from crossply.functions.server import FunctionServer, ServerSettings
    import os, threading

    def function(request):
        if sys.argv[2] == "old":
            os._exit(3)
        made = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"by": sys.argv[2]}}
        return Response(State(None, {"one": Resource(made, ready=READY_TRUE)}))

    server = FunctionServer("dying", function, ServerSettings(sys.argv[1]))
    threading.Event().wait()
"""


@contextlib.contextmanager
def dying(port, name):
    """A function in a process of its own; the old one ends in the middle of a call."""
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(DYING), f"127.0.0.1:{port}", name])
    try:
        until_port_is_open(process, port)
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        process.wait(60)


def until_port_is_open(process, port):
    """Wait for the process."""
    for _ in range(400):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert process.poll() is None, "it ended before it listened"
        time.sleep(0.05)
    raise AssertionError("it does not listen")


async def test_fn_crash_nothing_is_applied_from_a_pipeline_whose_function_died(s):
    """The first step ran, the second died: nothing of the first is applied. Once it is back, all is."""

    async def scenario(s, port):
        things = await Things.defined(s)
        first = resources(entry("first", SIZE), step="first")
        await things.compose(first, await calling(s, f"127.0.0.1:{port}"))
        with dying(port, "old") as process:
            await things.apply("mine", {"size": "1"})
            xr = await things.until("mine", FAILED)
            assert 'cannot run Composition pipeline step "tell"' in message_of(xr)
            process.wait(60)
        assert await things.composed(xr) == {}
        with dying(port, "new"):
            xr = await things.until("mine", SYNCED)
            assert (await things.composed(xr))["one"]["data"] == {"by": "new"}

    await scenario(s, free_port())


GARBAGE = {
    "no message": lambda data, context: b"\xff\xff\xff\xff not a message",
    "truncated": lambda data, context: encode_response(
        desiring(decode_request(data), one=config_map(data={"a": "b" * 100}))
    )[:-20],
    "html": lambda data, context: b"<html>hello</html>",
}


@pytest.mark.parametrize("answer", GARBAGE.values(), ids=GARBAGE)
async def test_fn_garbage_a_wrong_response_is_reported_and_nothing_is_applied(s, answer):
    with serving(v1=answer) as address:
        things = await Things.defined(s)
        await things.compose(resources(entry("first", SIZE)), await calling(s, address))
        await things.apply("mine", {"size": "1"})
        xr = await things.until("mine", failing('cannot run Composition pipeline step "tell"'))
        assert await things.composed(xr) == {}
        await still_works(s)


@contextlib.contextmanager
def speaking(pieces, pause=0.0):
    """A port that sends something other than gRPC, piece by piece, and then nothing more."""
    listener = socket.create_server(("127.0.0.1", 0))

    def answer(peer):
        with peer, contextlib.suppress(OSError):
            for piece in pieces:
                peer.sendall(piece)
                time.sleep(pause)

    def serve():
        with contextlib.suppress(OSError):
            while True:
                peer, _ = listener.accept()
                threading.Thread(target=answer, args=[peer], daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.close()


HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html></html>"
SETTINGS = b"\0\0\0\4\0\0\0\0\0"
"""The first frame of a server that speaks HTTP/2."""


@pytest.mark.parametrize(
    ("pieces", "pause"),
    [([HTML], 0.0), ([SETTINGS, *([b"\0"] * 60)], 1.0)],
    ids=["html", "fn_slowloris"],
)
async def test_fn_garbage_something_that_is_no_function_does_not_hold_up_others(s, pieces, pause):
    """HTML where gRPC should be, or a byte a second: others go on, and after the deadline it is reported."""

    with speaking(pieces, pause) as address:
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        await still_works(s)
        xr = await things.until("mine", failing('cannot run Composition pipeline step "tell"'))
        assert await things.composed(xr) == {}


async def test_fn_oversize_an_answer_beyond_the_limit_is_refused(s):
    """The limit is gRPC's own, 4 MiB."""

    def function(request):
        data = {"big": "x" * (5 << 20)} if spec_of(request).get("mode") == "big" else {}
        return desiring(request, one=config_map(data=data))

    with served(function) as address:
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine", {"mode": "big"})
        xr = await things.until("mine", failing("received message larger than max"))
        assert await things.composed(xr) == {}
        await things.apply("mine", {"mode": "small"})
        await things.until("mine", SYNCED, READY)
